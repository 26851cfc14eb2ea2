"""The allow-list: what may stand in HTML that was made from record text. Changing it changes what is safe."""

import html
import re
from urllib.parse import unquote

import nh3

_TAGS = {
    *("p", "br", "hr", "strong", "em", "code", "pre", "blockquote", "ul", "ol", "li", "a"),
    *("h3", "h4", "h5", "h6", "div", "table", "thead", "tbody", "tr", "th", "td"),
}
_ATTRIBUTES = {
    "a": {"href", "title"},
    "ol": {"start"},
    "li": {"value"},
    "div": {"role", "tabindex", "aria-label"},
}
_CLASSES = {
    "div": {"table-scroll"},
    "th": {"align-left", "align-center", "align-right"},
    "td": {"align-left", "align-center", "align-right"},
}
_SCHEMES = {"http", "https", "mailto"}

# What HTML and XML can't carry: control characters, halves of surrogate pairs, the two non-characters.
_UNPRINTABLE = re.compile("[\x00-\x08\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_VERTICAL_SPACE = re.compile("[\x0b\x0c]")
# What browsers skip when they read an address, and what can't be seen in one.
_INVISIBLE = re.compile("[\\s\x00-\x20\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff]")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")


def clean(markup: str) -> str:
    """Return HTML with nothing in it but the allow-list. Cleaning twice changes nothing more."""
    cleaned: str = nh3.clean(
        markup,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        allowed_classes=_CLASSES,
        url_schemes=_SCHEMES,
        link_rel="nofollow noopener",
        strip_comments=True,
    )
    return cleaned


def printable(text: str) -> str:
    """Return text of the same length in which what HTML can't carry is `U+FFFD`, a form feed a space."""
    return _VERTICAL_SPACE.sub(" ", _UNPRINTABLE.sub("\ufffd", text))


def harmless_address(written: str) -> str | None:
    """Return the address for `href`, or None where it is not http(s), mailto, relative or an anchor.

    `written` is the address with entities and escapes resolved. Encodings, white space and invisible characters don't
    hide a scheme. An address that the cleaner would drop is None too, so that a link can be shown as typed instead.
    """
    address = _CONTROL.sub("", printable(written)).strip().replace(" ", "%20")
    bare = _INVISIBLE.sub("", unquote(html.unescape(address)))
    scheme = re.match(r"[^/?#]*?:", bare)
    if scheme:
        name = scheme[0].lower()
        if name[:-1] not in _SCHEMES or address[: len(name)].lower() != name:
            return None
        address = name + address[len(name) :]
    if not bare or " href=" not in clean(f'<a href="{html.escape(address)}">a</a>'):
        return None
    return address
