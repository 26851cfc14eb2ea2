"""Feed → Atom (RFC 4287) as bytes. Pure: no database."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final
from xml.etree import ElementTree as ET

from incidents.feeds import Feed, FeedEntry

MEDIA_TYPE: Final = "application/atom+xml; charset=utf-8"
NAMESPACE: Final = "http://www.w3.org/2005/Atom"
# What XML 1.0 can't hold, in no spelling: one such sign would make the whole feed unreadable.
UNPRINTABLE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
LICENSE_URL: Final = "https://creativecommons.org/licenses/by/4.0/"


def atom(feed: Feed) -> bytes:
    """Return the feed as an XML document, UTF-8."""
    ET.register_namespace("", NAMESPACE)
    root = ET.Element(_name("feed"), {"xml:lang": "ko"})
    _text(root, "id", feed.url)
    _text(root, "title", feed.title)
    _text(root, "subtitle", feed.subtitle)
    _text(root, "updated", _time(feed.updated_at or datetime.fromtimestamp(0, UTC)))
    _link(root, "self", feed.url, "application/atom+xml")
    _link(root, "alternate", feed.page_url, "text/html")
    _link(root, "license", LICENSE_URL, "text/html")
    author = ET.SubElement(root, _name("author"))
    _text(author, "name", "사고 사례 라이브러리")
    for entry in feed.entries:
        root.append(_entry(entry))
    body: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=False)
    return b'<?xml version="1.0" encoding="utf-8"?>\n' + body


def _entry(entry: FeedEntry) -> ET.Element:
    element = ET.Element(_name("entry"))
    _text(element, "id", entry.id)
    _text(element, "title", entry.title)
    _text(element, "published", _time(entry.published_at))
    _text(element, "updated", _time(entry.updated_at))
    _link(element, "alternate", entry.url, "text/html")
    _link(element, "alternate", f"{entry.url.rstrip('/')}.md", "text/markdown")
    if entry.author:
        author = ET.SubElement(element, _name("author"))
        _text(author, "name", entry.author)
    for term, label in entry.categories:
        ET.SubElement(element, _name("category"), {"term": term, "label": _printable(label)})
    _text(element, "summary", entry.summary)
    _text(element, "content", entry.content, {"type": "html"})
    return element


def _name(tag: str) -> str:
    return f"{{{NAMESPACE}}}{tag}"


def _text(parent: ET.Element, tag: str, text: str, attributes: dict[str, str] | None = None) -> None:
    ET.SubElement(parent, _name(tag), attributes or {}).text = _printable(text)


def _link(parent: ET.Element, relation: str, address: str, media_type: str) -> None:
    ET.SubElement(parent, _name("link"), {"rel": relation, "type": media_type, "href": _printable(address)})


def _printable(text: str) -> str:
    return UNPRINTABLE.sub("", text)


def _time(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
