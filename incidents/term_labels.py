"""The name of a vocabulary term in the interface's language."""

from __future__ import annotations

from django.utils.translation import get_language, gettext


def term_label(label: str, label_en: str, slug: str, language: str | None = None) -> str:
    """Return the Korean label, or in the English interface the best English there is.

    That is what the vocabulary itself says, then the translation of the bundled labels, then a label that is English
    as it stands (`etcd`), then the words of the slug. `language` spares a loop from asking for it each time.
    """
    if (language or get_language()) != "en":
        return label
    if label_en:
        return label_en
    translated = gettext(label) if label else ""
    if translated != label or label.isascii():
        return translated
    return slug.replace("-", " ").capitalize()
