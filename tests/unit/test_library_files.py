"""A folder of files, read and checked as one."""

import multiprocessing
import os
from contextlib import closing
from pathlib import Path

import pytest

from incidents import library_check
from incidents.cross_check import Vocabulary, validate_against
from incidents.errors import NotFound, UserError
from incidents.faults import RecordError
from incidents.library_check import check_folder, read_library
from incidents.library_files import find_library
from incidents.records import parse_located
from incidents.taxonomy_file import TaxonomyData, TermData, parse_taxonomy
from tests.unit.record_samples import GOOD

FIXTURES = Path(__file__).parents[2] / "fixtures"
TAXONOMY = (FIXTURES / "taxonomy.yaml").read_text()


def record(number: int, *edits: tuple[str, str]) -> str:
    text = GOOD.replace("IL-9001", f"IL-{number}")
    for old, new in edits:
        if old not in text:
            raise ValueError(old)
        text = text.replace(old, new)
    return text


def write(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
    return folder


def faults(path: Path, **known: object) -> list[str]:
    with pytest.raises(RecordError) as caught:
        read_library(path, **known)  # type: ignore[arg-type]
    return [f"{fault.file}:{fault.line}" for fault in caught.value.faults]


def messages(path: Path) -> list[str]:
    with pytest.raises(RecordError) as caught:
        read_library(path)
    return [str(fault) for fault in caught.value.faults]


def test_bundled_library_is_read_without_a_fault():
    library = read_library(FIXTURES)
    assert [record.id for record in library.records] == sorted(
        file.stem for file in (FIXTURES / "incidents").glob("*.md")
    )
    assert library.taxonomy is not None
    assert library.checks is not None
    assert library.taxonomy == parse_taxonomy(TAXONOMY.encode(), "taxonomy.yaml")
    assert library.checks[0].code == "KC-001"


@pytest.mark.parametrize("folder", ["", "incidents/", "incidents/2024/"])
def test_records_are_found_beside_the_taxonomy_or_in_their_folder(tmp_path, folder):
    write(tmp_path, {"taxonomy.yaml": TAXONOMY, f"{folder}IL-9001.md": record(9001), "README.md": "# 읽어 두기"})
    assert [found.id for found in read_library(tmp_path).records] == ["IL-9001"]


def test_one_file_of_a_library_is_read_alone(tmp_path):
    write(tmp_path, {"taxonomy.yaml": TAXONOMY, "checks.yaml": "checks: []\n", "IL-9001.md": record(9001)})
    assert read_library(tmp_path / "IL-9001.md").records[0].id == "IL-9001"
    assert read_library(tmp_path / "taxonomy.yaml").taxonomy == parse_taxonomy(TAXONOMY.encode(), "taxonomy.yaml")
    assert read_library(tmp_path / "checks.yaml").checks == ()


def test_nothing_to_read_is_told(tmp_path):
    with pytest.raises(NotFound, match="없습니다"):
        read_library(tmp_path / "nowhere")
    with pytest.raises(UserError, match="읽을 것이 없습니다"):
        read_library(tmp_path)
    write(tmp_path, {"notes.txt": "가"})
    with pytest.raises(UserError, match="읽을 수 없는 파일"):
        read_library(tmp_path / "notes.txt")


def test_faults_of_all_files_come_together_by_file_and_line(tmp_path):
    write(
        tmp_path,
        {
            "taxonomy.yaml": TAXONOMY,
            "checks.yaml": "checks:\n- code: KC-1\n",
            "incidents/IL-9001.md": record(9001, ("year: 2024", "year: x"), ("causes: [", "causes: [dns-eror, ")),
            "incidents/IL-9002.md": record(9002),
            "incidents/IL-9003.md": record(9003, ("job-queue", "job-queu"), ("monitoring-gap", "blind-spot")),
            "incidents/IL-9004.md": b"\x00" * 10,
        },
    )
    assert faults(tmp_path) == [
        *["checks.yaml:2"] * 8,
        "incidents/IL-9001.md:5",
        "incidents/IL-9003.md:9",
        "incidents/IL-9003.md:10",
        "incidents/IL-9004.md:1",
    ]


def test_unknown_slug_is_told_with_the_nearest(tmp_path):
    write(
        tmp_path,
        {
            "taxonomy.yaml": TAXONOMY,
            "IL-9001.md": record(
                9001,
                ("causes: [capacity-exhaustion]", "causes: [dns-eror]"),
                ("components: [job-queue]", "components: [redis]"),
                ("factors: [monitoring-gap]", "factors: [zzzzzz]"),
                ("detection_method: job-failure", "detection_method: alarm"),
            ),
        },
    )
    assert messages(tmp_path) == [
        "IL-9001.md:8: 알 수 없는 슬러그입니다: dns-eror (causes). 가까운 것: dns-error, config-error",
        "IL-9001.md:9: 알 수 없는 슬러그입니다: redis (components). 가까운 것: cache",
        "IL-9001.md:10: 알 수 없는 슬러그입니다: zzzzzz (factors). "
        "taxonomy.yaml 의 factors 에 있는 슬러그를 적어 주십시오.",
        "IL-9001.md:11: 알 수 없는 슬러그입니다: alarm (detection_methods). 가까운 것: alert",
    ]


def test_same_id_in_two_files_is_refused_at_the_second(tmp_path):
    write(
        tmp_path,
        {"taxonomy.yaml": TAXONOMY, "incidents/a/IL-9001.md": record(9001), "incidents/b/IL-9001.md": record(9001)},
    )
    assert messages(tmp_path) == [
        "incidents/b/IL-9001.md:2: 같은 ID 의 파일이 둘입니다: IL-9001 (먼저 incidents/a/IL-9001.md). "
        "하나만 남기거나 새 ID 를 주십시오."
    ]


RELATED = ("year: 2024\n", "year: 2024\nrelated:\n  - {id: IL-9002, relation: similar}\n")


def test_named_records_must_be_among_the_files_or_in_the_library(tmp_path):
    merged = "---\nid: IL-9003\nstatus: merged\nmerged_into: IL-9004\n---\n"
    write(tmp_path, {"taxonomy.yaml": TAXONOMY, "IL-9001.md": record(9001, RELATED), "IL-9003.md": merged})
    assert faults(tmp_path) == ["IL-9001.md:7", "IL-9003.md:4"]
    assert len(read_library(tmp_path, known_ids={"IL-9002", "IL-9004"}).records) == 2
    write(tmp_path, {"IL-9002.md": record(9002), "IL-9004.md": record(9004)})
    assert len(read_library(tmp_path).records) == 4


def test_record_named_by_another_but_faulty_is_one_fault_not_two(tmp_path):
    write(
        tmp_path,
        {
            "taxonomy.yaml": TAXONOMY,
            "IL-9001.md": record(9001, RELATED),
            "IL-9002.md": record(9002, ("year: 2024", "year: x")),
        },
    )
    assert faults(tmp_path) == ["IL-9002.md:5"]


def test_checks_are_held_to_vocabulary_and_records(tmp_path):
    checks = (FIXTURES / "checks.yaml").read_text().split("\n- code: KC-002")[0]
    write(tmp_path, {"taxonomy.yaml": TAXONOMY, "checks.yaml": checks.replace("[etcd, ", "[etcdd, ")})
    found = messages(tmp_path)
    assert [message.split(". ")[0].split(": ", 1)[1] for message in found] == [
        "KC-001: 알 수 없는 슬러그입니다: etcdd (components)",
        "KC-001: 없는 기록을 인용합니다: IL-0252",
        "KC-001: 없는 기록을 인용합니다: IL-0294",
    ]


def test_slugs_of_the_library_count_too(tmp_path):
    write(tmp_path, {"IL-9001.md": record(9001)})
    assert len(read_library(tmp_path, taxonomy=parse_taxonomy(TAXONOMY.encode(), "t")).records) == 1
    little = TaxonomyData(causes=(TermData("dns-error", "DNS"),))
    assert faults(tmp_path, taxonomy=little) == ["IL-9001.md:8", "IL-9001.md:9", "IL-9001.md:10", "IL-9001.md:11"]
    write(tmp_path, {"taxonomy.yaml": TAXONOMY})
    assert len(read_library(tmp_path, taxonomy=little).records) == 1


def test_broken_taxonomy_does_not_make_every_slug_a_fault(tmp_path):
    write(tmp_path, {"taxonomy.yaml": TAXONOMY + "  x: {", "IL-9001.md": record(9001)})
    assert [line.split(":")[0] for line in faults(tmp_path)] == ["taxonomy.yaml"]


@pytest.mark.parametrize("name", ["incidents/IL-9001.markdown", "incidents/IL-9001.txt", "IL-9001.bak", "taxonomy.yml"])
def test_file_that_would_be_passed_over_is_told(tmp_path, name):
    write(tmp_path, {"IL-9002.md": record(9002), name: record(9001)})
    assert faults(tmp_path) == [f"{name}:1"]


def test_hidden_files_are_passed_over(tmp_path):
    write(tmp_path, {"IL-9002.md": record(9002), ".DS_Store": b"\x00", "incidents/.IL-9001.md.swp": b"\x00"})
    assert len(read_library(tmp_path).records) == 1


def test_name_in_other_letters_is_a_fault(tmp_path):
    write(tmp_path, {"il-9001.md": record(9001)})
    assert faults(tmp_path) == ["il-9001.md:2"]


def test_unreadable_files_are_faults(tmp_path):
    write(tmp_path, {"IL-9001.md": record(9001)})
    os.mkfifo(tmp_path / "IL-9002.md")
    (tmp_path / "IL-9003.md").symlink_to(tmp_path / "nowhere.md")
    assert faults(tmp_path) == ["IL-9002.md:1", "IL-9003.md:1"]


def test_large_file_is_not_read_whole(tmp_path):
    file = tmp_path / "IL-9001.md"
    with file.open("wb") as stream:
        stream.truncate(3_000_000_000)
    (line,) = messages(tmp_path)
    assert line.startswith("IL-9001.md:1: 파일이 너무 큽니다")


def test_records_are_given_out_as_they_were_checked(tmp_path):
    write(tmp_path, {"taxonomy.yaml": TAXONOMY, **{f"IL-{number}.md": record(number) for number in range(9001, 9006)}})
    steps: list[None] = []
    checked = check_folder(find_library(tmp_path), on_file=lambda: steps.append(None))
    assert (len(checked.folder), len(steps)) == (5, 5)
    (tmp_path / "IL-9002.md").write_text("바뀌었다")
    assert [given.id for given in checked.records()] == [f"IL-{number}" for number in range(9001, 9006)]
    assert [given.id for given in checked.records({"IL-9004", "IL-9002"})] == ["IL-9002", "IL-9004"]
    checked.close()


def test_many_files_are_read_on_all_cores_as_they_are_one_by_one(tmp_path, monkeypatch):
    texts: dict[str, str | bytes] = {f"IL-{n}.md": record(n) for n in range(9001, 9001 + library_check.WORTH_IT + 60)}
    good = write(tmp_path / "good", {"taxonomy.yaml": TAXONOMY, **texts})
    texts |= {"IL-9003.md": "글", "IL-9120.md": record(9120, ("job-queue", "jobs")), "IL-9200.md": record(9003)}
    bad = write(tmp_path / "bad", {"taxonomy.yaml": TAXONOMY, **texts})
    steps: list[None] = []
    with closing(check_folder(find_library(good), on_file=lambda: steps.append(None))) as checked:
        spread = list(checked.records_with_texts())
    told = messages(bad)
    assert len(steps) == len(spread) == len(texts)
    monkeypatch.setattr(library_check, "WORTH_IT", 10_000)
    with closing(check_folder(find_library(good))) as checked:
        assert list(checked.records_with_texts()) == spread
    assert messages(bad) == told
    assert [message.partition(":")[0] for message in told] == ["IL-9003.md", "IL-9120.md", "IL-9200.md"]
    assert multiprocessing.active_children() == []


def test_faults_end_at_a_number_that_helps(tmp_path, monkeypatch):
    monkeypatch.setattr(library_check, "MAX_FAULTS", 3)
    write(tmp_path, {f"IL-{number}.md": "글" for number in range(9001, 9011)})
    assert faults(tmp_path) == ["IL-9001.md:1", "IL-9002.md:1", "IL-9003.md:1"]


def test_validate_against_takes_records_in_memory():
    taxonomy = parse_taxonomy(TAXONOMY.encode(), "taxonomy.yaml")
    good = parse_located(record(9001).encode(), "IL-9001.md")
    wrong = parse_located(record(9002, ("job-queue", "jobs")).encode(), "IL-9002.md")
    assert validate_against([good], taxonomy) == []
    assert [(fault.file, fault.line) for fault in validate_against([good, wrong], taxonomy)] == [("IL-9002.md", 9)]


def test_nearest_goes_by_spelling_label_alias_and_parts():
    vocabulary = Vocabulary.of(parse_taxonomy(TAXONOMY.encode(), "taxonomy.yaml"))
    assert vocabulary.nearest("components", "kubelet") == ("k8s-node",)
    assert vocabulary.nearest("causes", "dns")[0] == "dns-error"
    assert vocabulary.nearest("factors", "canary")[0] == "no-staged-rollout"
