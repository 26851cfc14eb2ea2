"""Record text to HTML, plain text and statements: what a reader sees, and what can't pass."""

import html
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from lxml import etree
from lxml import html as lxml_html

from incidents.markdown_html import (
    MAX_LENGTH,
    MAX_SIGNS,
    bind_particles,
    plain_text,
    render_inline,
    render_item,
    render_statements,
    render_text,
    statements,
)
from incidents.markup import dialect
from incidents.markup.cleaning import clean, harmless_address
from incidents.records import parse_record

FIXTURES = Path(__file__).parents[2] / "fixtures" / "incidents"


def elements(rendered: str) -> lxml_html.HtmlElement:
    return lxml_html.fragment_fromstring(rendered, create_parent="div")


def words(rendered: str) -> str:
    return " ".join(elements(rendered).text_content().split())


class TestBlocks:
    def test_list_right_under_a_sentence_is_a_list(self) -> None:
        tree = elements(
            render_text("두 가지가 멈췄다:\n- 로그인\n- 결제\n\n복구는 나뉘었다:\n1. 먼저 로그인\n2. 다음 결제")
        )
        assert [item.text for item in tree.findall("ul/li")] == ["로그인", "결제"]
        assert [item.text for item in tree.findall("ol/li")] == ["먼저 로그인", "다음 결제"]

    @pytest.mark.parametrize(
        "date",
        ["2024. 3. 2. 에 멈췄다.", "2024. 3. 2.", "3. 2. 에 멈췄다.", "2024. 가을에 멈췄다.", "12. 31. 밤이었다."],
    )
    def test_date_at_the_start_of_a_line_is_text(self, date: str) -> None:
        assert render_text(date) == f"<p>{date}</p>\n"
        assert words(render_text(f"앞줄이다.\n{date}")) == f"앞줄이다. {date}"

    def test_numbered_list_may_start_anywhere(self) -> None:
        assert render_text("3. 셋\n4. 넷") == '<ol start="3">\n<li>셋</li>\n<li>넷</li>\n</ol>\n'

    @pytest.mark.parametrize("marker", ["-", "1.", "10."])
    def test_two_spaces_nest_a_list(self, marker: str) -> None:
        tree = elements(render_text(f"{marker} 바깥\n  - 안\n  - 또 안\n"))
        assert len(tree.xpath("./*[self::ul or self::ol]/li")) == 1
        assert [item.text for item in tree.xpath("./*/li/ul/li")] == ["안", "또 안"]

    @pytest.mark.parametrize("marker", ["-", "1."])
    def test_fence_inside_an_item_stays_inside(self, marker: str) -> None:
        tree = elements(render_text(f"{marker} 돌렸다\n  ```\n  a | b\n  2024. 3. 2.\n  ```\n{marker} 다음"))
        assert tree.xpath("string(./*/li[1]/pre/code)") == "a | b\n2024. 3. 2.\n"
        assert len(tree.xpath("./*/li")) == 2

    def test_dashes_under_a_sentence_make_no_heading(self) -> None:
        assert render_text("글이다.\n---") == "<p>글이다.</p>\n<hr>\n"

    def test_headings_sit_below_those_of_the_record(self) -> None:
        assert render_text("# 하나\n\n###### 여섯") == "<h3>하나</h3>\n<h6>여섯</h6>\n"

    @pytest.mark.parametrize(
        ("markdown", "expected"),
        [
            ("- a\n  - b\n    - c", "- a[- b[- c]]"),
            ("- a\n    - b\n        - c", "- a[- b[- c]]"),
            ("1. a\n  - b\n    - c\n2. d", "1 a[- b[- c]]|2 d"),
            ("1. a\n   - b\n\n2. c", "1 <p>[- b]|2 <p>"),
            ("- a\n\t- b\n\t\t- c", "- a[- b[- c]]"),
            ("- a\n* b\n+ c", "- a|- b|- c"),
            ("1. a\n1. b", "1 a|2 b"),
            ("1. a\n3. b\n4. c", "1 a|3 b|4 c"),
            ("1. a\n2) b", "1 a|2 b"),
            ("- 2024. 3. 2. 에\n- 3. 4. 에", "- 2024. 3. 2. 에|- 3. 4. 에"),
            ("1. 3. 2. 에\n2. 3. 4. 에", "1 3. 2. 에|2 3. 4. 에"),
            ("- a\n-\n- b", "- a|- |- b"),
        ],
    )
    def test_lists_nest_and_count_as_written(self, markdown: str, expected: str) -> None:
        def outline(items: lxml_html.HtmlElement) -> str:
            number = int(items.get("start", 1))
            parts = []
            for item in items:
                number = int(item.get("value", number))
                text = "<p>" if item.find("p") is not None else (item.text or "").strip()
                inner = "".join(f"[{outline(nested)}]" for nested in item.xpath("./ul|./ol"))
                parts.append(f"{'-' if items.tag == 'ul' else number} {text}{inner}")
                number += 1
            return "|".join(parts)

        assert [outline(child) for child in elements(render_text(markdown))] == [expected]

    @pytest.mark.parametrize(
        "text", ["-", ">", ">= 5초", ">10% 늘었다", "#", "#태그", "1.서버", "~~~취소~~~ 는", "|---|"]
    )
    def test_signs_without_a_block_are_text(self, text: str) -> None:
        assert render_text(text) == f"<p>{text.replace('>', '&gt;')}</p>\n"

    def test_sentence_with_a_number_at_a_line_start_stays_one(self) -> None:
        assert words(render_text("걸린 시간은 모두\n30. 그리고")) == "걸린 시간은 모두 30. 그리고"
        assert render_text("앞\n3. 뒤") == "<p>앞\n3. 뒤</p>\n"

    def test_code_pasted_without_indent_stays_in_its_item(self) -> None:
        tree = elements(render_text("- 명령\n  ```\nget pods\n\n    - x\n  ```\n- 다음"))
        assert tree.xpath("string(ul/li[1]/pre/code)") == "get pods\n\n  - x\n"
        assert tree.xpath("string(ul/li[2])") == "다음"

    def test_fence_without_end_ends_with_its_item(self) -> None:
        tree = elements(render_text("- ```\n  a\n- 다음\n\n뒤"))
        assert [child.text_content().split() for child in tree] == [["a", "다음"], ["뒤"]]

    @pytest.mark.parametrize(
        ("markdown", "expected"),
        [
            ("```bash\nls -l\n```", "ls -l\n"),
            ("~~~\n```\n~~~", "```\n"),
            ("````\n```\n````", "```\n"),
            ("```\n<b>&lt;**a**\n\n\n2024. 3. 2.\n```", "<b>&lt;**a**\n\n\n2024. 3. 2.\n"),
            ("```이렇게 했다\nls", "이렇게 했다\nls\n"),
            ("    ls\n      -l\n\n    pwd", "ls\n  -l\n\npwd\n"),
        ],
    )
    def test_code_is_shown_as_it_stands(self, markdown: str, expected: str) -> None:
        assert elements(render_text(markdown)).xpath("string(pre/code)") == expected

    def test_quotation_holds_blocks(self) -> None:
        assert render_text("> 말\n이어\n>\n> - 하나\n\n뒤") == (
            "<blockquote>\n<p>말\n이어</p>\n<ul>\n<li>하나</li>\n</ul>\n</blockquote>\n<p>뒤</p>\n"
        )

    def test_table_stands_right_under_a_sentence_and_ends_before_one(self) -> None:
        tree = elements(render_text("표다.\n| a | b |\n|:-:|---|\n| 1 | 2 | 3 |\n| ` | ` |\n| x |\n뒤다."))
        assert [child.tag for child in tree] == ["p", "div", "p"]
        rows = [[cell.text_content() for cell in row] for row in tree.iter("tr")]
        assert rows == [["a", "b"], ["1", "2 | 3"], ["`", "`"], ["x", ""]]

    def test_pipes_inside_code_do_not_break_a_row(self) -> None:
        tree = elements(
            render_text("| 명령 | 뜻 |\n|---|--:|\n| `ps aux | grep x` | 가 |\n| `a \\| b` | 나 |\n\n뒤 | 글")
        )
        rows = [[cell.text_content() for cell in row] for row in tree.iter("tr")]
        assert rows == [["명령", "뜻"], ["ps aux | grep x", "가"], ["a | b", "나"]]
        assert [cell.get("class") for cell in tree.iter("td")] == [None, "align-right"] * 2
        assert tree.find("div").get("tabindex") == "0"


class TestInline:
    def test_tildes_never_strike_out(self) -> None:
        text = "장애는 10~20분, 복구는 30~40분 걸렸다. ~~취소~~ 경로는 `~/a` 와 ~/b 다."
        assert render_text(text) == f"<p>{text.replace('`~/a`', '<code>~/a</code>')}</p>\n"

    @pytest.mark.parametrize(
        ("markdown", "expected"),
        [
            ("**재시도 폭주(retry storm)**였고", "<strong>재시도 폭주(retry storm)</strong>였고"),
            ("그때 **‘빈 목록’**을", "그때 <strong>‘빈 목록’</strong>을"),
            ("원인은**‘빈 목록’**이다", "원인은<strong>‘빈 목록’</strong>이다"),
            ("*타임아웃(timeout)*은", "<em>타임아웃(timeout)</em>은"),
            ("**`etcd`**의", "<strong><code>etcd</code></strong>의"),
            ("**100%**가", "<strong>100%</strong>가"),
            ("2*3*4", "2*3*4"),
            ("snake_case_name 과 *.test 와 *.example", "snake_case_name 과 *.test 와 *.example"),
            ("a * b * c", "a * b * c"),
            (
                "**C++**와 **C#**은 **참(眞)**을",
                "<strong>C++</strong>와 <strong>C#</strong>은 <strong>참(眞)</strong>을",
            ),
            ("**중요:**반드시 원인:**설정**", "<strong>중요:</strong>반드시 원인:<strong>설정</strong>"),
            ("**가**나**다**라", "<strong>가</strong>나<strong>다</strong>라"),
            ("***가***는 *나 **다** 라*", "<em><strong>가</strong></em>는 <em>나 <strong>다</strong> 라</em>"),
            ("**[글](/a)**을", '<strong><a href="/a" rel="nofollow noopener">글</a></strong>을'),
            ("**/var/log**를", "<strong>/var/log</strong>를"),
            ("_기울임_ 은 __굵게__", "<em>기울임</em> 은 <strong>굵게</strong>"),
            ("__init__.py 와 __name__", "__init__.py 와 __name__"),
            ("/opt/* 와 /var/*, src/**/a 와 t/**/b", "/opt/* 와 /var/*, src/**/a 와 t/**/b"),
            ("**/*.py 와 **/*.js 와 */5 * * * *", "**/*.py 와 **/*.js 와 */5 * * * *"),
            ("f(*args, **kwargs) 와 rm -rf /*", "f(*args, **kwargs) 와 rm -rf /*"),
            ("width*height*depth", "width*height*depth"),
            ("**반쪽 과 *반쪽", "**반쪽 과 *반쪽"),
        ],
    )
    def test_emphasis_beside_korean(self, markdown: str, expected: str) -> None:
        assert render_inline(markdown) == expected

    def test_words_like_tags_stay_as_typed(self) -> None:
        text = "로그에는 <host>:<port> 와 List<String>, a<b 가 보였다. `/proc/<pid>/limits`"
        assert words(render_text(text)) == text.replace("`", "")
        assert plain_text(text) == text.replace("`", "")

    @pytest.mark.parametrize(
        ("markdown", "expected"),
        [
            ("&lt;host&gt; AT&T &nosuch;", "&lt;host&gt; AT&amp;T &amp;nosuch;"),
            ("`&lt;a&gt;` 와 `a\\b`", "<code>&amp;lt;a&amp;gt;</code> 와 <code>a\\b</code>"),
            ("\\*별\\* C:\\boot.ini", "*별* C:\\boot.ini"),
            ("`` a`b `` 와 `짝 없음", "<code>a`b</code> 와 `짝 없음"),
            ("첫 줄  \n둘째\\\n셋째\n넷째", "첫 줄<br>\n둘째<br>\n셋째\n넷째"),
            ("<b>굵게</b> <!-- x -->", "&lt;b&gt;굵게&lt;/b&gt; &lt;!-- x --&gt;"),
        ],
    )
    def test_signs_are_shown_as_meant(self, markdown: str, expected: str) -> None:
        assert render_inline(markdown) == expected

    def test_item_of_one_paragraph_has_no_paragraph_around_it(self) -> None:
        assert render_item("`etcd` 를 껐다.") == "<code>etcd</code> 를 껐다."
        assert render_item("가\n\n나") == "<p>가</p>\n<p>나</p>\n"

    def test_picture_and_definition_lose_no_word(self) -> None:
        assert words(render_text("![그림](https://a.example/c.png) [a][b]\n\n[b]: https://x.example")) == (
            "!그림 [a][b] [b]: https://x.example"
        )


ACTIVE = (
    "[가](javascript:alert(1))",
    "[나](java&#10;script:alert(1))",
    '<a href=" jAvA&#9;   sCript:alert(2)">다</a>',
    "[라](data:text/html;base64,PHA+)",
    '<svg><a><animate attributeName="href" values="javascript:alert(3)"/><text y="9">마</text></a></svg>',
    '<math><mi><style><!--</style><p title="--&gt;&lt;img src=y onerror=alert(4)&gt;">',
    "<img src=x onerror=alert(1)>",
    '<iframe srcdoc="x">',
    "<form action=//x><input name=q>",
    "<base href=//x>",
    '<p style="position:fixed" onclick=x>바</p>',
    "<details open ontoggle=alert(1)>",
    "[사](%6Aavascript:alert(1))",
    "[아](java\u200bscript:alert(1))",
    "[자](vbscript:x) [차](file:///etc/passwd) <javascript:alert(1)>",
)
KNOWN_TAGS = {
    *("div", "p", "br", "hr", "strong", "em", "code", "pre", "blockquote", "ul", "ol", "li", "a", "span"),
    *("h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td"),
}
KNOWN_ATTRIBUTES = {"href", "title", "rel", "class", "start", "value", "role", "tabindex", "aria-label"}
# Pieces that mean something, so that chance builds texts in which they meet.
PIECES = (
    *("가", "나다", "라 마", "a", "b1", "2024. 3. 2.", "1. ", "2) ", "- ", "* ", "-", "  ", "    ", "\t", "\n", "\n\n"),
    *("```", "~~~", "```py", "`", "``", "> ", ">", "|", " | ", "|-|-|\n", "|---|:-:|\n", "\\|", "\\", "**", "*", "***"),
    *("_", "__", "[", "]", "](", "](http://x)", "(", ")", "![", "<http://x>", "<host>", "<b onclick=x>", "<script>"),
    *("javascript:", "&lt;", "&#10;", "&#2;", "&", '"', "'", "“", "”", ".", "다. ", "? ", "# ", "---", "***\n", "  \n"),
    *("\\\n", "\u200b", "\x0b", "\x01", "\ud800", "\u3000", ":", "/"),
)
TEXTS = st.lists(st.sampled_from(PIECES), max_size=40).map("".join) | st.text(max_size=200)


def parsed_strictly(rendered: str) -> etree._Element:
    """Return the tree, failing where a tag or a sign is not well formed."""
    xml = re.sub(r"<(br|hr)>", r"<\1/>", rendered).replace("&nbsp;", "&#160;")
    return etree.fromstring(f"<div>{xml}</div>")


def syllables(text: str) -> Counter[str]:
    return Counter(re.findall("[가-힣]", text))


def assert_harmless(rendered: str) -> None:
    for element in elements(rendered).iter():
        assert element.tag in KNOWN_TAGS
        assert set(element.attrib) <= KNOWN_ATTRIBUTES
        if "href" in element.attrib:
            address = re.sub(r"[\x00-\x20]", "", element.get("href"))
            assert re.match(r"https?:|mailto:|[^:]*$|[^:/?#]*[/?#]", address), address


class TestSafety:
    def test_active_content_is_only_text(self) -> None:
        rendered = render_text("\n\n".join(ACTIVE))
        assert_harmless(rendered)
        assert [letter for letter in "가나다라마바" if letter not in words(rendered)] == []

    @pytest.mark.parametrize(
        "address",
        ["https://a.example/?a=1", "http://a.example", "mailto:a@b.example", "/incidents/", "#cause-1", "b/c"],
    )
    def test_harmless_links_are_links(self, address: str) -> None:
        assert render_inline(f"[글]({address})") == f'<a href="{address}" rel="nofollow noopener">글</a>'

    @given(TEXTS)
    @settings(max_examples=300, deadline=None)
    def test_whatever_is_typed_comes_out_well_formed_and_whole(self, text: str) -> None:
        for rendered in (render_text(text), render_inline(text), render_item(text)):
            parsed_strictly(rendered)
            assert_harmless(rendered)
            assert syllables(text) - syllables(rendered) == Counter()
            assert clean(rendered) == rendered

    @given(TEXTS)
    @settings(max_examples=200, deadline=None)
    def test_nothing_falls_back_to_as_typed(self, text: str) -> None:
        assert clean(dialect.block_html(text)) == render_text(text)
        assert clean(dialect.inline_html(text)) == render_inline(text)
        assert dialect.block_words(text) == plain_text(text)

    @given(st.text(alphabet="가a1 `.,:-", max_size=30))
    @example("`a``b`")
    @settings(max_examples=200, deadline=None)
    def test_words_taken_the_short_way_are_those_of_the_long_way(self, text: str) -> None:
        assert dialect.block_words(f"가{text}") == plain_text(f"가{text}")

    @pytest.mark.parametrize(
        "address",
        [
            "javascript:alert(1)",
            " jAvA\tscript:alert(1)",
            "java\nscript:alert(1)",
            "java&#115;cript:alert(1)",
            "%6Aavascript:alert(1)",
            "java\u200bscript:alert(1)",
            "\x01javascript:alert(1)",
            "vbscript:x",
            "data:text/html,x",
            "file:///etc/passwd",
            "host:8080/x",
            "http%3A//a.example",
            "https://[",
            "",
        ],
    )
    def test_harmful_address_is_no_link(self, address: str) -> None:
        assert harmless_address(address) is None
        rendered = render_inline(f"[글](<{address}>)")
        assert "<a" not in rendered
        assert "글" in rendered

    def test_refused_link_is_shown_as_typed(self) -> None:
        assert render_inline("[가](javascript:alert(1)) 나") == "[가](javascript:alert(1)) 나"
        assert render_inline("[](https://a.example)") == "[](https://a.example)"

    def test_links_keep_what_was_written(self) -> None:
        assert render_inline('[a **b** [c]](HTTPS://a.example/x_(y) "제목") <https://b.example/?a&b>') == (
            '<a title="제목" href="https://a.example/x_(y)" rel="nofollow noopener">a <strong>b</strong> [c]</a> '
            '<a href="https://b.example/?a&amp;b" rel="nofollow noopener">https://b.example/?a&amp;b</a>'
        )

    @given(st.text(alphabet="가다.a1 \n`*_[]()<>|-#~!\\&:;\"'“”/\t", max_size=120) | st.text(max_size=200))
    @settings(max_examples=300, deadline=None)
    def test_any_text_is_taken(self, text: str) -> None:
        assert_harmless(render_text(text))
        assert_harmless("".join(part.html for block in render_statements(text) for part in block.statements))
        assert isinstance(plain_text(text), str)

    def test_text_without_measure_is_shown_as_typed(self) -> None:
        text = "**가** <b> " * MAX_LENGTH
        assert render_text(text) == f"<p>{text.replace('<', '&lt;').replace('>', '&gt;')}</p>\n"
        assert statements(text) == (text,)

    def test_text_of_signs_without_measure_is_shown_as_typed(self) -> None:
        text = "*_" * MAX_SIGNS
        assert render_text(text) == f"<p>{text}</p>\n"
        assert (render_inline(text), plain_text(text), statements(text)) == (text, text, (text,))

    @pytest.mark.parametrize("text", ["> " * 20_000, "- " * 20_000, "*" * 40_000, "“" * 40_000, " " * 40_000 + "|"])
    def test_deep_or_endless_marks_are_taken(self, text: str) -> None:
        assert_harmless(render_text(text))

    # Each of these would never end where a mark's other half is sought again from every place.
    @pytest.mark.parametrize(
        "text",
        [
            *(">" * 5_000, "[" * 20_000, "*" * 20_000, "*a _b " * 3_000, "[](" * 5_000, "[a](b " * 3_000),
            *("a`" * 5_000 + "``" * 5_000, "e.g. " * 4_000, "(" * 20_000, "- ```x\n" * 1_500, "![[]" * 5_000),
            *("| a |\n|-|\n" * 1_000, "# " * 10_000, "&" * 20_000, "<" * 20_000, "\n" * 20_000, "a\n\n" * 3_000),
        ],
    )
    def test_marks_without_measure_cost_no_more_than_text(self, text: str) -> None:
        assert_harmless(render_text(text))
        assert "".join("".join(statements(text)).split()) == "".join(text.split())


class TestPlainText:
    def test_markup_goes_and_words_stay(self) -> None:
        assert plain_text("**굵게** [글](https://a.example) `c|d`\n둘째 줄\n\n- 하나\n- 둘\n\n```\na <b>\n```") == (
            "굵게 글 c|d 둘째 줄\n하나\n둘\na <b>"
        )

    def test_cells_of_a_row_and_nested_items_are_told_apart(self) -> None:
        assert plain_text("| a | `b|c` |\n|-|-|\n| 1 | 2 |\n\n- 가\n  - 나\n\n> # 다") == ("a | b|c\n1 | 2\n가\n나\n다")


class TestLibrary:
    def test_no_character_of_the_bundled_records_is_lost(self) -> None:
        paths = sorted(FIXTURES.glob("*.md"))
        assert len(paths) >= 400
        for path in paths:
            record = parse_record(path.read_bytes(), path.name)
            for text in (
                *(record.title, record.symptom, record.trigger, record.cause, record.detection, record.lesson),
                *(record.contributing_factors + record.actions + record.follow_ups),
            ):
                written = re.sub(r"[`*\s]", "", text)
                numbered = "".join(part.html for block in render_statements(text) for part in block.statements)
                for rendered in (render_text(text), render_item(text), numbered):
                    shown = html.unescape(re.sub("<[^>]*>", "", rendered))
                    assert re.sub(r"[`*\s]", "", shown) == written, path.name
                assert re.sub(r"[`*\s]", "", plain_text(text)) == written, path.name
                assert "".join("".join(statements(text)).split()) == "".join(text.split()), path.name


class TestStatements:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("하나다. 둘이다.\n셋이다.", ("하나다.", "둘이다.", "셋이다.")),
            ("`v1.2.3. a` 와 v1.2.3 을 올렸다. 다음이다.", ("`v1.2.3. a` 와 v1.2.3 을 올렸다.", "다음이다.")),
            ("2024. 3. 2. 에 멈췄다. 3. 4. 에 살아났다.", ("2024. 3. 2. 에 멈췄다.", "3. 4. 에 살아났다.")),
            ("2024. 3월에 멈췄다.", ("2024. 3월에 멈췄다.",)),
            ("“안 된다. 정말이다.” 라고 했다. 떠났다.", ("“안 된다. 정말이다.” 라고 했다.", "떠났다.")),
            ('"No. Never." 가 찍혔다. 껐다.', ('"No. Never." 가 찍혔다.', "껐다.")),
            ("멈췄다(뒤에 적는다. 정말). 다음이다.", ("멈췄다(뒤에 적는다. 정말).", "다음이다.")),
            ("멈췄다. (뜻밖이었다.) 그 뒤다.", ("멈췄다.", "(뜻밖이었다.)", "그 뒤다.")),
            (
                "U.S. Digital Service 를, e.g. 이런 것을 만들었다.",
                ("U.S. Digital Service 를, e.g. 이런 것을 만들었다.",),
            ),
            ("Acme Inc. 가 냈다. Node.js 는 남았다.", ("Acme Inc. 가 냈다.", "Node.js 는 남았다.")),
            ("Yahoo! 가 멈췄다. 끝.", ("Yahoo! 가 멈췄다.", "끝.")),
            ("`a.b`. 다음이다.", ("`a.b`.", "다음이다.")),
            ("*기운 글. 끝.* 은 하나다. 둘이다.", ("*기운 글. 끝.* 은 하나다.", "둘이다.")),
            ("정말? 그렇다! 값은 3.5 다.", ("정말?", "그렇다!", "값은 3.5 다.")),
            ("왔다.그리고 갔다.", ("왔다.", "그리고 갔다.")),
            ("**굵은 글. 끝.** 다음이다.", ("**굵은 글. 끝.** 다음이다.",)),
            (
                "[링크. 둘](https://a.example/b.c) 을 보았다. 끝.",
                ("[링크. 둘](https://a.example/b.c) 을 보았다.", "끝."),
            ),
            ("앞이다.\n- 하나다. 둘이다.\n- 셋\n\n뒤다.", ("앞이다.", "- 하나다. 둘이다.\n- 셋", "뒤다.")),
            ("```\n가다. 나다.\n```\n\n뒤다.", ("```\n가다. 나다.\n```", "뒤다.")),
            ("", ()),
            ("\n \n", ()),
        ],
    )
    def test_sentences_are_split_where_they_end(self, text: str, expected: tuple[str, ...]) -> None:
        assert statements(text) == expected

    def test_numbers_run_through_the_blocks(self) -> None:
        blocks = render_statements("GPU 가 멈췄다. 껐다.\n- 하나\n\n켰다.")
        assert [(block.is_paragraph, [part.number for part in block.statements]) for block in blocks] == [
            (True, [1, 2]),
            (False, [3]),
            (True, [4]),
        ]
        assert blocks[0].statements[0].html == '<span class="josa">GPU 가</span> 멈췄다.'
        assert blocks[1].statements[0].html == "<ul>\n<li>하나</li>\n</ul>\n"

    @given(st.text(alphabet="가다. a1`*()“”\n", max_size=80))
    @settings(max_examples=200, deadline=None)
    def test_no_letter_is_lost(self, text: str) -> None:
        kept = re.sub(r"[^가다a1]", "", "".join(statements(text)))
        assert kept == re.sub(r"[^가다a1]", "", text)


class TestParticles:
    @pytest.mark.parametrize(
        ("rendered", "expected"),
        [
            ("GPU 가 멈췄다", '<span class="josa">GPU 가</span> 멈췄다'),
            ("04:47 부터 100% 는", '<span class="josa">04:47 부터</span> <span class="josa">100% 는</span>'),
            (
                "us-east-1 의, Linear 에서.",
                '<span class="josa">us-east-1 의</span>, <span class="josa">Linear 에서</span>.',
            ),
            ("비어 US-EAST-1 서비스", '비어 <span class="josa">US-EAST-1</span> 서비스'),
            ("https://x.example/us-east-1 us-east-100", "https://x.example/us-east-1 us-east-100"),
            ("<code>GPU 가</code> GPU 가격", "<code>GPU 가</code> GPU 가격"),
            ("<pre><code>GPU 가</code></pre>", "<pre><code>GPU 가</code></pre>"),
            ("<code>GPU</code> 가", "<code>GPU</code> 가"),
            ("averyveryverylongword 가", "averyveryverylongword 가"),
            ("a &amp; 가", "a &amp; 가"),
        ],
    )
    def test_word_and_particle_are_bound_in_text_alone(self, rendered: str, expected: str) -> None:
        assert bind_particles(rendered) == expected

    def test_characters_stay_as_they_were(self) -> None:
        text = "Linear 의 `SQL 을` **API 와** 한국어 12% 는 List&lt;A&gt; 가"
        assert words(bind_particles(render_text(text))) == words(render_text(text))
