"""HTML in which a Latin word and its Korean particle, or a name as `us-east-1`, stay on one line. Pure."""

import re

_TAG = re.compile(r'(<(?:"[^"]*"|[^>"])*>)')
_TAG_NAME = re.compile(r"<(/?)([a-z0-9]+)")
# The particles that records set off from a Latin word or a number; longer ones first.
_PARTICLES = (
    "에서는|에서도|에서의|에서만|에게는|에게서|으로는|으로도|으로만|이라는|이라고|이었다|까지의|까지는|부터는|"
    "에서|에게|에는|에도|에만|으로|로는|로도|로만|이나|이며|이고|이라|이다|이면|이던|라는|라고|였다|까지|부터|보다|처럼|만큼|마다|만의|와의|과의|"
    "은|는|이|가|을|를|와|과|의|에|로|도|만|나|며|고|란|인"
)
# A word of at most 14 characters, so that a phone's narrow line can still hold it.
_BEFORE = "(?<![A-Za-z0-9.%+#/_:;-])"
_PARTICLE = rf"[A-Za-z0-9][A-Za-z0-9.%+#/_:-]{{0,13}} (?:{_PARTICLES})(?=[\s.,!?)\]…’”·]|&|$)"
# A line would end after a hyphen and leave one or two characters alone: `US-EAST-` and `1`.
_SHORT_TAIL = (
    r"(?=[A-Za-z0-9-]{3,14}(?![A-Za-z0-9./_:-]))[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*-[A-Za-z0-9]{1,2}(?![A-Za-z0-9./_:-])"
)
_BOUND = re.compile(f"{_BEFORE}({_PARTICLE}|{_SHORT_TAIL})")


def bind_particles(rendered: str) -> str:
    """Return safe HTML with `<span class="josa">` around a Latin word or number and its particle, and short-tailed names.

    Only text outside `code` and `pre` is touched, and never across a tag's edge; its characters stay as they were.
    """
    parts = _TAG.split(rendered)
    depth = 0
    for index, part in enumerate(parts):
        if index % 2:  # a tag
            name = _TAG_NAME.match(part)
            if name and name[2] in ("code", "pre"):
                depth += -1 if name[1] else 1
        elif depth == 0:
            parts[index] = _BOUND.sub(r'<span class="josa">\1</span>', part)
    return "".join(parts)
