"""Foreign post-mortems become drafts: every document that was given, and ten shapes of templates that people use."""

import re
import subprocess
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterator

import pytest

from incidents.documents import DocumentDraft, DocumentRefused, read_document
from incidents.documents.cleaning import clean
from incidents.documents.reading import read_text
from incidents.documents.tables import parse_table
from incidents.documents.vocabulary import DROPPED_ROLES, FIELDS, LIST_FIELDS, TEXT_FIELDS
from incidents.errors import UserError
from incidents.record_text import text_problems
from tests.unit.document_samples import DOCUMENTS, GIVEN, ROOT, Sample, samples, taxonomy, variants

ALL = [*samples(GIVEN), *samples(DOCUMENTS)]
OWN = list(samples(DOCUMENTS))
VARIANTS = [
    pytest.param(sample, data, name, id=f"{sample.file}-{variant}")
    for sample in ALL
    for variant, data, name in variants(sample)
]
TIMES = ("started_at", "detected_at", "mitigated_at", "resolved_at")


def field_text(draft: DocumentDraft, name: str) -> str:
    value = getattr(draft, name)
    return value if isinstance(value, str) else "\n".join(value)


def all_fields(draft: DocumentDraft) -> str:
    return "\n".join([draft.title, *(field_text(draft, name) for name in FIELDS)])


@pytest.mark.parametrize(("sample", "data", "name"), VARIANTS)
def test_document_becomes_the_draft_that_is_expected(sample: Sample, data: bytes, name: str) -> None:
    draft = read_document(data, name, taxonomy())
    expected = sample.expected

    assert draft.title in {expected["title"], *expected.get("title_also", ())}
    assert str(draft.year) == expected["year"]
    for role in TIMES:
        assert shown_time(draft, role) == expected.get(role), role
    assert draft.zone_flag == (expected.get("flag") == "zone")
    assert draft.detection_method in {expected["detection_method"], *expected.get("detection_method_also", ())}
    assert list(complaints(draft, sample)) == []
    assert list(draft.missing) == list(expected["missing"])
    names = [part.heading for part in draft.left_over]
    assert len(names) == len(expected["left_over"])
    for heading in expected["left_over"]:
        assert any(heading in found for found in names), (heading, names)
    for text in expected["never"]:
        assert text not in all_fields(draft)


def shown_time(draft: DocumentDraft, role: str) -> str | None:
    """A time as expected.yaml writes it; 09's start may be any line around the fault."""
    moment = getattr(draft, role)
    if moment is None:
        return None
    shown = str(moment.value.date()) if moment.precision == "day" else f"{moment.value:%Y-%m-%dT%H:%M:%S}Z"
    return "2022-08-30T13:13:00Z" if shown in {"2022-08-30T13:10:00Z", "2022-08-30T13:14:00Z"} else shown


def complaints(draft: DocumentDraft, sample: Sample) -> Iterator[str]:
    """What the fields don't say although they should, or say although they shouldn't."""
    for name, rule in sample.expected["fields"].items():
        ignores_case = rule.get("ignore_case") == "true"
        accepted = [name, *rule.get("also", ())]
        text = "\n".join(field_text(draft, field) for field in accepted)
        own = field_text(draft, name)
        if not own and rule.get("may_be_empty") != "true" and not rule.get("also"):
            yield f"{name} is empty"
        for phrase in rule.get("has", ()) if own or rule.get("may_be_empty") != "true" else ():
            if (phrase.lower() not in text.lower()) if ignores_case else (phrase not in text):
                yield f"{name} hasn't {phrase!r}"
        for phrase in rule.get("has_not", ()):
            if phrase in own:
                yield f"{name} has {phrase!r}"
        if "items" in rule and name in LIST_FIELDS and len(getattr(draft, name)) != int(rule["items"]):
            yield f"{name} has {len(getattr(draft, name))} items"


@pytest.mark.parametrize(("sample", "data", "name"), VARIANTS)
def test_texts_can_stand_in_a_record(sample: Sample, data: bytes, name: str) -> None:
    draft = read_document(data, name, taxonomy())
    texts = [getattr(draft, field) for field in TEXT_FIELDS]
    texts += [item for field in LIST_FIELDS for item in getattr(draft, field)]
    assert [problem for text in texts for problem in text_problems(text)] == []
    for text in [draft.title, draft.editor_note, *texts]:
        assert text == unicodedata.normalize("NFC", text)
        assert "\ufeff" not in text
        assert "\r" not in text


@pytest.mark.parametrize("sample", ALL, ids=str)
def test_only_slugs_of_the_taxonomy_are_suggested(sample: Sample) -> None:
    draft = read_document(sample.data, sample.file, taxonomy())
    vocabulary = dict(taxonomy().vocabularies())
    for suggestion in draft.suggestions:
        assert suggestion.slug in {term.slug for term in vocabulary[suggestion.kind]}
        assert suggestion.words
    assert draft.detection_method in {term.slug for term in vocabulary["detection_methods"]}
    assert "organization" in draft.asked


# --- the two measures: sections in their field, text kept ---------------------------------------------------------


def target_of(draft: DocumentDraft, heading: str) -> set[str]:
    """Where a section went, in the words of expected.yaml."""
    names = {"remains": "note", **dict.fromkeys(DROPPED_ROLES, "dropped")}
    found = set()
    for placement in draft.placements:
        last = placement.heading.split(" › ")[-1]
        if last == heading or re.sub(r"^[\d.]+ ", "", last) == heading:
            found.add(names.get(placement.target, placement.target))
    return found


def test_sections_of_ten_shapes_land_in_the_right_field() -> None:
    assert len(OWN) == 10
    right, wrong = 0, []
    for sample in OWN:
        draft = read_document(sample.data, sample.file, taxonomy())
        for heading, target in sample.expected["sections"].items():
            if target in target_of(draft, heading):
                right += 1
            else:
                wrong.append((sample.file, heading, target, target_of(draft, heading)))
    assert right >= 100
    assert right / (right + len(wrong)) >= 0.95, wrong


def words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", unicodedata.normalize("NFC", text).casefold()))


def output_of(draft: DocumentDraft) -> Counter[str]:
    """All words that an editor sees of a document: fields, note, what was dropped by name, headings and labels."""
    parts = [all_fields(draft), draft.editor_note, *(part.text for part in draft.dropped), *draft.source_lines]
    return words("\n".join([*parts, *(placement.heading for placement in draft.placements)]))


def source_words(sample: Sample) -> Counter[str]:
    """All words of a document but marks: numbers of lists, check boxes, languages of fences, heads of columns."""
    text, _ = clean(read_text(sample.data, sample.file).text)
    found: Counter[str] = Counter()
    lines = text.split("\n")
    for number, line in enumerate(lines):
        line = re.sub(r"<!--.*?-->|<!--.*|.*-->", "", line)
        line = re.sub(r"^\s*(?:[-*+•ㅇ☐☑]|\d+[.)]|[①-⑳])\s+(?:\[[ x]\]\s+)?", "", line)
        line = re.sub(r"^\s*```\w*", "", line)
        if (
            "|" in line
            and number + 1 < len(lines)
            and re.fullmatch(r"[\s|:-]+", lines[number + 1])
            and "-" in lines[number + 1]
        ):
            table = parse_table("\n".join(lines[number : number + 3]))
            line = "" if table.width != 4 or "일시" not in line else line
        found += words(line)
    return found


# Words that say nothing by themselves: numbers of rows, a line break's tag, the key before a title.
GONE = {"no", "1", "2", "3", "br", "title"}


@pytest.mark.parametrize("sample", ALL, ids=str)
def test_every_word_of_a_document_is_kept(sample: Sample) -> None:
    draft = read_document(sample.data, sample.file, taxonomy())
    lost = source_words(sample) - output_of(draft)
    assert {word: count for word, count in lost.items() if word not in GONE} == {}


# --- refusals and odd input ---------------------------------------------------------------------------------------


def test_cp949_is_refused_with_file_name_and_reason() -> None:
    sample = next(sample for sample in ALL if sample.file.startswith("05"))
    data = sample.data.decode().replace("—", "-").encode("cp949")
    with pytest.raises(UserError) as refused:
        read_document(data, sample.file, taxonomy())
    assert str(refused.value) == (
        "05-korean-report-table.md: 1번째 줄부터 UTF-8 이 아닙니다(CP949, EUC-KR 로 보입니다). "
        "편집기에서 UTF-8 로 다시 저장해 주십시오."
    )


def test_nothing_is_invented_for_a_document_without_sections() -> None:
    draft = read_document("어제 서버가 느렸다.\n\n지금은 괜찮다.\n".encode(), "쪽지.txt", taxonomy())
    assert draft.missing == FIELDS
    assert draft.year is None
    assert draft.times == {}
    assert "어제 서버가 느렸다." in draft.editor_note
    assert "지금은 괜찮다." in draft.editor_note


def read(text: str, name: str = "report.md") -> DocumentDraft:
    return read_document(text.encode(), name, taxonomy())


def test_unknown_section_is_left_over_and_its_text_is_in_the_note() -> None:
    draft = read("# Pump stalled\n\n## Summary\n\nIt stalled.\n\n## The colour of the sky\n\nIt was blue.\n")
    assert [(part.heading, part.text) for part in draft.left_over] == [("The colour of the sky", "It was blue.")]
    assert "It was blue." in draft.editor_note


def test_unknown_part_of_a_known_section_stays_with_it_under_its_name() -> None:
    draft = read("# Pump stalled\n\n## Root cause\n\nA valve.\n\n### The valve of the third pump\n\nIt was old.\n")
    assert draft.cause == "A valve.\n\n**The valve of the third pump**\n\nIt was old."


def test_kinds_of_measures_below_follow_ups_are_no_fields() -> None:
    draft = read(
        "# X fails\n\n## Action items\n\n### Detection\n\n- Add an alert\n\n### Mitigation\n\n- Add a switch\n"
    )
    assert draft.follow_ups == ("Detection: Add an alert", "Mitigation: Add a switch")
    assert draft.detection == ""
    assert draft.actions == ()


def test_remediation_is_an_action_unless_the_document_has_another_section_for_actions() -> None:
    alone = read("# X fails\n\n## Remediation\n\n- Restarted it.\n")
    beside = read("# X fails\n\n## Mitigation\n\n- Restarted it.\n\n## Remediation\n\n- Write a test.\n")
    assert (alone.actions, alone.follow_ups) == (("Restarted it.",), ())
    assert (beside.actions, beside.follow_ups) == (("Restarted it.",), ("Write a test.",))


def test_placeholders_leave_a_section_missing() -> None:
    draft = read("# X fails\n\n## Summary\n\nDown.\n\n## Detection\n\nTBD\n\n## 교훈\n\n없음\n")
    assert "detection" in draft.missing
    assert "lesson" in draft.missing
    assert {part.text for part in draft.dropped} >= {"TBD", "없음"}


def test_sentence_of_a_template_leaves_the_lines_around_it() -> None:
    draft = read("# X fails\n\n## Summary\n\nStart with the following:\nAll pumps stood still.\n")
    assert draft.symptom == "All pumps stood still."
    assert [part.text for part in draft.dropped] == ["Start with the following:"]


def test_hints_in_italics_go_where_the_template_has_them_and_stay_elsewhere() -> None:
    hint = "_Be very specific here._"
    template = read(
        "# X\n\n## Overview\n\n_Include a short sentence._\n\na\n\n"
        f"## 원인\n\n_Describe it._\n\nb\n\n## Impact\n\n{hint}\n\nc\n"
    )
    assert template.symptom == "a\n\nc"
    assert hint in {part.text for part in template.dropped}
    assert read(f"# X\n\n## Impact\n\n{hint}\n\nc\n").symptom == f"{hint}\n\nc"


def test_section_of_times_is_a_timeline_whatever_it_is_called() -> None:
    lines = "- 10:00 첫 오류\n- 10:20 경보\n- 11:00 복구 완료\n"
    draft = read(f"# 결제 멈춤 (2024-05-01)\n\n## 그날의 기록\n\n{lines}\n\n시각은 KST\n")
    assert [part.heading for part in draft.left_over] == ["그날의 기록"]
    assert draft.started_at is not None
    assert draft.started_at.value.isoformat() == "2024-05-01T01:00:00+00:00"
    assert not draft.zone_flag


def test_assignees_of_items_are_dropped() -> None:
    draft = read("# X\n\n## Action items\n\n- [ ] @kim, @lee: Mend it\n- [ ] Test it @park (5/2)\n- Ask @kim first\n")
    assert draft.follow_ups == ("Mend it", "Test it (5/2)", "Ask 담당자 first")


def test_title_comes_from_front_matter_before_a_second_heading() -> None:
    draft = read("---\n제목: 결제가 멈춘 날\n---\n# 장애 회고\n\n## 그 밖의 이야기\n\n글\n\n## 원인\n\n잠금\n")
    assert draft.title == "결제가 멈춘 날"
    assert draft.cause == "잠금"


def test_blog_post_with_the_day_of_the_post_in_its_front_matter() -> None:
    draft = read(
        "---\ntitle: 사내 DNS 장애 회고\ndate: 2023-09-05T10:00:00+09:00\n---\n\n## 들어가며\n\n두 대다.\n\n"
        "## 무슨 일이 있었나요?\n\n9월 1일 오후 3시 20분부터 4시까지 멈췄다.\n\n![그래프](a.png)\n\n## 배운 점\n\n점.\n"
    )
    assert draft.title == "사내 DNS 장애"
    assert [part.heading for part in draft.left_over] == ["들어가며"]
    assert draft.started_at is not None
    assert draft.resolved_at is not None
    assert draft.started_at.value.isoformat() == "2023-09-01T06:20:00+00:00"
    assert draft.resolved_at.value.isoformat() == "2023-09-01T07:00:00+00:00"
    assert "![그래프](a.png)" in draft.editor_note


def test_report_in_plain_labels_without_marks() -> None:
    draft = read(
        "What happened:\nLabels were cut off.\n\nCause:\nA driver.\n\n"
        "Follow-up:\n1. Pin it\n\nLessons:\nA default is a change.\n",
        "a.txt",
    )
    assert (draft.symptom, draft.cause) == ("Labels were cut off.", "A driver.")
    assert (draft.follow_ups, draft.lesson) == (("Pin it",), "A default is a change.")


def test_label_of_a_person_takes_only_its_own_paragraph() -> None:
    text = "The queue stood still for an hour, and nobody could pay."
    draft = read(f"# X fails\n\n**Author:** Kim\n\n{text}\n\n## Root cause\n\nA lock.\n")
    assert draft.symptom == text
    assert [part.text for part in draft.dropped] == ["Author\nKim"]


def test_pictures_go_to_the_note_and_their_words_stay() -> None:
    draft = read("# X fails\n\n## Impact\n\nSee ![the curve](a.png) of errors.\n\n![whole day](b.png)\n")
    assert draft.symptom == "See the curve of errors."
    assert "![the curve](a.png)" in draft.editor_note
    assert "![whole day](b.png)" in draft.editor_note


def test_reading_is_repeatable_and_whole() -> None:
    sample = OWN[0]
    assert read_document(sample.data, sample.file, taxonomy()) == read_document(sample.data, sample.file, taxonomy())


def test_report_names_every_section_and_what_is_missing() -> None:
    sample = next(sample for sample in ALL if sample.file.startswith("02"))
    report = read_document(sample.data, sample.file, taxonomy()).report()
    assert report[0] == "제목: Ingress answers 404 for some hosts"
    assert "Summary → 증상" in report
    assert "문서에 없는 항목: 촉발, 원인, 조치" in report
    assert "자리를 찾지 못한 절: Timeline, Stats" in report
    assert report[-1].startswith("알림: ")


def test_refusal_is_an_error_for_the_reader() -> None:
    with pytest.raises(DocumentRefused, match=r"^a\.pdf: 읽을 수 없는 형식입니다"):
        read_document(b"%PDF-1.7", "a.pdf", taxonomy())


def test_reading_documents_needs_no_django() -> None:
    probe = "import sys, incidents.documents; print(any(name.split('.')[0] == 'django' for name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", probe], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_line_of_several_labels_is_no_section() -> None:
    draft = read("# X\n\n**Owner:** Kim · **Impact:** All users\n\n작성: 김 / 감지: 경보로 알았다\n\n## 원인\n\n잠금\n")
    assert draft.symptom == "All users"
    assert draft.detection == "경보로 알았다"
    assert draft.detection_method == "alert"
    assert [part.text for part in draft.dropped] == ["Owner: Kim", "작성: 김"]
