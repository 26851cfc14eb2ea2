"""The controlled vocabulary as a file: taxonomy.yaml ↔ TaxonomyData. Pure.

The canonical form is one term a line, aligned, with the comments below; the bundled file comes out byte for byte.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from incidents import yaml_nodes
from incidents.faults import FaultList
from incidents.plain_text import canonical_line, decode
from incidents.yaml_fields import MAX_SLUG_CHARS, SLUG_PATTERN, FieldReader, is_filled
from incidents.yaml_nodes import Node, quoted, read_yaml, write_scalar

MAX_BYTES = 5_000_000
MAX_LABEL_CHARS = 80
MAX_GROUP_CHARS = 40
MAX_ABOUT_CHARS = 1_000
MAX_ALIAS_CHARS = 80

# The vocabularies in the file's order, each with the comment that stands beside its name.
VOCABULARIES: dict[str, str] = {
    "causes": "원인 분류: what kind of thing failed",
    "components": "구성 요소: where it failed",
    "factors": "기여 요인: what let it happen, spread, or last",
    "detection_methods": "감지 방법: how the organization learned of it",
}
_HEADER = """\
# The controlled vocabulary of the library. Every record uses these slugs and no others; a record may not invent one.
# label: what a reader sees · group: the heading it stands under in lists · about: one sentence · \
aliases: other words people search for it by
"""
_TERM_KEYS = ("label", "label_en", "group", "about", "aliases")
_NAME_WIDTH = max(map(len, VOCABULARIES)) + 2


@dataclass(frozen=True, slots=True)
class TermData:
    """A word of the vocabulary: a stable slug, what a reader sees, and other words it is searched by."""

    slug: str
    label: str
    group: str = ""
    about: str = ""
    aliases: tuple[str, ...] = ()
    label_en: str = ""


@dataclass(frozen=True, slots=True)
class TaxonomyData:
    """The vocabularies, each in the order in which it is listed."""

    causes: tuple[TermData, ...] = ()
    components: tuple[TermData, ...] = ()
    factors: tuple[TermData, ...] = ()
    detection_methods: tuple[TermData, ...] = ()

    def vocabularies(self) -> Iterator[tuple[str, tuple[TermData, ...]]]:
        """Yield (name, terms) of each vocabulary in the file's order."""
        for name in VOCABULARIES:
            yield name, getattr(self, name)


@dataclass(frozen=True, slots=True)
class LocatedTaxonomy:
    """A taxonomy with its file and the line of each term, by "causes.dns-error"."""

    taxonomy: TaxonomyData
    file: str
    lines: Mapping[str, int] = field(default_factory=dict)


def parse_taxonomy(data: bytes, filename: str) -> TaxonomyData:
    """Return the vocabularies that a file holds. Raises RecordError with every fault that was found."""
    return parse_located_taxonomy(data, filename).taxonomy


def parse_located_taxonomy(data: bytes, filename: str) -> LocatedTaxonomy:
    """Return the vocabularies with their lines, as parse_taxonomy does. Raises RecordError."""
    faults = FaultList(filename)
    text = decode(data, faults, limit=MAX_BYTES)
    reader = _TaxonomyReader(faults)
    tree = read_yaml(text, faults) if text is not None else None
    vocabularies: dict[str, tuple[TermData, ...]] = {}
    if isinstance(tree, yaml_nodes.Mapping):
        for name, node in reader.known(tree, tuple(VOCABULARIES)).items():
            vocabularies[name] = reader.terms(name, node)
    elif not faults.faults:
        names = ", ".join(f"`{name}:`" for name in VOCABULARIES)
        faults.add(1, f"분류 체계의 꼴이 아닙니다. {names} 아래에 슬러그를 적어 주십시오.")
    faults.raise_if_any()
    return LocatedTaxonomy(TaxonomyData(**vocabularies), filename, reader.lines)


class _TaxonomyReader(FieldReader):
    def terms(self, vocabulary: str, node: Node) -> tuple[TermData, ...]:
        if not is_filled(node):
            return ()
        if not isinstance(node, yaml_nodes.Mapping):
            self.fault(vocabulary, f"{vocabulary}: 슬러그마다 `slug: {{label: 이름}}` 으로 적어 주십시오.", node.line)
            return ()
        terms: list[TermData] = []
        labels: dict[str, int] = {}
        for slug, value in node.values.items():
            line = node.keys[slug]
            if len(slug) > MAX_SLUG_CHARS or not SLUG_PATTERN.match(slug):
                advice = "dns-error 처럼 영문 소문자와 숫자를 붙임표로 이어 적어 주십시오."
                self.fault(vocabulary, f"{vocabulary}: 슬러그의 꼴이 아닙니다: {slug[:60]}. {advice}", line)
                continue
            if not isinstance(value, yaml_nodes.Mapping):
                self.fault(slug, f"{slug}: `{{label: 이름}}` 처럼 중괄호 안에 적어 주십시오.", line)
                continue
            term = self.term(slug, value)
            if term.label in labels:
                advice = f"(먼저 {labels[term.label]}행). 이름은 한 어휘 안에서 하나뿐이어야 합니다."
                self.fault(slug, f"{slug}: 같은 이름이 두 번 있습니다: {term.label} {advice}", line)
            elif term.label:
                labels[term.label] = line
            self.lines[f"{vocabulary}.{slug}"] = line
            terms.append(term)
        return tuple(terms)

    def term(self, slug: str, mapping: yaml_nodes.Mapping) -> TermData:
        values = self.known(mapping, _TERM_KEYS)
        self.need(slug, values, ("label",), mapping.line)
        return TermData(
            slug=slug,
            label=self.line_of_text(slug, values.get("label"), MAX_LABEL_CHARS),
            group=self.line_of_text(slug, values.get("group"), MAX_GROUP_CHARS),
            about=self.line_of_text(slug, values.get("about"), MAX_ABOUT_CHARS),
            aliases=self.texts(slug, values.get("aliases"), MAX_ALIAS_CHARS),
            label_en=self.line_of_text(slug, values.get("label_en"), MAX_LABEL_CHARS),
        )


def canonical_term(term: TermData) -> TermData:
    """Return a term as it comes back from its own file."""
    return TermData(
        slug=term.slug,
        label=canonical_line(term.label),
        group=canonical_line(term.group),
        about=canonical_line(term.about),
        aliases=tuple(dict.fromkeys(filter(None, map(canonical_line, term.aliases)))),
        label_en=canonical_line(term.label_en),
    )


def format_taxonomy(taxonomy: TaxonomyData) -> str:
    """Return the canonical text of the vocabularies, ending in one line feed."""
    parts = [_HEADER]
    for name, terms in taxonomy.vocabularies():
        parts.append("\n" + f"{name}:".ljust(_NAME_WIDTH) + f"# {VOCABULARIES[name]}\n")
        width = max((len(term.slug) for term in terms), default=0) + 2
        parts.extend(f"  {f'{term.slug}:':<{width}}{{{_pairs(canonical_term(term))}}}\n" for term in terms)
    return "".join(parts)


def _pairs(term: TermData) -> str:
    pairs = [f"label: {_flow(term.label)}"]
    if term.label_en:
        pairs.append(f"label_en: {_flow(term.label_en)}")
    if term.group:
        pairs.append(f"group: {_flow(term.group)}")
    if term.about:
        pairs.append(f"about: {quoted(term.about)}")
    if term.aliases:
        pairs.append(f"aliases: [{', '.join(map(_flow, term.aliases))}]")
    return ", ".join(pairs)


def _flow(text: str) -> str:
    return write_scalar(text, in_flow=True)
