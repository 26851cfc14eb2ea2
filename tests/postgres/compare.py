"""Run with a PostgreSQL library's environment: prints, as JSON, each query that the two engines answer differently.

python -m tests.postgres.compare FOLDER
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

QUERIES = (
    "인증서", "인증서 만료", "etcd", "장애", "데이터베이스 복제 지연", '"설정 배포"', "us-east-1", "10.0.0.0/8", "IL-0042", "il-7",
    "인증셔", "kubelat", "전원 -냉각", "-전원", "증상:멈췄다", "멈췄다", "없는낱말임", "wkddo", "가", "버전", "서버", "에서",
    "ETCD 가 느려졌다", "GPU 클러스터 스토리지 권한 오류", "용량 고갈 알림 없음", '"디스크가 가득 차"', "분류:설정", "a b c d e",
    "(((", "%", "'; DROP TABLE incidents_incident; --", "\\", "_", "\ud83d\ude00", "인", "x" * 300,
)  # fmt: skip


def main(folder: Path) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kb.settings")
    import django

    django.setup()
    from incidents.indexing import fresh_backend
    from incidents.models import Incident, Source
    from incidents.search import parse_query
    from incidents.search.postgres_backend import PostgresBackend
    from incidents.search.whoosh_backend import WhooshBackend
    from incidents.search_documents import iterate_documents

    here = fresh_backend()
    assert isinstance(here, PostgresBackend)
    published = Incident.objects.filter(status="published").order_by("pk")
    embedded = WhooshBackend(folder)
    embedded.rebuild(iterate_documents(published), revision=here.revision())
    address = Source.objects.filter(incident__status="published").values_list("url", flat=True).first() or ""
    titles = published.values_list("title", flat=True)[::40]
    different = []
    for text in (*QUERIES, address, *titles, *(" ".join(title.split()[:2]) for title in titles)):
        query = parse_query(text)
        ours, theirs = here.search(query), embedded.search(query)
        for name in ("full", "partial", "inside"):
            if getattr(ours, name).tolist() != getattr(theirs, name).tolist():
                different.append([text, name])
        for name in ("interpretation", "jump", "unknown", "near"):
            if getattr(ours, name) != getattr(theirs, name):
                different.append([text, name])
    health, other = here.health(), embedded.health()
    if (health.ok, health.documents, health.revisions) != (other.ok, other.documents, other.revisions):
        different.append(["health", health.message])
    print(json.dumps(different, ensure_ascii=False))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
