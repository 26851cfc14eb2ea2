"""How much an answer may say: tokens, estimated on the safe side, since every reader's tokenizer differs."""

from __future__ import annotations

from math import ceil
from typing import Final

from pydantic import BaseModel

SEARCH_TOKENS: Final = 2_000
FETCH_TOKENS: Final = 8_000
TOKENS_PER_WIDE: Final = 1.0  # Hangul costs 0.6 to 1 token a syllable in the tokenizers of today's models
TOKENS_PER_ASCII: Final = 0.34


def tokens(text: str) -> int:
    """Return about how many tokens a text costs."""
    narrow = sum(sign.isascii() for sign in text)
    return ceil(narrow * TOKENS_PER_ASCII + (len(text) - narrow) * TOKENS_PER_WIDE)


def cost(answer: BaseModel) -> int:
    """Return about how many tokens an answer costs as JSON."""
    return tokens(answer.model_dump_json())
