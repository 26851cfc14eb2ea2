"""The short way to a text's words gives what reading it as Markdown gives."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from incidents.library_files import find_library
from incidents.markdown_html import plain_text
from incidents.markup import dialect
from incidents.records import parse_record
from tests.conftest import FIXTURES

SIGNS = "가나 를A1b.,:;()%/?+='\"‘’·–-`*_<&~\n\\[]#"


@given(st.text(alphabet=SIGNS, max_size=30))
@settings(max_examples=1500, deadline=None)
def test_any_text_of_the_usual_signs_has_the_same_words_either_way(text):
    assert plain_text(text) == dialect.block_words(text)


def test_every_bundled_text_has_the_same_words_either_way():
    for file in find_library(FIXTURES).record_files:
        record = parse_record(file.read_bytes(), file.name)
        texts = [record.symptom, record.trigger, record.cause, record.detection, record.lesson]
        for text in [*texts, *record.contributing_factors, *record.actions, *record.follow_ups]:
            assert plain_text(text) == dialect.block_words(text)
