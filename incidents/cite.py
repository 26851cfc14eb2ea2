"""Checks the incident citations in any files: `python -m incidents.cite FILES…`, or this one file copied anywhere.

Finds IL-0421, IL-0421@3 and IL-0421@3#detection-2 in text and code, asks the library what they stand for today, and
exits 1 where one is unknown, withdrawn or reworded: for CI. Needs nothing but Python 3.9 and its standard library.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple  # noqa: UP035  # 3.9

# Three digits at least: shorter ones are aeroplanes. Hyphens as editors make them of the plain one count too.
CITATION = re.compile(
    r"(?<![0-9A-Za-z_-])IL[-\u2010-\u2015\u2212](?P<number>[0-9]{3,9})(?![0-9A-Za-z_])"
    r"(?:@(?P<version>[1-9][0-9]{0,8}))?(?:#(?P<anchor>[a-z]+(?:-[a-z]+)*(?:-[1-9][0-9]{0,3})?))?"
)
BATCH = 200
MAX_BYTES = 20_000_000
SKIPPED_FOLDERS = {".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv", ".mypy_cache", ".ruff_cache"}
ATTEMPTS = 5
USER_AGENT = "incident-library-cite/1"


class Found(NamedTuple):
    """A citation where it stands; line and column count from 1."""

    path: str
    line: int
    column: int
    citation: str


class Finding(NamedTuple):
    """What is to be said about a citation. `is_broken` ones make the run fail."""

    found: Found
    state: str
    message: str
    is_broken: bool


class Unreachable(Exception):
    """The library didn't answer, or not as the API does."""


def find_citations(text: str, path: str = "-") -> Iterator[Found]:
    """Yield every citation of a text in its canonical form, in order."""
    for line_number, line in enumerate(text.splitlines(), start=1):
        for match in CITATION.finditer(line):
            citation = "IL-{:04d}".format(int(match["number"]))  # as old Pythons write it
            if match["version"]:
                citation += "@" + match["version"]
            if match["anchor"]:
                citation += "#" + match["anchor"]
            yield Found(path, line_number, match.start() + 1, citation)


def read_files(paths: Sequence[str]) -> Iterator[Tuple[str, str]]:  # noqa: UP006
    """Yield (path, text) of files, of every text file in folders, of standard input for `-`. Raises OSError."""
    for path in paths:
        if path == "-":
            yield path, sys.stdin.buffer.read().decode("utf-8", "replace")
        elif os.path.isdir(path):  # noqa: PTH112
            for folder, folders, names in os.walk(path):
                folders[:] = sorted(name for name in folders if name not in SKIPPED_FOLDERS)
                for name in sorted(names):
                    inner = os.path.join(folder, name)  # noqa: PTH118
                    if os.path.isfile(inner):  # noqa: PTH113
                        data = _read(inner)
                        if b"\0" not in data[:8192]:
                            yield inner, data.decode("utf-8", "replace")
        else:
            yield path, _read(path).decode("utf-8", "replace")


def _read(path: str) -> bytes:
    with open(path, "rb") as file:  # noqa: PTH123
        return file.read(MAX_BYTES)


def ask(library: str, citations: Iterable[str], timeout: float = 30.0) -> Dict[str, Dict[str, Any]]:  # noqa: UP006
    """Return {citation: the API's answer} for distinct citations, 200 at a time. Raises Unreachable."""
    distinct = sorted(set(citations))
    answers: Dict[str, Dict[str, Any]] = {}  # noqa: UP006
    for start in range(0, len(distinct), BATCH):
        batch = distinct[start : start + BATCH]
        query = urllib.parse.urlencode([("id", citation) for citation in batch])
        url = library.rstrip("/") + "/api/v1/citations/?" + query
        for citation, answer in zip(batch, _get(url, timeout)["citations"]):  # noqa: B905  # 3.9 has no strict
            answers[citation] = answer
    return answers


def _get(url: str, timeout: float) -> Dict[str, Any]:  # noqa: UP006
    request = urllib.request.Request(url, headers={"Accept": "application/json", "User-Agent": USER_AGENT})  # noqa: S310
    for attempt in range(1, ATTEMPTS + 1):
        try:
            with urllib.request.urlopen(request, timeout=timeout) as response:  # noqa: S310
                answer = json.loads(response.read().decode("utf-8"))
                if not isinstance(answer, dict) or not isinstance(answer.get("citations"), list):
                    raise Unreachable("이 주소는 사고 사례 라이브러리의 답이 아닙니다: " + url.split("?")[0])
                return answer
        except urllib.error.HTTPError as error:
            if error.code not in (429, 503) or attempt == ATTEMPTS:
                raise Unreachable("라이브러리가 {} 로 답했습니다: {}".format(error.code, url.split("?")[0])) from None
            wait = error.headers.get("Retry-After", "")
            time.sleep(min(60, int(wait) if wait.isdigit() else attempt))
        except (OSError, ValueError) as error:
            raise Unreachable("라이브러리에 닿지 못했습니다: {} ({})".format(url.split("?")[0], error)) from None
    raise Unreachable("라이브러리가 답하지 않습니다: " + url.split("?")[0])


def judge(found: Found, answer: Dict[str, Any]) -> Optional[Finding]:  # noqa: UP006, UP045
    """Return what is to be said about a citation; None where it stands for what it stood for."""
    status, statement = answer["status"], answer.get("statement_status")
    if status == "unknown":
        return Finding(found, "unknown", "라이브러리에 없는 번호입니다.", True)
    if status == "withdrawn":
        reason = answer.get("status_reason") or ""
        return Finding(found, "withdrawn", ("철회된 기록입니다. " + reason).strip(), True)
    if statement == "unknown":
        return Finding(found, "unknown", "그 판이나 그 자리에 문장이 없습니다.", True)
    if statement == "withdrawn":
        return Finding(found, "withdrawn", "이 문장은 기록에서 빠졌습니다: " + _short(answer.get("statement")), True)
    if statement == "reworded":
        now = " → " + _short(answer.get("statement_now")) if answer.get("statement_now") else ""
        message = "고쳐 쓴 문장입니다(지금 판: {}): {}{}".format(
            answer["version"], _short(answer.get("statement")), now
        )
        return Finding(found, "reworded", message, True)
    if status == "merged":
        return Finding(found, "merged", "병합된 기록입니다. 지금의 번호: {}".format(answer["merged_into"]), False)
    return None


def _short(text: Optional[str]) -> str:  # noqa: UP045
    words = " ".join((text or "").split())
    return words if len(words) <= 120 else words[:119] + "…"


def main(arguments: Optional[Sequence[str]] = None) -> int:  # noqa: UP045
    """Run the command and return its exit status: 0 all stand, 1 some don't, 2 it couldn't be told."""
    parser = argparse.ArgumentParser(
        prog="python -m incidents.cite",
        description="파일 속의 사례 인용(IL-0421@3#detection-2)이 지금도 맞는지 확인합니다.",
    )
    parser.add_argument("files", nargs="+", metavar="FILES", help="파일이나 폴더. - 는 표준 입력")
    parser.add_argument("--library", default="http://127.0.0.1:8000", metavar="URL", help="라이브러리의 주소")
    parser.add_argument("--format", choices=("text", "json", "github"), default="text", help="출력의 꼴")
    parser.add_argument("--timeout", type=float, default=30.0, metavar="SECONDS", help="한 번 묻는 데 기다릴 초")
    options = parser.parse_args(arguments)
    try:
        found = [one for path, text in read_files(options.files) for one in find_citations(text, path)]
    except OSError as error:
        print("파일을 읽지 못했습니다: {} ({})".format(error.filename, error.strerror), file=sys.stderr)  # noqa: UP032
        return 2
    try:
        answers = ask(options.library, (one.citation for one in found), options.timeout)
    except Unreachable as error:
        print(error, file=sys.stderr)
        return 2
    findings: List[Finding] = [f for one in found for f in [judge(one, answers[one.citation])] if f]  # noqa: UP006
    write(findings, len(found), len(answers), options.format)
    return 1 if any(finding.is_broken for finding in findings) else 0


def write(findings: Sequence[Finding], places: int, citations: int, form: str) -> None:
    """Print the findings: for people, for programs, or as annotations of a pull request."""
    if form == "json":
        rows = [
            dict(one.found._asdict(), state=one.state, message=one.message, is_broken=one.is_broken) for one in findings
        ]
        print(json.dumps({"places": places, "citations": citations, "findings": rows}, ensure_ascii=False, indent=2))
        return
    for one in findings:
        where, citation = one.found, one.found.citation
        if form == "github":
            level = "error" if one.is_broken else "notice"
            message = (citation + ": " + one.message).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
            print("::{} file={},line={},col={}::{}".format(level, where.path, where.line, where.column, message))  # noqa: UP032
        else:
            print("{}:{}:{}: {} {}: {}".format(where.path, where.line, where.column, citation, one.state, one.message))  # noqa: UP032
    broken = sum(one.is_broken for one in findings)
    print("인용 {}곳, 번호 {}가지, 깨진 것 {}곳".format(places, citations, broken), file=sys.stderr)  # noqa: UP032


if __name__ == "__main__":
    sys.exit(main())
