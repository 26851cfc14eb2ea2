"""Addresses of reports in one form, so that two ways of writing one address are seen as the same. Pure.

Scheme, `www.`, default port, fragment, tracking parameters, the order of the others, a slash or `index.html` at the end
and the wrapper of an archive make no other report.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

# Parameters that say where a reader came from, not what they read.
TRACKING_PREFIXES: Final = ("utm_", "mc_", "pk_", "mtm_", "hsa_", "__hs", "vero_", "oly_", "_hs")
TRACKING: Final = frozenset(
    {
        *(
            "fbclid",
            "gclid",
            "dclid",
            "gbraid",
            "wbraid",
            "msclkid",
            "yclid",
            "twclid",
            "igshid",
            "si",
            "ref",
            "ref_src",
        ),
        *("ref_url", "referrer", "source", "spm", "cmpid", "campaign_id", "trk", "trkinfo", "mkt_tok", "share", "smid"),
        *("feature", "fromsource", "hss_channel", "s_cid", "wt_mc", "_ga", "_gl"),
    }
)

_HOST_PREFIX = re.compile(r"^(?:www[0-9]?|m|amp|mobile)\.(?=[^.]+\.[^.]+)")
_INDEX = re.compile(r"/(?:index|default)\.(?:html?|php|aspx?)$", re.IGNORECASE)
_ARCHIVES: Final = (
    # web.archive.org/web/20230101000000id_/https://…, also without a time or with *
    (
        re.compile(r"^(?:web\.)?archive\.org$"),
        re.compile(r"^/(?:web/)?(?:[0-9]{1,14}(?:[a-z]{2}_)?|\*|[0-9]*\*)/(?P<url>.+)$"),
    ),
    (re.compile(r"^(?:web\.)?archive\.org$"), re.compile(r"^/web/(?P<url>[a-z][a-z0-9+.-]*:/.+)$")),
    # archive.today and its other names: /20230101/https://…, /newest/https://…
    (
        re.compile(r"^archive\.(?:today|ph|is|li|md|vn|fo)$"),
        re.compile(r"^/(?:[0-9.\-]{4,20}|newest|oldest|o/[A-Za-z0-9]+)/(?P<url>.+)$"),
    ),
    (
        re.compile(r"^webcache\.googleusercontent\.com$"),
        re.compile(r"^/search\?q=cache:(?:[\w-]{6,20}:)?(?P<url>[^+&]+)"),
    ),
    (re.compile(r"^(?:[a-z]+\.)?perma\.cc$"), re.compile(r"^/warc/[^/]+/(?P<url>.+)$")),
    (re.compile(r"^(?:www\.)?google\.[a-z.]+$"), re.compile(r"^/amp/(?:s/)?(?P<url>.+)$")),
)


def canonical_url(url: str) -> str:
    """Return the address as `host/path?query` without what makes no difference; empty for what is no web address."""
    for _ in range(4):  # an archived copy of an archived copy is rare; more is a loop
        inner = unwrap_archive(url)
        if inner == url:
            break
        url = inner
    parts = _split(url)
    if parts is None:
        return ""
    host, path, query = parts
    path = _INDEX.sub("/", path)
    path = quote(unquote(re.sub(r"/{2,}", "/", path)), safe="/:@!$&'()*+,;=~-._").rstrip("/")
    pairs = [(name, value) for name, value in parse_qsl(query, keep_blank_values=True) if not _is_tracking(name)]
    tail = f"?{urlencode(sorted(pairs))}" if pairs else ""
    return f"{host}{path}{tail}"


def unwrap_archive(url: str) -> str:
    """Return the address that an archive's copy is of, or the address itself."""
    parts = _split(url)
    if parts is None:
        return url
    host, path, query = parts
    whole = f"{path}?{query}" if query else path
    for hosts, paths in _ARCHIVES:
        match = paths.match(whole) if hosts.match(host) else None
        if match:
            inner = unquote(match["url"]) if "%3A" in match["url"][:12].upper() else match["url"]
            inner = re.sub(r"^(https?):/{1,2}", r"\1://", inner, flags=re.IGNORECASE)
            return inner if re.match(r"[a-z]+://", inner, re.IGNORECASE) else f"http://{inner}"
    return url


def is_archive(url: str) -> bool:
    """Return whether an address is an archive's copy of another."""
    return unwrap_archive(url) != url


def search_piece(canonical: str) -> str:
    """Return the part of a canonical address that every way of writing it contains: host and path without escapes."""
    return re.split(r"[?%]", canonical, maxsplit=1)[0]


def _split(url: str) -> tuple[str, str, str] | None:
    text = unicodedata.normalize("NFC", url).strip()
    if not re.match(r"https?://", text, re.IGNORECASE):
        return None
    try:
        parts = urlsplit(text)
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        return None
    if not host:
        return None
    try:
        host = host.encode("idna").decode() if not host.isascii() else host
    except UnicodeError:
        return None
    host = _HOST_PREFIX.sub("", host.lower())
    if port not in (None, 80, 443):
        host = f"{host}:{port}"
    path = parts.path or "/"
    if parts.fragment.startswith("!"):  # an address of pages drawn by scripts: the fragment is the page
        path = f"{path}#{parts.fragment}"
    return host, path, parts.query


def _is_tracking(name: str) -> bool:
    lowered = name.lower()
    return lowered in TRACKING or lowered.startswith(TRACKING_PREFIXES)
