"""The piece of a record that shows why it was found."""

from __future__ import annotations

import pytest

from incidents.search import RecordText, SearchDocument, parse_query
from incidents.search.snippets import fold_with_offsets
from tests.search.documents import MemorySearch, document


def snippet(item: SearchDocument, text: str) -> tuple[str, str]:
    whole = RecordText(item.id, item.revision, item.title, item.sections)
    _, found = MemorySearch([item]).row_pieces(parse_query(text), [whole])[item.id]
    return found.field, str(found.html)


@pytest.mark.parametrize(("text", "marked"), [("인증서", "인증서"), ("etcd", "ｅｔｃｄ")])
def test_marks_sit_on_the_text_as_written(text: str, marked: str) -> None:
    written = "🔥🔥 cafe\u0301 ㎏ ﬁle ｅｔｃｄ 뒤에 인증서 만료가 왔다."
    field, html = snippet(document(1, written), text)
    assert (field, html) == ("symptom", written.replace(marked, f"<mark>{marked}</mark>"))


def test_a_mark_leaves_the_particle_out() -> None:
    assert snippet(document(1, "인증서가 만료됐다."), "인증서까지")[1] == "<mark>인증서</mark>가 만료됐다."


def test_forms_of_a_verb_and_synonyms_are_marked() -> None:
    assert snippet(document(1, "서버가 멈췄다."), "멈춤")[1] == "서버가 <mark>멈췄</mark>다."
    assert snippet(document(1, "Kubernetes 노드"), "쿠버네티스")[1] == "<mark>Kubernetes</mark> 노드"


def test_the_field_with_most_words_is_shown() -> None:
    item = document(1, "인증서를 썼다.", detection="인증서 만료 경보가 없었다.")
    assert snippet(item, "인증서 만료") == (
        "detection",
        "<mark>인증서</mark> <mark>만료</mark> <mark>경보</mark>가 없었다.",
    ) or snippet(item, "인증서 만료") == ("detection", "<mark>인증서</mark> <mark>만료</mark> 경보가 없었다.")


def test_a_field_named_in_the_query_is_the_one_shown() -> None:
    item = document(1, "디스크가 찼다.", cause="로그가 디스크에 쌓였다.")
    assert snippet(item, "원인:디스크")[0] == "cause"


def test_markup_in_a_record_stays_text() -> None:
    assert snippet(document(1, "<b>인증서</b> & 키"), "인증서")[1] == "&lt;b&gt;<mark>인증서</mark>&lt;/b&gt; &amp; 키"


def test_long_texts_are_cut_at_sentences_around_the_match() -> None:
    text = "앞의 문장은 길고 길다. " * 20 + "인증서가 만료됐다. " + "뒤의 문장도 길고 길다. " * 20
    _, html = snippet(document(1, text), "인증서")
    assert html.startswith("<mark>인증서</mark>가 만료됐다.")
    assert html.endswith(" …")
    assert len(html) < 260


def test_what_closes_a_sentence_is_not_cut_off() -> None:
    text = "“서버가 멈췄다.” 뒤에 다른 말이 길게 이어진다" + " 그리고 또 이어진다" * 20
    assert snippet(document(1, text), "서버")[1] == "“<mark>서버</mark>가 멈췄다.” …"


def test_a_snippet_never_runs_on_into_the_next_field() -> None:
    item = document(1, "앞 항목이다.", cause="인증서가 만료됐다", detection="뒤 항목이다.")
    assert snippet(item, "인증서") == ("cause", "<mark>인증서</mark>가 만료됐다")


def test_a_match_outside_the_text_shows_the_beginning() -> None:
    assert snippet(document(1, "첫 문장이다.", organization="누리상회"), "누리상회") == ("symptom", "첫 문장이다.")


def test_titles_are_marked_whole() -> None:
    search = MemorySearch([document(1, "가")])
    assert str(search.mark(parse_query("정전"), "정전으로 <멈췄다>")) == "<mark>정전</mark>으로 &lt;멈췄다&gt;"


@pytest.mark.parametrize("text", ["abc 가나", "ｅｔｃｄ", "㎏", "ﬁ", "e\u0301", "🔥", "\u1112\u1161\u11ab", "İ"])
def test_offsets_lead_back_to_the_original(text: str) -> None:
    found = fold_with_offsets(text)
    folded, offsets = found.text, found.offsets
    assert len(offsets) == len(folded) + 1
    assert list(offsets) == sorted(offsets)
    assert (offsets[0], offsets[-1]) == (0, len(text))
