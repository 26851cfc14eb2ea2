"""Record text to HTML, plain text and statements: what a reader sees, and what can't pass."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import html as lxml_html

from incidents.markdown_html import (
    MAX_LENGTH,
    bind_particles,
    plain_text,
    render_inline,
    render_item,
    render_statements,
    render_text,
    statements,
)


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
        ],
    )
    def test_emphasis_beside_korean(self, markdown: str, expected: str) -> None:
        assert render_inline(markdown) == expected

    def test_words_like_tags_stay_as_typed(self) -> None:
        text = "로그에는 <host>:<port> 와 List<String>, a<b 가 보였다. `/proc/<pid>/limits`"
        assert words(render_text(text)) == text.replace("`", "")
        assert plain_text(text) == text.replace("`", "")

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


def assert_harmless(rendered: str) -> None:
    for element in elements(rendered).iter():
        assert element.tag in KNOWN_TAGS
        assert set(element.attrib) <= {"href", "rel", "class", "start", "role", "tabindex", "aria-label"}
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

    @pytest.mark.parametrize("text", ["> " * 20_000, "- " * 20_000, "*" * 40_000, "“" * 40_000, " " * 40_000 + "|"])
    def test_deep_or_endless_marks_are_taken(self, text: str) -> None:
        assert_harmless(render_text(text))


class TestPlainText:
    def test_markup_goes_and_words_stay(self) -> None:
        assert plain_text("**굵게** [글](https://a.example) `c|d`\n둘째 줄\n\n- 하나\n- 둘\n\n```\na <b>\n```") == (
            "굵게 글 c|d 둘째 줄\n하나\n둘\na <b>"
        )


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
