"""Three checks on a cluster's snapshot, each finding with the public incidents that are the reason for it.

    python examples/check_cluster.py --library http://127.0.0.1:8000 examples/cluster.json

Reads the snapshot only. The reasons come from the library's API and are cited by ID, version and address. Exits 1 where
a check finds something. Needs nothing but Python and its standard library.
"""

from __future__ import annotations

import argparse
import json
import sys
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Snapshot = dict[str, Any]
ETCD_SHARE = 0.8
CPU_PERCENT = 70


def etcd_size(cluster: Snapshot) -> Iterator[str]:
    """KC-001: the database stays below 80 % of its quota."""
    quota = cluster["etcd"]["quota_bytes"]
    for member in cluster["etcd"]["members"]:
        share = member["db_bytes"] / quota
        if share >= ETCD_SHARE:
            yield f"{member['name']}: 데이터베이스가 쿼터의 {share:.0%} 입니다(기준 {ETCD_SHARE:.0%})."


def etcd_zones(cluster: Snapshot) -> Iterator[str]:
    """KC-002: an odd number of members, and no zone with a majority of them."""
    zones = [member["zone"] for member in cluster["etcd"]["members"]]
    if len(zones) % 2 == 0:
        yield f"멤버가 짝수입니다: {len(zones)}대."
    for zone in sorted(set(zones)):
        if zones.count(zone) * 2 > len(zones):
            yield f"영역 {zone}: 멤버 {len(zones)}대 가운데 {zones.count(zone)}대가 몰려 있습니다."


def api_server_headroom(cluster: Snapshot) -> Iterator[str]:
    """KC-003: the API servers have headroom, and an alert for its end."""
    for server in cluster["api_servers"]:
        if server["cpu_peak_percent"] >= CPU_PERCENT:
            yield f"{server['name']}: 한 주의 최댓값이 CPU {server['cpu_peak_percent']}% 입니다(기준 {CPU_PERCENT}%)."
    if not any(name.startswith("KubeAPI") for name in cluster["alerts"]):
        yield "API 서버의 지연과 오류율에 경보가 없습니다."


CHECKS: dict[str, Callable[[Snapshot], Iterator[str]]] = {
    "KC-001": etcd_size,
    "KC-002": etcd_zones,
    "KC-003": api_server_headroom,
}


def get(library: str, path: str, **params: Any) -> Any:
    """Return the JSON of an address of the API."""
    query = f"?{urllib.parse.urlencode(params, doseq=True)}" if params else ""
    with urllib.request.urlopen(f"{library.rstrip('/')}/api/v1/{path}{query}", timeout=30) as response:
        return json.load(response)


def reasons(library: str, code: str) -> tuple[str, list[str]]:
    """Return the check's title and its incidents as citations: those that still stand."""
    check = get(library, f"checks/{code}/")
    why = {one["id"]: one["why"] for one in check["incidents"]}
    citations = get(library, "citations/", id=list(why))["citations"] if why else []
    return check["title"], [
        f"{one['id']}@{one['version']} {why[one['requested']]} <{one['url']}>"
        for one in citations
        if one["status"] == "published"
    ]


def main() -> int:
    """Print the findings and return 1 where there are any."""
    parser = argparse.ArgumentParser(description="클러스터의 스냅숏을 점검하고, 찾은 틈마다 공개된 사례를 댑니다.")
    parser.add_argument("snapshot", type=Path)
    parser.add_argument("--library", default="http://127.0.0.1:8000")
    options = parser.parse_args()
    cluster: Snapshot = json.loads(options.snapshot.read_text(encoding="utf-8"))
    found = 0
    for code, check in CHECKS.items():
        findings = list(check(cluster))
        if not findings:
            continue
        found += len(findings)
        title, citations = reasons(options.library, code)
        print(f"{code} {title}")
        for finding in findings:
            print(f"  틈: {finding}")
        for citation in citations:
            print(f"  근거: {citation}")
    print(f"{cluster['cluster']}: 점검 {len(CHECKS)}가지, 틈 {found}곳")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
