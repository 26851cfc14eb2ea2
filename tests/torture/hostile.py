"""Queries, addresses and files that no reader means well with, from a seed: the same seed gives the same ones."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Iterator
from urllib.parse import quote

OPERATORS = (
    "AND", "OR", "NOT", "NEAR", "TO", "&&", "||", "!", "-", "+", "--", '"', '""', "'", "(", ")", "((", "[", "]", "{",
    "}", "^2", "~", "~3", "*", "?", "*:*", "a*", "*a", ".*", "(a+)+$", "\\", "\\\\", "/", "//", ":", "::", "http:",
    "title:", "증상:", "원인:", "조치:", "없는칸:", "증상:\"", "-증상:", "[a TO z]", "{* TO *}", ">=", "<", "%",
    "%s", "%00",
    "${x}", "{{x}}", "{%", "<b>", "</script>", "<!--", "&amp;", "' OR 1=1 --", "; DROP TABLE x", "../../etc/passwd",
)  # fmt: skip
ODD = (
    "\u200b", "\u200d", "\u2060", "\ufeff", "\u3164", "\u00a0", "\u3000", "\u202e", "\u0301", "\u0345", "\ufe0f", "🔥",
    "👩‍👩‍👧‍👦", "ㅋㅋㅋ", "ㅎ", "ㅏ", "ᄀ", "ᆨ", "한", "ｅｔｃｄ", "㎏", "ﬁ", "ß", "İ", "ı", "Ω", "中文", "日本語",
    "עברית",
    "\t", "\n", "\r", "\u0000", "\u0001", "\u001b[31m", "\u0085", "\u2028", "\ufffe", "\U0010ffff", "0" * 40, "1e309",
)  # fmt: skip
WORDS = (
    "인증서", "만료", "장애 조치", "로그", "재시도 폭주", "데이터베이스", "복제지연", "etcd", "kube-proxy", "us-east-1",
    "10.0.0.0/8", "IL-0421", "BGP", "디스크가", "가득", "차서", "네트워크를", "쿠버네티스에서", "DNS", "OOMKilled",
    "503", "p99",
)  # fmt: skip


def korean(rng: random.Random) -> str:
    """Return Hangul that nobody checks for sense: words with endings, syllables at random, halves of syllables."""
    parts = []
    for _ in range(rng.randint(1, 12)):
        kind = rng.random()
        if kind < 0.4:
            parts.append(rng.choice(WORDS) + rng.choice(("", "는", "을", "에서", "까지도", "이었다", "하였으나")))
        elif kind < 0.8:
            parts.append("".join(chr(rng.randint(0xAC00, 0xD7A3)) for _ in range(rng.randint(1, 9))))
        elif kind < 0.9:
            parts.append("".join(chr(rng.randint(0x3131, 0x318E)) for _ in range(rng.randint(1, 4))))
        else:
            parts.append(unicodedata.normalize("NFD", rng.choice(WORDS)))
    return rng.choice((" ", "", "　", "  ")).join(parts)


def operators(rng: random.Random) -> str:
    """Return a query of other engines' syntax, most of it broken."""
    pieces = [rng.choice(OPERATORS + WORDS) for _ in range(rng.randint(1, 20))]
    return rng.choice((" ", "", " ")).join(pieces)


def anything(rng: random.Random) -> str:
    """Return text of any characters at all, or of one thing over and over."""
    kind = rng.random()
    if kind < 0.2:
        return rng.choice(OPERATORS + ODD + WORDS) * rng.randint(1, 900)
    if kind < 0.5:
        return "".join(rng.choice(ODD + OPERATORS) for _ in range(rng.randint(1, 40)))
    if kind < 0.8:
        return "".join(chr(_code_point(rng)) for _ in range(rng.randint(1, 200)))
    return korean(rng) + operators(rng)


def _code_point(rng: random.Random) -> int:
    while 0xD800 <= (code := rng.randint(0, rng.choice((0x7F, 0x3FF, 0xFFFF, 0x10FFFF)))) <= 0xDFFF:
        pass
    return code


def raw(rng: random.Random) -> str:
    """Return a percent-encoded query that may be no UTF-8 at all."""
    data = bytes(rng.randrange(256) for _ in range(rng.randint(1, 30)))
    return "".join(f"%{byte:02X}" for byte in data)


def queries(count: int, seed: int) -> Iterator[str]:
    """Yield percent-encoded values for `q`: a quarter Hangul, a quarter operators, the rest anything, some no UTF-8."""
    rng = random.Random(seed)
    for number in range(count):
        if number % 4 == 0:
            yield quote(korean(rng)[:3_000])
        elif number % 4 == 1:
            yield quote(operators(rng)[:3_000])
        elif number % 16 == 2:
            yield raw(rng)
        else:
            yield quote(anything(rng)[:3_000])


def mutated(data: bytes, rng: random.Random) -> bytes:
    """Return a record file with a few things wrong: bytes, lines, characters, keys, endings."""
    kind = rng.randrange(12)
    if kind == 0:
        place = rng.randrange(len(data))
        return data[:place] + bytes([rng.randrange(256)]) + data[place + 1 :]
    if kind == 1:
        return data[: rng.randrange(len(data))]
    if kind == 2:
        return data.decode().encode(rng.choice(("utf-16", "cp949", "utf-8-sig")), "replace")
    if kind == 3:
        return data.replace(b"\n", rng.choice((b"\r\n", b"\r", b"\n\n", b"")))
    text = data.decode()
    lines = text.split("\n")
    place = rng.randrange(len(lines))
    if kind == 4:
        lines.insert(place, lines[rng.randrange(len(lines))])
    elif kind == 5:
        del lines[place]
    elif kind == 6:
        rng.shuffle(lines)
    elif kind == 7:
        lines[place] += rng.choice(ODD + OPERATORS)
    elif kind == 8:
        lines.insert(
            place, rng.choice(("---", "...", "&a [*a]", "? x", "!!python/object:os.system x", "<<: *x", "## 증상"))
        )
    elif kind == 9:
        key = rng.choice(("id", "title", "year", "causes", "sources", "started_at", "status"))
        value = rng.choice(
            ("", "null", "[]", "{}", "NO", "1e9", "-1", "0x10", "2024-13-45", "[a, [b]]", "*", '"', "IL-1")
        )
        lines.insert(rng.randrange(min(4, len(lines))), f"{key}: {value}")
    elif kind == 10:
        lines[place] = lines[place] * rng.randint(2, 400)
    else:
        swapped = rng.randrange(len(lines))
        lines[place], lines[swapped] = lines[swapped], lines[place]
    return "\n".join(lines).encode("utf-8", "replace")
