"""What is found, on every engine: the same documents, the same answers."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Literal

import pytest

from incidents.search import SearchDocument, TermRow, parse_query
from incidents.search.service import SearchService
from incidents.search.whoosh_backend import WhooshBackend
from tests.search.documents import MemorySearch, document, found, shown

Make = Callable[[Iterable[SearchDocument]], SearchService]


@pytest.fixture(params=["memory", "whoosh"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    """Return a function that makes an engine with documents in it."""

    def build(documents: Iterable[SearchDocument]) -> SearchService:
        if request.param == "memory":
            return MemorySearch(documents)
        backend = WhooshBackend(tmp_path / "index")
        backend.rebuild(documents)
        return backend

    return build


def test_every_word_must_be_found(make: Make) -> None:
    search = make(
        [document(1, "인증서가 만료돼 로그인이 막혔다."), document(2, "인증서를 새로 만들었다."), document(3, "로그인")]
    )
    assert found(search, "인증서 로그인") == [1]


@pytest.mark.parametrize(
    "text", ["인증서", "인증서를", "인증서는", "인증서의", "인증서까지", "로그인에서", "인증서를 로그인은"]
)
def test_particles_on_a_query_word_hide_nothing(make: Make, text: str) -> None:
    assert found(make([document(1, "인증서가 만료돼 로그인이 막혔다."), document(2, "정전이 났다.")]), text) == [1]


def test_a_phrase_is_found_in_its_order_only(make: Make) -> None:
    search = make(
        [
            document(1, "연결 풀 고갈로 주문이 멈췄다."),
            document(2, "풀이 마른 것은 연결 때문이 아니라 스레드 고갈 탓이다."),
        ]
    )
    assert found(search, '"연결 풀 고갈"') == [1]
    assert found(search, "연결 풀 고갈") == [1, 2]
    assert found(search, '"고갈') == [1, 2]


@pytest.mark.parametrize(
    ("text", "expected"), [("IT", [1]), ("it", [1]), ("NO", [1]), ("it is not on", [1]), ("NOT IN", [2]), ("the", [])]
)
def test_common_words_are_searched(make: Make, text: str, expected: list[int]) -> None:
    search = make(
        [
            document(1, "IT 팀이 `NO` 로 답했고 `it is not on` 이 떴다."),
            document(2, cause="`WHERE id NOT IN (…)` 가 느렸다."),
        ]
    )
    assert found(search, text) == expected


@pytest.mark.parametrize("text", ["데이터", "데이", "베이스", "복제", "지연", "복제지연"])
def test_every_part_of_a_solid_compound_is_found(make: Make, text: str) -> None:
    assert shown(make([document(1, "데이터베이스복제지연"), document(2, "정전")]), text) == [1]


@pytest.mark.parametrize("text", ["로드", "밸런서", "로드밸런서", "로드 밸런서", "LB"])
def test_a_listed_compound_is_found_by_parts_and_synonyms(make: Make, text: str) -> None:
    assert found(make([document(1, "로드밸런서"), document(2, "정전")]), text) == [1]


@pytest.mark.parametrize("text", ["장애조치", "장애 조치", "장애  조치", "장애\u3000조치"])
def test_spacing_of_compounds_makes_no_difference(make: Make, text: str) -> None:
    search = make(
        [
            document(1, "장애 조치가 늦었다."),
            document(2, "장애조치가 늦었다."),
            document(3, "조치는 없었고 장애는 없었다."),
        ]
    )
    assert shown(search, text)[:2] == [1, 2]


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_composed_and_decomposed_hangul_meet(make: Make, form: Literal["NFC", "NFD"]) -> None:
    decomposed = unicodedata.normalize("NFD", "체크포인트 손상")
    search = make([document(1, decomposed, title=decomposed), document(2, "체크포인트 손상", title="체크포인트 손상")])
    assert found(search, unicodedata.normalize(form, "체크포인트")) == [1, 2]


@pytest.mark.parametrize("text", ["etcd", "ｅｔｃｄ", "３노드", "3노드"])
def test_full_width_letters_and_digits_meet_narrow_ones(make: Make, text: str) -> None:
    search = make([document(1, "ｅｔｃｄ ３노드 가운데 ２노드"), document(2, "etcd 3노드 가운데 2노드")])
    assert found(search, text) == [1, 2]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("k8s", [1, 2]),
        ("쿠버네티스", [1, 2]),
        ("kubernetes", [1, 2]),
        ("failover", [3, 4]),
        ("장애 조치", [4, 3]),
        ("페일오버", [3, 4]),
    ],
)
def test_names_of_one_thing_find_each_other(make: Make, text: str, expected: list[int]) -> None:
    search = make(
        [
            document(1, "쿠버네티스를 올렸다."),
            document(2, "Kubernetes 를 올렸다."),
            document(3, "페일오버"),
            document(4, "장애 조치"),
        ]
    )
    assert sorted(found(search, text)) == sorted(expected)


def test_similar_words_help_ranking_and_make_no_full_match(make: Make) -> None:
    search = make([document(1, "기록을 지웠다."), document(2, "기록을 삭제했다.")])
    result = search.search(parse_query("지우다"))
    assert (result.full.tolist(), result.following(1).tolist()) == ([1], [2])


def test_a_field_label_searches_one_field(make: Make) -> None:
    search = make(
        [document(1, "디스크가 찼다."), document(2, cause="디스크가 낡았다."), document(3, labels=("디스크 고장",))]
    )
    assert found(search, "원인:디스크") == [2]
    assert found(search, "증상: 디스크") == [1]
    assert found(search, "분류:디스크") == [3]


def test_a_minus_excludes(make: Make) -> None:
    search = make([document(1, "정전과 화재"), document(2, "정전"), document(3, "화재")])
    assert found(search, "정전 -화재") == [2]
    assert found(search, "-정전") == [3]
    assert 1 not in shown(search, "정전 없는말입니다 -화재")


def test_a_record_is_found_by_its_id_and_by_its_source(make: Make) -> None:
    search = make(
        [document(421, "가", sources=("https://www.example.org/post/",)), document(422, "IL-0421 과 같은 일이다.")]
    )
    for text in ("IL-0421", "il-0421", "ＩＬ－０４２１", "http://example.org/post"):
        result = search.search(parse_query(text))
        assert (result.full[0], result.jump) == (421, "IL-0421")
    missing = search.search(parse_query("IL-9999"))
    assert (missing.full.tolist(), missing.jump) == ([], None)


def test_letters_inside_a_word_are_found_and_letters_across_words_partly(make: Make) -> None:
    search = make([document(1, "서버전원을 내렸다."), document(2, "데이터가 늘었다.")])
    assert found(search, "전원") == [1]
    straddling = search.search(parse_query("버전"))
    assert (straddling.full.tolist(), straddling.following(0).tolist()) == ([], [1])
    assert shown(search, "이터를") == [2]


def test_letters_inside_other_words_follow_even_many_full_matches(make: Make) -> None:
    search = make([*(document(n, "로그를 보았다.") for n in range(1, 12)), document(12, "로그인이 막혔다.")])
    result = search.search(parse_query("로그"))
    assert (len(result.full), result.following(len(result.full)).tolist()) == (11, [12])


def test_partial_matches_follow_only_below_ten(make: Make) -> None:
    few = make([document(1, "인증서 만료"), document(2, "인증서"), document(3, "만료")])
    result = few.search(parse_query("인증서 만료"))
    assert result.full.tolist() == [1]
    assert sorted(result.following(1).tolist()) == [2, 3]
    assert result.following(10).tolist() == []


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("인증셔", "인증서"),
        ("kubelat", "kubelet"),
        ("etdc", "etcd"),
        ("wkddo", "장애"),
        ("ㄷㅅㅊㅇ", "etcd"),
        ("쿠버네티즈", "쿠버네티스"),
    ],
)
def test_unknown_words_are_corrected_and_said(make: Make, typed: str, meant: str) -> None:
    search = make([document(1, "인증서와 kubelet 과 etcd 와 쿠버네티스에 장애가 났다."), document(2, "정전")])
    result = search.search(parse_query(typed))
    assert (result.interpretation.kind, result.interpretation.query, result.interpretation.original) == (
        "corrected",
        meant,
        typed,
    )
    assert (result.full.tolist(), result.unknown) == ([1], (typed,))
    as_typed = search.search(parse_query(typed, is_as_typed=True))
    assert (as_typed.interpretation.kind, as_typed.interpretation.query) == ("exact", typed)


def test_words_that_nothing_is_near_stay_as_typed(make: Make) -> None:
    result = make([document(1, "인증서")]).search(parse_query("hadoop"))
    assert (result.interpretation.kind, result.full.tolist(), result.unknown) == ("exact", [], ("hadoop",))


def test_ties_are_broken_by_date_then_id(make: Make) -> None:
    search = make(
        [
            document(3, "정전"),
            document(1, "정전"),
            document(2, "정전", sort_date=738_500),
            document(4, "정전", sort_date=1),
        ]
    )
    assert found(search, "정전") == [2, 1, 3, 4]


def test_a_title_weighs_more_than_a_lesson(make: Make) -> None:
    search = make([document(1, "가나다", lesson="정전에 대비한다."), document(2, "가나다", title="정전으로 멈췄다")])
    assert found(search, "정전") == [2, 1]


def test_whole_labels_match_and_aliases_only_help(make: Make) -> None:
    search = make(
        [document(1, "가", labels=("재시도 폭주",)), document(2, "나", aliases=("retry storm",)), document(3, "다")]
    )
    result = search.search(parse_query("재시도 폭주"))
    assert (result.full.tolist(), result.following(1).tolist()) == ([1], [2])


def test_a_heading_that_a_record_shows_finds_it(make: Make) -> None:
    assert found(make([document(1, "가", lesson="나"), document(2, "다")]), "교훈") == [1]


def test_near_vocabulary_says_what_it_finds(make: Make) -> None:
    result = make([document(1, "인증서 만료"), document(2, "TLS 설정")]).search(parse_query("인증서"))
    assert [(near.text, near.count) for near in result.near] == [("TLS", 1), ("만료", 1)]


def test_editors_terms_take_part_at_once(make: Make) -> None:
    search = make([document(1, "전광판이 꺼졌다."), document(2, "정전")])
    rows: list[TermRow] = []
    search.use_terms(lambda: (len(rows), rows))
    assert found(search, "사이니지") == []
    rows.append(TermRow(("사이니지", "전광판")))
    assert found(search, "사이니지") == [1]


def test_a_changed_term_leaves_nothing_of_what_was_remembered(make: Make) -> None:
    """One word's atoms, needs and pairs are kept by the word: they are of its former forms."""
    search = make([document(1, "전광판이 꺼졌다."), document(2, "현수막이 꺼졌다."), document(3, "사이니지가 꺼졌다.")])
    rows: list[tuple[TermRow, ...]] = [(), (TermRow(("사이니지", "전광판")),), (TermRow(("사이니지", "현수막")),), ()]
    seen = []
    for version, given in enumerate(rows):
        search.use_terms(lambda version=version, given=given: (version, given))  # type: ignore[misc]
        seen.append([sorted(found(search, text)) for text in ("사이니지", "사이니지 꺼졌다")])
    assert seen == [[[3], [3]], [[1, 3], [1, 3]], [[2, 3], [2, 3]], [[3], [3]]]


@pytest.mark.parametrize(
    ("relation", "expected"), [("same", [1, 2]), ("alike", [1]), ("near", [1]), ("word", [1]), ("apart", [1])]
)
def test_only_terms_that_are_the_same_make_a_full_match(make: Make, relation: str, expected: list[int]) -> None:
    search = make([document(1, "사이니지가 꺼졌다."), document(2, "전광판이 꺼졌다.")])
    search.use_terms(lambda: (1, [TermRow(("사이니지", "전광판"), relation)]))
    assert found(search, "사이니지") == expected


def test_an_added_word_joins_the_whole_group_of_its_other(make: Make) -> None:
    search = make([document(1, "쿠버네티스 장애"), document(2, "k8s 장애"), document(3, "쿠베르네 장애")])
    search.use_terms(lambda: (1, [TermRow(("쿠베르네", "k8s"))]))
    assert [sorted(found(search, text)) for text in ("쿠베르네", "쿠버네티스", "kubernetes")] == [[1, 2, 3]] * 3


def test_terms_that_ship_can_be_taken_apart(make: Make) -> None:
    search = make([document(1, "쿠버네티스 장애"), document(2, "k8s 장애"), document(3, "kubernetes 장애")])
    assert sorted(found(search, "쿠버네티스")) == [1, 2, 3]
    search.use_terms(lambda: (1, [TermRow(("k8s", "쿠버네티스"), "apart")]))
    assert (sorted(found(search, "쿠버네티스")), sorted(found(search, "k8s"))) == ([1, 3], [2, 3])


def test_a_listed_word_is_found_by_its_letters_however_it_was_cut(make: Make) -> None:
    texts = ("젠드라는", "젠드라라서", "젠드라서버가", "새 젠드라", "젠을 든 라", "젠드 라")
    search = make([document(number, f"{text} 멈췄다") for number, text in enumerate(texts, 1)])
    search.use_terms(lambda: (1, [TermRow(("젠드라",), "word"), TermRow(("젠드라", "zendra"))]))
    for text in ("젠드라", "젠드라를", "젠드라에서는", "zendra"):
        assert (text, sorted(found(search, text))[:4]) == (text, [1, 2, 3, 4])
    assert 5 not in found(search, "젠드라를")
    assert sorted(found(search, "멈췄다 -젠드라")) == [5, 6]
    assert found(search, "제목:젠드라") == []


def test_a_term_is_found_where_a_word_in_it_takes_several_places(make: Make) -> None:
    """재접속 stands at two positions, since 재 and 접속 are words of their own."""
    search = make([document(1, "재접속 폭주가 났다."), document(2, "접속이 폭주했다.")])
    search.use_terms(lambda: (1, [TermRow(("재접속 폭주", "말레우스"))]))
    assert found(search, "말레우스") == [1]


def test_an_empty_library_answers(make: Make) -> None:
    search = make([])
    assert [shown(search, text) for text in ("인증서", "-정전", '"연결 풀"', "인증셔 만료", "IL-0001")] == [
        [],
        [],
        [],
        [],
        [],
    ]


@pytest.mark.parametrize(
    "text", ["(" * 600, "가\x00나", "a\ud800", "🔥", "에서", "ㅋㅂㄴ", "漢字", "x" * 3_000, "가 " * 199, "a-" * 1_500]
)
def test_hostile_queries_are_answered(make: Make, text: str) -> None:
    search = make([document(1, "인증서 🔥"), document(2, "漢字 에서")])
    assert set(shown(search, text)) <= {1, 2}


def test_a_very_long_identifier_is_found(make: Make) -> None:
    token = "a1" * 150
    assert found(make([document(1, f"토큰 `{token}` 이 샜다."), document(2, "정전")]), token) == [1]


def test_a_revision_that_the_index_has_reached_is_not_brought_in_again(tmp_path: Path) -> None:
    asked: list[int] = []

    def read() -> Iterator[SearchDocument]:
        asked.append(1)
        yield document(1, "")

    backend = WhooshBackend(tmp_path / "index")
    backend.rebuild([document(1, "인증서가 만료됐다.")], revision=4)
    backend.update([document(2, "인증서를 잃었다.")], revision=5)
    files = sorted(path.name for path in (tmp_path / "index").rglob("*"))
    backend.update(read(), [1], revision=5)
    assert asked == []
    assert sorted(found(backend, "인증서")) == [1, 2]
    assert sorted(path.name for path in (tmp_path / "index").rglob("*")) == files
    backend.update([], [1], revision=6)
    assert found(backend, "인증서") == [2]
