"""The strict reading of YAML, and scalars that every YAML reader takes for the same text."""

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from incidents.faults import FaultList
from incidents.plain_text import CONTROL, canonical_line
from incidents.yaml_nodes import Mapping, Node, Scalar, Sequence, needs_quotes, read_yaml, write_scalar


def read(text: str, first_line: int = 1) -> Node | None:
    faults = FaultList("a.yaml")
    tree = read_yaml(text, faults, first_line=first_line)
    faults.raise_if_any()
    return tree


def lines_refused(text: str) -> list[int]:
    faults = FaultList("a.yaml")
    read_yaml(text, faults)
    return [fault.line for fault in faults.faults]


def test_tree_holds_texts_and_lines():
    tree = read("a: no\nb:\n  - 0135\n  - {c: '12:30', d: }\n", first_line=5)
    assert isinstance(tree, Mapping)
    assert tree.keys == {"a": 5, "b": 6}
    assert tree.values["a"] == Scalar("no", 5, is_plain=True)
    items = tree.values["b"]
    assert isinstance(items, Sequence)
    assert items.items[0] == Scalar("0135", 7, is_plain=True)
    assert isinstance(items.items[1], Mapping)
    assert items.items[1].values == {"c": Scalar("12:30", 8), "d": Scalar("", 8, is_plain=True)}


@pytest.mark.parametrize("text", ["", "\n", "# 주석뿐\n"])
def test_empty_document_is_nothing(text):
    assert read(text) is None


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: 1\na: 2", 2),
        ("a: {b: 1, b: 2}", 1),
        ("a: &x 1", 1),
        ("a: 1\nb: *x", 2),
        ("a: !!int 1", 1),
        ("a: !!map {}", 1),
        ("? [a]\n: 1", 1),
        ("a:\t1", 1),
        ("a: null", 1),
        ("a: 1\n---\nb: 2", 2),
        ("a: [", 1),
        ("a: ]", 1),
        ("a: b: c", 1),
        ("a: 1\n b: 2", 2),
        ('a: "x', 1),
        (": : :", 1),
        ("[" * 100_000, 1),
        ("- " * 20_000, 1),
    ],
)
def test_what_is_not_plain_yaml_is_refused_at_the_line(text, line):
    assert lines_refused(text) == [line]


# Characters that mean something to YAML, besides letters of several scripts and lone combining marks.
TRICKY = st.text(
    st.one_of(
        st.sampled_from(list("-?:,[]{}#&*!|>'\"%@`\\=<~ .0123456789eExXoO_+yYnN/\u00a0\u3000\u0301")),
        st.characters(exclude_categories=["Cs"]),
    ),
    max_size=40,
)


@given(TRICKY)
@example("<<")
@example("=")
@example("1:30")
@example("0o17")
@example("-.inf")
@example("2001-12-14t21:59:43.10-05:00")
@example("- a")
@example("a: b #c")
@example("\u00a0")
def test_written_scalar_is_the_same_text_to_a_strict_and_to_a_guessing_reader(raw):
    text = canonical_line(CONTROL.sub("", raw))
    for source in (f"a: {write_scalar(text)}\n", f"a: {{b: {write_scalar(text, in_flow=True)}}}\n"):
        guessed = yaml.safe_load(source)["a"]
        assert (guessed["b"] if isinstance(guessed, dict) else guessed) == text
        tree = read(source)
        assert isinstance(tree, Mapping)
        value = tree.values["a"]
        scalar = value.values["b"] if isinstance(value, Mapping) else value
        assert isinstance(scalar, Scalar)
        assert (scalar.text, scalar.is_cut) == (text, False)


@pytest.mark.parametrize("text", ["두 줄\n둘째 줄", 'a "b" \\n c\n\n', "탭\t뒤"])
def test_text_of_several_lines_is_written_on_one(text):
    written = write_scalar(text)
    assert "\n" not in written
    assert yaml.safe_load(written) == text


@pytest.mark.parametrize(
    "text", ["AT&T", "Let's Encrypt", "2018-01-17 외부 회선 장애", "C++", "a:b", "값 (괄호)", "“인용”", "1990s", "v1.2"]
)
def test_plain_texts_stay_plain(text):
    assert not needs_quotes(text)


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused_with_a_line(text):
    faults = FaultList("a.yaml")
    tree = read_yaml(text, faults)
    assert tree is None or not faults.faults or all(fault.line >= 1 for fault in faults.faults)
    assert all(1 <= fault.line <= text.count("\n") + 1 for fault in faults.faults)
