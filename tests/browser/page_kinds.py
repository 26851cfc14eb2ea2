"""Every kind of page, by an address of the bundled library, and the windows in which each is looked at."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from tests.conftest import FIXTURES, manage

PAGES = {
    "home": "/",
    "listing": "/incidents/?q=재시도&factor=retry-storm&year_from=2012",
    "grouped": "/incidents/?component=etcd&component=dns&group=cause",
    "full": "/incidents/?cause=hardware-failure&component=gpu-hardware&view=full&page_size=3",
    "nothing": "/incidents/?q=etcd+디스크+윤초&page_size=5",
    "corrected": "/incidents/?q=etdc",
    "paged": "/incidents/?page=7",
    "record": "/incidents/IL-0459/",
    "history": "/incidents/IL-0003/history/",
    "compare": "/incidents/IL-0003/history/?from=1&to=2",
    "version": "/incidents/IL-0003/v/1/",
    "withdrawn": "/incidents/IL-9001/",
    "merged": "/incidents/IL-9002/",
    "components": "/components/",
    "causes": "/causes/",
    "component": "/components/k8s-control-plane/",
    "organizations": "/organizations/",
    "years": "/years/",
    "year": "/years/2012/",
    "checks": "/checks/",
    "check": "/checks/KC-012/",
    "check-table": "/checks/table/",
    "detections": "/detections/",
    "detection": "/detections/all/?component=etcd",
    "actions": "/actions/?component=etcd",
    "follow-ups": "/follow-ups/?component=etcd",
    "stats": "/stats/",
    "feeds": "/feeds/",
    "corrections": "/corrections/",
    "match": "/match/",
    "report": "/incidents/IL-0459/report/",
    "api": "/api/v1/docs/",
    "api-error": "/about/api/errors/bad-parameter/",
    "about": "/about/",
    "about-search": "/about/search/",
    "patterns": "/patterns/",
    "error": "/incidents/IL-9999/",
}
VARIANTS = [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")]


def let_records_change(data_dir: Path) -> None:
    """Give a bundled library a past: IL-0003 in two versions, IL-9001 withdrawn, IL-9002 merged into IL-0003."""
    text = (FIXTURES / "incidents/IL-0003.md").read_text(encoding="utf-8")
    title = next(line for line in text.splitlines() if line.startswith("title: "))
    past = {
        "IL-0003": text.replace("평소와 달리 크게 늦어졌다", "평소보다 크게 늦어졌다"),
        "IL-9001": _ended(text, "IL-9001", title, "status: withdrawn\nstatus_reason: 보고서가 내려져 확인할 수 없다."),
        "IL-9002": _ended(text, "IL-9002", title, "status: merged\nmerged_into: IL-0003"),
    }
    with tempfile.TemporaryDirectory() as folder:
        for name in ("taxonomy.yaml", "checks.yaml"):
            (Path(folder) / name).write_bytes((FIXTURES / name).read_bytes())
        for public_id, changed in past.items():
            (Path(folder) / f"{public_id}.md").write_text(changed, encoding="utf-8")
        manage(data_dir, "import_library", folder)


def _ended(text: str, public_id: str, title: str, state: str) -> str:
    """Return the record under another ID, title and report, no longer published."""
    renamed = text.replace("id: IL-0003", f"id: {public_id}", 1)
    retitled = renamed.replace(
        title, f"{title}: {public_id}\n{state}".replace("title: ", "title: '", 1).replace("\n", "'\n", 1)
    )
    return re.sub(r"url: https://\S+", f"url: https://example.org/{public_id}", retitled)
