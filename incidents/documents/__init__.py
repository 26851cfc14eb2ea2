"""Foreign post-mortems (Markdown, HTML, DOCX) → drafts. Pure: no Django, no network.

`read_document` is the one way in; what it gives is a proposal that an editor finishes.
"""

from incidents.documents.account import LeftOver, Placement
from incidents.documents.cleaning import Dropped
from incidents.documents.drafting import DocumentDraft, read_document
from incidents.documents.reading import SUFFIXES, DocumentRefused
from incidents.documents.suggesting import DetectionSuggestion, Suggestion, TaxonomyLike, TermLike
from incidents.documents.times import FoundTime

__all__ = [
    "SUFFIXES",
    "DetectionSuggestion",
    "DocumentDraft",
    "DocumentRefused",
    "Dropped",
    "FoundTime",
    "LeftOver",
    "Placement",
    "Suggestion",
    "TaxonomyLike",
    "TermLike",
    "read_document",
]
