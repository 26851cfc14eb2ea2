"""A pasted error line, alert or piece of a log → the words worth looking for. Pure, and nothing is kept.

What differs from one machine and minute to the next is set aside: times, hosts, addresses, IDs, numbers, the hashes in
the names of pods. What stays is what two outages of one kind have in common.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from typing import Final

MAX_BYTES: Final = 64 * 1024
MAX_WORDS: Final = 80  # distinct words that are looked up

_ADDRESS: Final = re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://\S+", re.IGNORECASE)
# What has no space for so long is cut: the patterns below go over it once for each of its signs.
_RUN: Final = re.compile(r"\S{120}(?=\S)")
_NOISE: Final = tuple(
    re.compile(pattern, flags)
    for pattern, flags in (
        (r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.IGNORECASE),  # UUID
        (r"\b\d{4}[-/]\d{2}[-/]\d{2}(?:[T _]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?)?(?:Z| ?[+-]\d{2}:?\d{2})?\b", 0),
        (r"\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? ", 0),
        (r"\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]* +\d{1,2}\b", 0),
        (r"\b[IWEF]\d{4} (?=\d{2}:)", 0),  # klog: severity and day
        (r"\b\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?\b", 0),
        (r"\b\S+\.(?:go|py|java|rs|c|cc|cpp|rb|js|ts|php|ex|erl|cs|kt):\d+\b", 0),  # where it was logged
        (r"\S+@\S+\.\S+", 0),
        (r"(?<![\w:])(?:[0-9a-f]{1,4}:){3,7}[0-9a-f:.]*(?:/\d{1,3})?", re.IGNORECASE),  # IPv6
        (r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?(?:/\d{1,2})?\b", 0),  # IPv4
        (r"\b(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.){2,}[a-z][a-z0-9-]*(?::\d{1,5})?\b", re.IGNORECASE),  # hosts
        (r"\b[a-z0-9-]+\.(?:com|net|org|io|local|internal|lan|kr|dev|svc|cloud)(?::\d{1,5})?\b", re.IGNORECASE),
        (r"\b0x[0-9a-f]+\b", re.IGNORECASE),
        (r"-[0-9a-f]{6,10}-[a-z0-9]{5}\b", 0),  # of a Deployment's pod
        (r"\b(?=[0-9a-f]*\d)[0-9a-f]{7,}\b", re.IGNORECASE),
        (r"\b[a-z]*[A-Za-z-]*?\d{2,}[a-z0-9]*\b(?<!x509)", 0),  # node17, pid 4711
        (r"(?<![A-Za-z])[-+]?\d[\d,._]*\s?(?:%|[A-Za-zµ가-힣]{1,3}\b)?", 0),  # numbers with their units
    )
)
_WORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[_-][A-Za-z0-9]+)*|[가-힣]{2,}")
_SEAMS: Final = re.compile(r"[_-]|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SUFFIXES: Final = ("server", "client", "controller", "manager")  # of a program's name: the rest names the thing
# Words of logging itself, and those that stand in every second line whatever happened.
_COMMON: Final = frozenset(
    [
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "been",
        "but",
        "by",
        "can",
        "could",
        "did",
        "do",
        "does",
        "for",
        "from",
        "had",
        "has",
        "have",
        "if",
        "in",
        "into",
        "is",
        "it",
        "its",
        "no",
        "nor",
        "not",
        "of",
        "on",
        "or",
        "our",
        "so",
        "than",
        "that",
        "the",
        "their",
        "then",
        "there",
        "these",
        "they",
        "this",
        "to",
        "too",
        "until",
        "up",
        "was",
        "we",
        "were",
        "when",
        "which",
        "while",
        "will",
        "with",
        "would",
        "you",
        "after",
        "before",
        "again",
        "any",
        "all",
        "info",
        "warn",
        "warning",
        "error",
        "err",
        "errors",
        "debug",
        "fatal",
        "trace",
        "critical",
        "notice",
        "panic",
        "level",
        "msg",
        "message",
        "time",
        "timestamp",
        "ts",
        "caller",
        "logger",
        "log",
        "logs",
        "source",
        "file",
        "line",
        "stack",
        "thread",
        "main",
        "host",
        "hostname",
        "pid",
        "app",
        "name",
        "namespace",
        "id",
        "uid",
        "type",
        "kind",
        "value",
        "values",
        "status",
        "code",
        "reason",
        "got",
        "get",
        "set",
        "new",
        "null",
        "none",
        "nil",
        "true",
        "false",
        "default",
        "http",
        "https",
        "tcp",
        "udp",
        "www",
        "com",
        "org",
        "failed",
        "failure",
        "fail",
        "unable",
        "cannot",
        "could",
        "request",
        "response",
        "call",
        "called",
        "calling",
        "during",
        "due",
        "via",
        "using",
        "use",
        "used",
        "kr",
        "co",
        "jan",
        "feb",
        "mar",
        "apr",
        "may",
        "jun",
        "jul",
        "aug",
        "sep",
        "oct",
        "nov",
        "dec",
        "current",
        "currently",
        "valid",
        "desc",
        "description",
        "ran",
        "caught",
        "out",
        "yet",
        "exit",
        "exited",
        "reached",
        "received",
        "sent",
        "took",
        "taken",
        "back",
        "down",
        "over",
        "still",
    ]
)


def log_words(text: str) -> tuple[str, ...]:
    """Return the distinct words of a pasted text that may tell one kind of outage from another, most telling first.

    Words that come often are no more telling than rare ones; the order is that of first appearance, with identifiers of
    several parts before their parts.
    """
    plain = unicodedata.normalize("NFKC", text[:MAX_BYTES])[:MAX_BYTES]
    plain = _RUN.sub(r"\g<0> ", _ADDRESS.sub(" ", plain))
    for pattern in _NOISE:
        plain = pattern.sub(" ", plain)
    found: Counter[str] = Counter()
    for word in _WORD.findall(plain):
        for part in _parts(word):
            if len(part) >= (2 if "가" <= part[0] <= "힣" else 3) and part.casefold() not in _COMMON:
                found[part] += 1
    folded: dict[str, str] = {}
    for word in found:
        folded.setdefault(word.casefold(), word)
    return tuple(folded.values())[:MAX_WORDS]


def _parts(word: str) -> tuple[str, ...]:
    """Return an identifier and its parts: `etcd_disk_wal` with etcd, disk, wal; `etcdserver` with etcd."""
    parts = [part for part in _SEAMS.split(word) if part and not part.isdigit()]
    parts += [part.removesuffix(suffix) for part in parts for suffix in _SUFFIXES if part.endswith(suffix)]
    return tuple(dict.fromkeys((word, *parts)))
