"""What signs mean in a query, and that all others are text."""

from __future__ import annotations

import pytest

from incidents.errors import BadParameter
from incidents.search import parse_query
from incidents.search.query import MAX_CHARACTERS, MAX_WORDS


def test_words_phrases_exclusions_and_fields() -> None:
    query = parse_query('인증서 "연결 풀" -정전 원인:디스크 후속 조치: 점검')
    assert [(c.text, c.is_phrase, c.is_negated, c.field) for c in query.clauses] == [
        ("인증서", False, False, None),
        ("연결 풀", True, False, None),
        ("정전", False, True, None),
        ("디스크", False, False, "cause"),
        ("점검", False, False, "follow_ups"),
    ]


@pytest.mark.parametrize("text", ["", " ", "\u200b", "\u3164", "\t\n", "\x00", "\u00ad"])
def test_blank_queries_are_no_queries(text: str) -> None:
    query = parse_query(text)
    assert query.is_blank
    assert query.text == ""


@pytest.mark.parametrize(
    "text",
    ["-", '"', '""', "(", ")", "((((", ":", "%", "+", "'", "\\", "{", "~", "^", "- -", "…", "“”"],
)
def test_signs_alone_have_no_terms_and_are_not_blank(text: str) -> None:
    query = parse_query(text)
    assert not query.is_blank
    assert not query.has_terms


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("(title:", ["title"]),
        ("http:", ["http"]),
        ("AND", ["and"]),
        ("NOT IN", ["not", "in"]),
        ("[a TO", ["a", "to"]),
        ('17" 모니', ["17", "모니"]),
        ('"고갈', ["고갈"]),
        ("TCP/IP", ["tcp", "ip"]),
        ("a:b", ["a", "b"]),
    ],
)
def test_other_signs_are_text(text: str, words: list[str]) -> None:
    query = parse_query(text)
    assert [leaf for clause in query.clauses for word in clause.words for leaf in word.leaves] == words
    assert not any(clause.is_negated or clause.field for clause in query.clauses)


@pytest.mark.parametrize(
    "text", ["IL-0421", "il-0421", "IL\u20110421", "ＩＬ－０４２１", " IL-0421 ", "il0421", "IL-421"]
)
def test_an_id_in_any_writing_names_the_record(text: str) -> None:
    assert parse_query(text).public_id == "IL-0421"


def test_an_address_names_a_source() -> None:
    assert parse_query(" https://example.org/a?b=1 ").url == "https://example.org/a?b=1"


def test_the_box_shows_what_was_typed_in_nfc() -> None:
    assert parse_query("\u110e\u1166\u110f\u1173  포인트\u200b").text == "체크 포인트"


def test_a_particle_after_an_identifier_is_no_word() -> None:
    assert [clause.text for clause in parse_query("GPU 가 멈춤").clauses] == ["GPU", "멈춤"]


def test_too_long_a_query_is_refused_with_what_to_do() -> None:
    with pytest.raises(BadParameter) as caught:
        parse_query("가" * (MAX_CHARACTERS + 1))
    assert "4,000자" in caught.value.message
    assert set(caught.value.fields) == {"q"}


def test_too_many_words_are_refused() -> None:
    with pytest.raises(BadParameter):
        parse_query(" ".join(f"a{n}" for n in range(MAX_WORDS + 1)))


@pytest.mark.parametrize(
    "text", ["(" * 600, "[" * 300 + "]" * 300, "a\ud800b", "가\x00나", '"' * 601, "-" * 600, ": " * 500]
)
def test_hostile_input_is_parsed(text: str) -> None:
    assert isinstance(parse_query(text).clauses, tuple)


def test_loosening_drops_one_word_at_a_time() -> None:
    assert [rest for _, rest in parse_query('인증서 "연결 풀" -정전').without_each_word()] == [
        '"연결 풀" -정전',
        "인증서 -정전",
    ]
