"""What one file alone can't tell: slugs against the vocabulary, IDs against the library. Pure."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches

from incidents.checks_file import LocatedChecks
from incidents.faults import Fault
from incidents.records import LocatedRecord
from incidents.taxonomy_file import TaxonomyData

# Where a record's slugs belong: field of the record → vocabulary of the taxonomy.
_FIELDS = (("causes", "causes"), ("components", "components"), ("factors", "factors"))


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The slugs that may be used, by vocabulary, and every word that leads to one of them."""

    slugs: Mapping[str, frozenset[str]]
    words: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @classmethod
    def of(cls, *taxonomies: TaxonomyData | None) -> "Vocabulary":
        """Return the vocabulary of one or more taxonomies together (the file's and the library's own)."""
        slugs: dict[str, set[str]] = {}
        words: dict[str, dict[str, str]] = {}
        for taxonomy in taxonomies:
            for name, terms in taxonomy.vocabularies() if taxonomy is not None else ():
                for term in terms:
                    slugs.setdefault(name, set()).add(term.slug)
                    for word in (term.slug, term.label, *term.aliases):
                        words.setdefault(name, {}).setdefault(word.casefold(), term.slug)
        return cls({name: frozenset(known) for name, known in slugs.items()}, words)

    def problem(self, name: str, slug: str) -> str:
        """Return what is wrong with a slug of vocabulary `name` in Korean, or an empty string."""
        if slug in self.slugs.get(name, frozenset()):
            return ""
        near = self.nearest(name, slug)
        advice = f"가까운 것: {', '.join(near)}" if near else f"taxonomy.yaml 의 {name} 에 있는 슬러그를 적어 주십시오."
        return f"알 수 없는 슬러그입니다: {slug} ({name}). {advice}"

    def nearest(self, name: str, slug: str) -> tuple[str, ...]:
        """Return up to three slugs that may have been meant, the likeliest first: by spelling, label and alias."""
        words = self.words.get(name, {})
        spellings = {slug, slug.replace("-", " ")}
        if exact := {words[spelling] for spelling in spellings if spelling in words}:
            return tuple(exact)
        parts = [known for known in sorted(self.slugs.get(name, ())) if slug in known.split("-")]
        near = [words[word] for word in get_close_matches(slug, words, n=3, cutoff=0.6)]
        return tuple(dict.fromkeys([*near, *parts]))[:3]


def record_faults(located: LocatedRecord, vocabulary: Vocabulary, known_ids: Collection[str]) -> Iterator[Fault]:
    """Yield the faults of a record's slugs and of the IDs that it names.

    `known_ids` are all IDs of the library together with those being read.
    """
    record = located.record
    for name, vocabulary_name in _FIELDS:
        for position, slug in enumerate(getattr(record, name)):
            if problem := vocabulary.problem(vocabulary_name, slug):
                yield Fault(located.file, located.line(f"{name}.{position}"), problem)
    if record.detection_method and (problem := vocabulary.problem("detection_methods", record.detection_method)):
        yield Fault(located.file, located.line("detection_method"), problem)
    yield from reference_faults(located, known_ids)


def reference_faults(located: LocatedRecord, known_ids: Collection[str]) -> Iterator[Fault]:
    """Yield the faults of the IDs that a record names as related or as merged into."""
    named = [(f"related.{position}", other.id) for position, other in enumerate(located.record.related)]
    if located.record.merged_into:
        named.append(("merged_into", located.record.merged_into))
    for key, other_id in named:
        if other_id not in known_ids:
            message = f"없는 기록을 가리킵니다: {other_id}. ID 를 고치거나 지워 주십시오."
            yield Fault(located.file, located.line(key), message)


def check_faults(located: LocatedChecks, vocabulary: Vocabulary, known_ids: Collection[str]) -> Iterator[Fault]:
    """Yield the faults of the checks' slugs and of the records that they cite."""
    for check in located.checks:
        for name in ("components", "factors"):
            for position, slug in enumerate(getattr(check, name)):
                if problem := vocabulary.problem(name, slug):
                    yield Fault(
                        located.file, located.line(f"{check.code}.{name}.{position}"), f"{check.code}: {problem}"
                    )
        for position, cited in enumerate(check.incidents):
            if cited.id not in known_ids:
                message = f"{check.code}: 없는 기록을 인용합니다: {cited.id}. ID 를 고치거나 지워 주십시오."
                yield Fault(located.file, located.line(f"{check.code}.incidents.{position}"), message)


def validate_against(
    records: Iterable[LocatedRecord],
    taxonomy: TaxonomyData,
    known_ids: Collection[str] = (),
    checks: LocatedChecks | None = None,
) -> list[Fault]:
    """Return the faults that records and checks have together, by file and line; empty when all is well.

    Slugs must be in `taxonomy`; IDs that are named must be among the records or in `known_ids`; no ID twice.
    """
    located_records = list(records)
    vocabulary = Vocabulary.of(taxonomy)
    faults: list[Fault] = []
    files: dict[str, str] = {}
    for located in located_records:
        if (fault := duplicate_fault(located.record.id, located.file, located.line("id"), files)) is not None:
            faults.append(fault)
    ids = files.keys() | set(known_ids)
    for located in located_records:
        faults.extend(record_faults(located, vocabulary, ids))
    if checks is not None:
        faults.extend(check_faults(checks, vocabulary, ids))
    return sorted(faults)


def duplicate_fault(record_id: str, file: str, line: int, files: dict[str, str]) -> Fault | None:
    """Note in `files` (ID → file) that a record was read; return the fault when another file has its ID, in `line`."""
    first = files.setdefault(record_id, file)
    if first == file:
        return None
    message = f"같은 ID 의 파일이 둘입니다: {record_id} (먼저 {first}). 하나만 남기거나 새 ID 를 주십시오."
    return Fault(file, line, message)
