"""The vocabulary as a file."""

from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from incidents.faults import RecordError
from incidents.plain_text import CONTROL, canonical_line
from incidents.taxonomy_file import TaxonomyData, TermData, canonical_term, format_taxonomy, parse_taxonomy

FIXTURE = Path(__file__).parents[2] / "fixtures" / "taxonomy.yaml"


def refused(text: str) -> list[tuple[int, str]]:
    with pytest.raises(RecordError) as caught:
        parse_taxonomy(text.encode(), "taxonomy.yaml")
    return [(fault.line, fault.message) for fault in caught.value.faults]


def test_bundled_taxonomy_survives_reading_and_writing_byte_for_byte():
    data = FIXTURE.read_bytes()
    assert format_taxonomy(parse_taxonomy(data, "taxonomy.yaml")).encode() == data


def test_bundled_taxonomy_is_what_any_yaml_reader_sees():
    plain = yaml.safe_load(FIXTURE.read_text())
    for name, terms in parse_taxonomy(FIXTURE.read_bytes(), "taxonomy.yaml").vocabularies():
        assert [(term.slug, term.label, term.group, term.about, list(term.aliases)) for term in terms] == [
            (slug, term["label"], term.get("group", ""), term.get("about", ""), term.get("aliases", []))
            for slug, term in plain[name].items()
        ]


def test_vocabulary_may_be_absent_or_empty_and_terms_may_stand_in_blocks():
    text = "causes:\n  dns-error:\n    label: DNS 오류\n    aliases:\n    - BGP\nfactors:\n"
    assert parse_taxonomy(text.encode(), "taxonomy.yaml") == TaxonomyData(
        causes=(TermData("dns-error", "DNS 오류", aliases=("BGP",)),)
    )


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        ("causes:\n  DNS: {label: 가}", 2, "소문자"),
        ("causes:\n  dns: 가", 2, "중괄호"),
        ("causes:\n  - dns", 2, "slug"),
        ("causes:\n  dns: {group: 가}", 2, "label"),
        ("causes:\n  dns: {label: 가, colour: 나}", 2, "알 수 없는 키"),
        ("causes:\n  a: {label: 가}\n  a: {label: 나}", 3, "두 번"),
        ("causes:\n  a: {label: 가}\n  b: {label: 가}", 3, "같은 이름"),
        ("causes:\n  a: {label: 가, aliases: 나}", 2, "대괄호"),
        ("causes:\n  a: {label: 가, aliases: [나, 나]}", 2, "두 번"),
        ("causes:\n  a: {label: 가, aliases: [[나]]}", 2, ""),
        ("causes:\n  a: {label: " + "가" * 81 + "}", 2, "너무 깁니다"),
        ("cause:\n  a: {label: 가}", 1, "혹시 causes"),
        ("- causes", 1, "`causes:`"),
        ("", 1, "`causes:`"),
        ("causes:\n\ta: {label: 가}", 2, "탭"),
    ],
)
def test_wrong_taxonomy_is_refused_at_the_line(text, line, word):
    faults = refused(text)
    assert [number for number, _ in faults] == [line]
    assert word in faults[0][1]


LINES = st.text(max_size=20).map(lambda text: canonical_line(CONTROL.sub("", text)))
SLUGS = st.from_regex(r"[a-z0-9]{1,8}(-[a-z0-9]{1,8}){0,3}", fullmatch=True)
TERMS = st.builds(
    TermData, SLUGS, LINES.filter(bool), LINES, LINES, st.lists(LINES.filter(bool), unique=True).map(tuple), LINES
)
VOCABULARIES = st.lists(TERMS, unique_by=(lambda term: term.slug, lambda term: term.label), max_size=4).map(tuple)


@given(st.builds(TaxonomyData, VOCABULARIES, VOCABULARIES, VOCABULARIES, VOCABULARIES))
def test_any_taxonomy_comes_back(taxonomy):
    assert parse_taxonomy(format_taxonomy(taxonomy).encode(), "taxonomy.yaml") == taxonomy


def test_untidy_term_is_written_in_canonical_form():
    term = TermData("a", " 가\n나 ", aliases=("다", " 다 ", ""))
    assert canonical_term(term) == replace(term, label="가 나", aliases=("다",))
    text = format_taxonomy(TaxonomyData(causes=(term,)))
    assert parse_taxonomy(text.encode(), "taxonomy.yaml").causes == (canonical_term(term),)
