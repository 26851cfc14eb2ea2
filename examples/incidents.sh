#!/bin/sh
# The library from a shell: curl and jq.
#
#   LIBRARY=http://127.0.0.1:8000 sh examples/incidents.sh
set -eu
LIBRARY=${LIBRARY:-http://127.0.0.1:8000}
api=$LIBRARY/api/v1

echo '# 인증서 만료로 일어난 사례, 최신순으로 셋'
curl -fsSG "$api/incidents/" -d cause=certificate-expiry -d page_size=3 -d fields=id,year,title |
  jq -r '"\(.count)건", (.results[] | "\(.id) \(.year) \(.title)")'

echo '# 오류 한 줄과 닮은 사례, 그 첫 조치'
printf 'x509: certificate has expired or is not yet valid' |
  curl -fsS -H 'Content-Type: text/plain' --data-binary @- "$api/match/" |
  jq -r '.results[:2][] | "\(.pin) \(.first_action)"'

echo '# 인용한 번호가 지금도 그대로인지'
curl -fsSG "$api/citations/" -d id=IL-0252 -d id=IL-9999 |
  jq -r '.citations[] | "\(.requested) \(.status)"'

echo '# 바뀌지 않았으면 본문 없이 304'
tag=$(curl -fsSI "$api/incidents/IL-0252/" | tr -d '\r' | sed -n 's/^[Ee][Tt]ag: //p')
curl -sS -o /dev/null -w '%{http_code}\n' -H "If-None-Match: $tag" "$api/incidents/IL-0252/"

echo '# 전부 내려받아 기록을 센다'
curl -fsS "$api/export/library.ndjson" | jq -s 'length'
