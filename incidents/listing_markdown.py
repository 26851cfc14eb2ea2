"""A listing as Markdown: for people who read in a terminal and for programs that read for people."""

from __future__ import annotations

from django.conf import settings

from incidents.listing import Listing, Row
from incidents.markdown_html import plain_text, statements
from incidents.record_data import public_text


def listing_markdown(listing: Listing) -> str:
    """Return the page of a listing as a document: what was asked, how many match, then the records, whole in the full view."""
    title = ", ".join(chip.value for chip in listing.chips) or "모든 사례"
    lines = [f"# 사고 사례: {_line(title)}", "", listing.count_line]
    if listing.interpretation.kind == "corrected":
        lines.append(
            f"모르는 말이 있어 고쳐 찾았습니다: {listing.interpretation.original} → {listing.interpretation.query}"
        )
    if listing.partial_count:
        lines.append(f"그 뒤에 말의 일부만 맞는 기록이 {listing.partial_count}건 이어집니다.")
    lines.append("")
    if listing.params.view == "full":
        for row in listing.rows:
            lines += ["", public_text(row.incident)]
    else:
        for row in listing.rows:
            lines += _row(row)
    lines += ["", "---", ""]
    if listing.next_query is not None:
        lines.append(f"다음 쪽: {_address(listing.next_query, '.md')}")
    lines += [f"같은 목록: {_address(listing.query)} · JSON: {_address(listing.query, '.json')}", ""]
    return "\n".join(lines)


def _row(row: Row) -> list[str]:
    incident = row.incident
    facts = [str(incident.year), *(tag.term.label for tag in incident.cause_tags.all())]
    if incident.organization:
        facts.insert(0, incident.organization.name)
    mark = " (일부만 맞음)" if row.match == "partial" else ""
    first = next(iter(statements(incident.symptom)), "")
    url = f"{settings.BASE_URL}{incident.get_absolute_url().rstrip('/')}.md"
    return [
        f"- [{incident.public_id} {_line(incident.title)}]({url}){mark}",
        f"  {', '.join(facts)}",
        f"  {_line(plain_text(first))}",
    ]


def _line(text: str) -> str:
    """Return a text on one line that can't be taken for a link's end."""
    return " ".join(text.split()).replace("[", "\\[").replace("]", "\\]")


def _address(query: str, suffix: str = "/") -> str:
    return f"{settings.BASE_URL}/incidents{suffix}{f'?{query}' if query else ''}"
