"""Markdown to sections: headings in all their disguises, and what only looks like one."""

import pytest

from incidents.documents.outline import Outline, outline, split_front_matter
from incidents.documents.vocabulary import heading_vocabulary


def outlined(text: str) -> Outline:
    return outline(text, heading_vocabulary().kind_of_heading)


def shape(text: str) -> list[tuple[int, str, list[str]]]:
    """(depth, heading, texts of the blocks) of each section."""

    def walk(section, depth):
        if section.heading or section.blocks:
            yield depth, section.name, [block.text for block in section.blocks]
        for child in section.children:
            yield from walk(child, depth + 1)

    return list(walk(outlined(text).root, 0))


@pytest.mark.parametrize(
    "heading",
    [
        "## 원인",
        "## 원인 ",
        "##원인",
        "## 원인 ##",
        "원인\n----",
        "**원인**",
        "**원인:**",
        "__원인__:",
        "□ 원인",
        "■ 원인",
        "[원인]",
        "【원인】",
        "2. 원인",
        "가. 원인",
        "① 원인",
        "원인",
        "**🔥 원인**",
        "## 2. 원인 (RCA)",
    ],
)
def test_heading_in_many_forms(heading: str) -> None:
    root = outlined(f"# 제목줄\n\n앞.\n\n{heading}\n\n글.\n").root
    found = [section for section in root.walk() if [block.text for block in section.blocks] == ["글."]]
    assert len(found) == 1
    match = heading_vocabulary().match(found[0].heading)
    assert match is not None
    assert match.role == "cause"


@pytest.mark.parametrize(
    "text",
    [
        "```ini\n# 원인\nx = 1\n```",
        "~~~\n## 원인\n~~~",
        "- item\n\n  ```\n  # 원인\n  ```",
        "**원인** 은 이렇다.",
        "글 **원인** 글",
        "**아무도 다치지 않았다.**",
        "원인은 모른다",
        "#원인 채널",
        "2021. 12. 1. 새벽에",
        "> # 원인",
    ],
)
def test_lines_that_are_no_heading(text: str) -> None:
    assert [depth for depth, _, _ in shape(text)] == [0]


def test_code_keeps_every_line_and_an_open_fence_is_told() -> None:
    found = outlined("## 원인\n\n```ini\n# a\n\nb\n```\n\n뒤\n")
    assert [block.text for block in found.root.children[0].blocks] == ["```ini\n# a\n\nb\n```", "뒤"]
    assert not found.unclosed_fence
    assert outlined("```\n# a\n").unclosed_fence


def test_comments_are_no_text_outside_code() -> None:
    found = outlined(
        "a <!-- one --> b\n\n<!-- two\n# not\n-->\nc\n\n`<!-- code -->`\n\n```\n<!-- in -->\n```\n\n<!-- open\nlast\n"
    )
    assert [block.text for block in found.root.blocks] == [
        "a  b",
        "c",
        "`<!-- code -->`",
        "```\n<!-- in -->\n```",
        "<!-- open\nlast",
    ]
    assert found.comments == ("one", "two\n# not")


def test_sections_nest_by_level_and_a_second_top_heading_starts_anew() -> None:
    assert shape("# T\n\n### A\n\na\n\n## B\n\n### C\n\nc\n\n# D\n\nd\n") == [
        (1, "T", []),
        (2, "A", ["a"]),
        (2, "B", []),
        (3, "C", ["c"]),
        (1, "D", ["d"]),
    ]


def test_signs_rank_in_the_order_of_their_first_use() -> None:
    text = "1. 원인\n\n가. 직접 원인\n\na\n\n나. 간접 원인\n\nb\n\n2. 재발 방지 대책\n\n1) 단기 대책\n\nc\n"
    assert [(depth, name) for depth, name, _ in shape(text)] == [
        (1, "1. 원인"),
        (2, "가. 직접 원인"),
        (2, "나. 간접 원인"),
        (1, "2. 재발 방지 대책"),
        (2, "1) 단기 대책"),
    ]


def test_bold_lines_stand_below_the_last_real_heading() -> None:
    text = "# T\n\n## Analysis\n\n**Trigger**\n\na\n\n**Detection**\n\nb\n\n## Lessons\n\nc\n"
    assert [(depth, name) for depth, name, _ in shape(text)] == [
        (1, "T"),
        (2, "Analysis"),
        (3, "Trigger"),
        (3, "Detection"),
        (2, "Lessons"),
    ]


def test_label_before_text_is_a_heading_only_when_known() -> None:
    assert shape("**Impact:** all users\n\n**Colour:** blue\n") == [(1, "Impact", ["all users", "**Colour:** blue"])]


def test_lone_plain_label_speaks_for_its_paragraph() -> None:
    text = "## Summary\n\nImpact: all users.\n\nThen it went on.\n"
    assert shape(text) == [
        (1, "Summary", []),
        (2, "Impact", ["all users."]),
        (2, "Summary", ["Then it went on."]),
    ]


def test_lists_keep_dates_nesting_and_foreign_bullets() -> None:
    assert shape("2021. 12. 1. 새벽에 돌았다.\n") == [(0, "", ["2021. 12. 1. 새벽에 돌았다."])]
    blocks = outlined("• a\n  · b\n\nㅇ c\n① d\n").root.blocks
    assert [(block.kind, block.text) for block in blocks] == [("list", "- a\n  - b\n\n- c\n1. d")]


@pytest.mark.parametrize(
    ("text", "pairs", "rest"),
    [
        ('---\ntitle: "A: b"\ntags:\n  - x\n  - y\n---\nbody', (("title", "A: b"), ("tags", "x, y")), "body"),
        ("---\nauthors: [a, b]\n---\n", (("authors", "a, b"),), ""),
        ("+++\ntitle = 'A'\n+++\nbody", (("title", "A"),), "body"),
        ("---\n\ntext\n\n---\n", (), "---\n\ntext\n\n---\n"),
        ("---\ntitle: A\n\nno end", (), "---\ntitle: A\n\nno end"),
    ],
)
def test_front_matter_is_read_line_by_line(text: str, pairs: tuple[tuple[str, str], ...], rest: str) -> None:
    assert split_front_matter(text) == (pairs, rest)
