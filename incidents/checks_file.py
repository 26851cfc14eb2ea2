"""The checks as a file: checks.yaml ↔ CheckData. Pure.

The canonical form keeps the comments below, names each area once, and gives every sentence of risk and pass a line.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from incidents import yaml_nodes
from incidents.faults import FaultList
from incidents.plain_text import canonical_line, canonical_text, decode
from incidents.yaml_fields import FieldReader
from incidents.yaml_nodes import Node, quoted, read_yaml, write_scalar

MAX_BYTES = 20_000_000
MAX_CHECKS = 20_000
MAX_TITLE_CHARS = 120
MAX_AREA_CHARS = 60
MAX_TEXT_CHARS = 20_000
MAX_WHY_CHARS = 400
MAX_COMPONENTS = 5
MAX_FACTORS = 3
MAX_INCIDENTS = 500
SEVERITIES = ("high", "medium", "low")

CODE_PATTERN = re.compile(r"KC-[0-9]{3,9}\Z")

_KEYS = ("code", "title", "area", "components", "factors", "severity", "risk", "look", "pass", "incidents")
_REQUIRED = ("code", "title", "area", "components", "severity", "risk", "look", "pass")
_CITATION_KEYS = ("id", "why")
_SENTENCE_END = re.compile(r"(?<=[.?!]) +")

_HEADER = """\
# 점검 항목: 쿠버네티스·GPU 클러스터와 그 주변을 읽기만 하며 살피는 점검기가 찾는 틈.
# 항목마다 왜 보는지를 이 라이브러리의 공개 사례로 댄다. 사례가 없는 항목은 빈 목록으로 두어 빈틈임을 드러낸다.
#
# code:       KC-001 부터 차례로. 한번 쓴 코드는 바꾸지도 다시 쓰지도 않으며, 항목을 없애도 번호를 메우지 않는다
# title:      통과했을 때 참인 문장 하나 (15–60자)
# area:       목록에서 묶는 이름
# components: taxonomy.yaml 의 components 슬러그, 주된 것부터
# factors:    이 점검이 막으려는 기여 요인. taxonomy.yaml 의 factors 슬러그 0–3개
# severity:   막으려는 사고의 크기. high 는 전면 장애·데이터 유실·침해·며칠 치 학습의 손실, \
medium 은 부분 장애나 늦은 감지·복구, low 는 원인 찾기와 안내의 지연
# risk:       무엇이 왜 잘못되나
# look:       어떻게 보나 (Markdown). 읽기만 하는 명령과 조회만 쓴다. 대문자 이름(NAME, NS, HOST …)은 자기 값으로 바꾼다
# pass:       통과 기준. 잴 수 있는 한 문장
# incidents:  근거가 되는 사례. id 는 기록의 ID, why 는 그 기록의 어떤 사실이 근거인지 한 문장
checks:
"""


@dataclass(frozen=True, slots=True)
class CheckIncidentData:
    """A record that a check cites, and which fact of it is the reason."""

    id: str
    why: str


@dataclass(frozen=True, slots=True)
class CheckData:
    """A thing to look at, read-only. `risk` and `pass_` are paragraphs of text, `look` is Markdown."""

    code: str
    title: str
    area: str
    components: tuple[str, ...]
    factors: tuple[str, ...]
    severity: str
    risk: str
    look: str
    pass_: str
    incidents: tuple[CheckIncidentData, ...] = ()


@dataclass(frozen=True, slots=True)
class LocatedChecks:
    """Checks with their file and lines, by "KC-001", "KC-001.components.0", "KC-001.incidents.0"."""

    checks: tuple[CheckData, ...]
    file: str
    lines: Mapping[str, int] = field(default_factory=dict)

    def line(self, key: str) -> int:
        """Return the line of a value, 1 where it isn't known."""
        return self.lines.get(key, 1)


def parse_checks(data: bytes, filename: str) -> tuple[CheckData, ...]:
    """Return the checks that a file holds, in its order. Raises RecordError with every fault that was found."""
    return parse_located_checks(data, filename).checks


def parse_located_checks(data: bytes, filename: str) -> LocatedChecks:
    """Return the checks with their lines, as parse_checks does. Raises RecordError."""
    faults = FaultList(filename)
    text = decode(data, faults, limit=MAX_BYTES)
    reader = _CheckReader(faults)
    tree = read_yaml(text, faults) if text is not None else None
    checks: list[CheckData] = []
    if isinstance(tree, yaml_nodes.Mapping):
        values = reader.known(tree, ("checks",))
        for entry, line in reader.entries("checks", values.get("checks"), _KEYS, MAX_CHECKS):
            checks.append(reader.check(entry, line))
    if (not isinstance(tree, yaml_nodes.Mapping) or "checks" not in tree.keys) and not faults.faults:
        faults.add(1, "점검 항목의 꼴이 아닙니다. `checks:` 아래에 `- code: KC-001` 처럼 적어 주십시오.")
    faults.raise_if_any()
    return LocatedChecks(tuple(checks), filename, reader.lines)


class _CheckReader(FieldReader):
    def check(self, values: Mapping[str, Node], line: int) -> CheckData:
        self.need("checks", values, _REQUIRED, line)
        code = self.code(values.get("code"), line)
        if (node := values.get("components")) == yaml_nodes.Sequence((), node.line if node else 0):
            self.fault("components", "components: 하나 이상 적어 주십시오.", line)
        return CheckData(
            code=code,
            title=self.line_of_text("title", values.get("title"), MAX_TITLE_CHARS),
            area=self.line_of_text("area", values.get("area"), MAX_AREA_CHARS),
            components=self.slugs("components", values.get("components"), MAX_COMPONENTS, prefix=f"{code}."),
            factors=self.slugs("factors", values.get("factors"), MAX_FACTORS, prefix=f"{code}."),
            severity=self.choice("severity", values.get("severity"), SEVERITIES, default=""),
            risk=canonical_paragraphs(self.text("risk", values.get("risk"), MAX_TEXT_CHARS)),
            look=canonical_look(self.text("look", values.get("look"), MAX_TEXT_CHARS)),
            pass_=canonical_paragraphs(self.text("pass", values.get("pass"), MAX_TEXT_CHARS)),
            incidents=self.incidents(code, values.get("incidents")),
        )

    def code(self, node: Node | None, line: int) -> str:
        scalar = self.scalar("code", node)
        if scalar is None:
            return ""
        code = scalar.text
        if not CODE_PATTERN.match(code):
            self.fault("code", f"code: 코드의 꼴이 아닙니다: {code[:40]}. KC-001 처럼 적어 주십시오.", scalar.line)
            return ""
        if code in self.lines:
            advice = "새 항목에는 쓴 적 없는 코드를 주십시오."
            self.fault("code", f"같은 코드가 두 번 있습니다: {code} (먼저 {self.lines[code]}행). {advice}", line)
        self.lines.setdefault(code, scalar.line)
        return code

    def incidents(self, code: str, node: Node | None) -> tuple[CheckIncidentData, ...]:
        cited: list[CheckIncidentData] = []
        for values, line in self.entries("incidents", node, _CITATION_KEYS, MAX_INCIDENTS):
            self.need("incidents", values, _CITATION_KEYS, line)
            incident = CheckIncidentData(
                id=self.record_id("incidents", values.get("id")),
                why=self.line_of_text("why", values.get("why"), MAX_WHY_CHARS),
            )
            if incident.id and any(incident.id == other.id for other in cited):
                self.fault("incidents", f"같은 기록을 두 번 인용합니다: {incident.id}. 하나만 남겨 주십시오.", line)
            self.lines[f"{code}.incidents.{len(cited)}"] = line
            cited.append(incident)
        return tuple(cited)


def canonical_paragraphs(text: str) -> str:
    """Return a text with single spaces for tabs and between sentences, and no white space at the ends of its lines."""
    lines = (
        " ".join(_SENTENCE_END.split(line.strip())) for line in canonical_text(text.replace("\t", " ")).split("\n")
    )
    return "\n".join(lines).strip()


def canonical_look(text: str) -> str:
    """Return a Markdown text that can stand in a YAML block: tabs as four spaces, none before the first word."""
    return canonical_text(text.expandtabs(4)).lstrip()


def canonical_check(check: CheckData) -> CheckData:
    """Return a check as it comes back from its own file."""
    return CheckData(
        code=check.code,
        title=canonical_line(check.title),
        area=canonical_line(check.area),
        components=check.components,
        factors=check.factors,
        severity=check.severity,
        risk=canonical_paragraphs(check.risk),
        look=canonical_look(check.look),
        pass_=canonical_paragraphs(check.pass_),
        incidents=tuple(CheckIncidentData(cited.id, canonical_line(cited.why)) for cited in check.incidents),
    )


def format_checks(checks: Iterable[CheckData]) -> str:
    """Return the canonical text of the checks, ending in one line feed."""
    parts = [_HEADER]
    area = None
    for check in map(canonical_check, checks):
        if check.area != area:
            parts.append(f"\n# ── {check.area} ──\n")
            area = check.area
        parts.append(_format_check(check))
    return "".join(parts)


def _format_check(check: CheckData) -> str:
    lines = [
        "",
        f"- code: {check.code}",
        f"  title: {write_scalar(check.title)}",
        f"  area: {write_scalar(check.area)}",
        f"  components: [{', '.join(map(_flow, check.components))}]",
        f"  factors: [{', '.join(map(_flow, check.factors))}]",
        f"  severity: {check.severity}",
        *_folded("risk", check.risk),
        *_literal("look", check.look),
        *_folded("pass", check.pass_),
        "  incidents:" if check.incidents else "  incidents: []",
        *(f"  - {{id: {cited.id}, why: {quoted(cited.why)}}}" for cited in check.incidents),
        "",
    ]
    return "\n".join(lines)


def _folded(key: str, text: str) -> list[str]:
    """Return a folded block, a line for each sentence; a line break of the text is an empty line more."""
    lines = [f"  {key}: >-"]
    for number, paragraph in enumerate(text.split("\n")):
        if number:
            lines.append("")
        lines.extend(f"    {sentence}" for sentence in _SENTENCE_END.split(paragraph) if sentence)
    return lines


def _literal(key: str, text: str) -> list[str]:
    return [f"  {key}: |-", *(f"    {line}" if line else "" for line in text.split("\n"))]


def _flow(text: str) -> str:
    return write_scalar(text, in_flow=True)
