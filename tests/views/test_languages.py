"""The English interface: what stays Korean says so, and nothing of the interface is left behind."""

from __future__ import annotations

import gettext
import re
from pathlib import Path

import pytest
from django.test import Client, RequestFactory
from django.utils import translation
from lxml import html as lxml_html

from incidents.api.problems import KINDS
from incidents.errors import SearchUnavailable
from incidents.term_labels import term_label
from incidents.views.errors import user_error
from tests.conftest import ROOT
from tests.messages import (
    HANGUL,
    Message,
    Translation,
    messages_of_python,
    messages_of_template,
    read_catalogue,
)

pytestmark = pytest.mark.django_db

QUOTED = re.compile("증상:|<code>.*?</code>|\\S+ → \\S+")  # samples of Korean within English
CATALOGUE = ROOT / "locale/en/LC_MESSAGES"
# Names of organizations, sample queries and citations keep their script wherever they stand.
NAMES = {
    *("facet__label", "lens__org", "incident-row__meta", "facts__value", "near__key", "data-table", "record__lede"),
    *("cite-box__code", "cite-box__text", "search-box__hint"),
}


def english(client: Client, path: str) -> lxml_html.HtmlElement:
    client.cookies["language"] = "en"
    return lxml_html.fromstring(client.get(path).content)


def language_of(element: lxml_html.HtmlElement) -> str:
    return next(str(one.get("lang")) for one in (element, *element.iterancestors()) if one.get("lang"))


def korean_words(tree: lxml_html.HtmlElement) -> list[str]:
    """Return the Korean texts of a page that no `lang` marks as Korean, the names aside."""
    names = {
        one for element in tree.xpath("//*[@class]") if not NAMES.isdisjoint(element.classes) for one in element.iter()
    }
    names |= set(tree.iter("code"))
    found = []
    for element in tree.iter():
        if (
            not isinstance(element.tag, str)
            or element.tag == "script"
            or element in names
            or language_of(element) == "ko"
        ):
            continue
        texts = [element.text, *(child.tail for child in element)]
        texts += [element.get(name) for name in ("aria-label", "title", "placeholder")]
        found += [text.strip() for text in texts if text and HANGUL.search(text)]
    return found


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/incidents/?component=etcd",
        "/incidents/?component=etcd&view=full",
        "/incidents/IL-0459/",
        "/stats/",
        "/components/",
        "/causes/",
        "/causes/dns-error/",
        "/components/k8s-control-plane/",
        "/years/2012/",
        "/checks/",
        "/checks/table/",
        "/feeds/",
        "/corrections/",
        "/actions/?component=etcd",
        "/follow-ups/?component=etcd",
        "/detections/all/?component=etcd",
        "/match/",
        "/about/",
        "/about/search/",
        "/incidents/IL-0459/history/",
        "/incidents/IL-0459/v/1/",
        "/incidents/IL-0459/report/",
        "/api/v1/docs/",
        *(kind.path for kind in KINDS),
    ],
)
def test_english_page_leaves_no_korean_of_its_own(bundled: Path, client: Client, path: str) -> None:
    tree = english(client, path)
    assert tree.get("lang") == "en"
    assert korean_words(tree) == []


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/nowhere/", "There is nothing at this address. Check the address, or look below."),
        ("/incidents/IL-9999/", "Unknown ID: IL-9999. IDs are never deleted, so it may have been miscopied."),
        ("/incidents/IL-0459/v/9/", "No such version: IL-0459 version 9. The present version is 1."),
        ("/incidents/IL-0459/v/x/", "Not the number of a version: x"),
        ("/incidents/?cause=nope", "Unknown value: nope"),
        ("/incidents/?sort=nope", "Unknown value: nope. Known values: relevance, newest, oldest, added, id"),
        ("/incidents/?page=x", "Give a whole number from 1 to 999999999, not: x"),
        ("/incidents/?page=999", "There is no page 999 (the last is 20)"),
        ("/incidents/?year_from=20240", "Give a whole number from 1 to 9999, not: 20240"),
        ("/incidents/?year_from=2024&year_to=2020", "The range is reversed: 2024–2020. Swap the two values."),
        ("/causes/nope/", "Unknown value: nope. Choose one from the lists below."),
        ("/checks/KC-999/", "Unknown check: KC-999. Choose one from the list of checks."),
        ("/years/1800/", "There are no records of that year: 1800. Choose a year that has records."),
        ("/corrections/?page=9", "There is no page 9 (the last is 1)"),
        ("/about/api/errors/nope/", "Unknown error name: nope. Choose one from the list of errors."),
        ("/sitemap-9.xml", "The sitemap has no such part: 9. Start at /sitemap.xml."),
    ],
)
def test_an_error_is_told_in_english(bundled: Path, client: Client, path: str, said: str) -> None:
    tree = english(client, path)
    assert [text.text_content() for text in tree.xpath("//*[@class='message__text']")] == [said]
    assert korean_words(tree) == []


def test_a_method_that_is_not_taken_is_told_in_english(client: Client) -> None:
    client.cookies["language"] = "en"
    answer = client.post("/incidents/")
    assert (answer.status_code, answer["Content-Language"], answer["Allow"]) == (405, "en", "GET, HEAD")
    tree = lxml_html.fromstring(answer.content)
    said = [text.text_content() for text in tree.xpath("//*[@class='message__text']")]
    assert said == ["This address can't be called in that way. Open the address instead."]


def test_a_search_that_is_unavailable_is_told_in_english(client: Client, rf: RequestFactory) -> None:
    with translation.override("en"):
        page = user_error(rf.get("/incidents/?q=etcd"), SearchUnavailable()).content.decode()
    assert "Search can&#x27;t answer just now. Try again in a moment." in page


def test_record_says_that_it_is_korean(bundled: Path, client: Client) -> None:
    tree = english(client, "/incidents/IL-0459/")
    for path in ("//h1", "//*[@id='symptom-1']", "//*[@id='actions-1']", "//a[@class='near__title']"):
        assert {language_of(element) for element in tree.xpath(path)} == {"ko"}, path
    headings = tree.xpath("//*[@id='symptom' or @id='cause']//h2")
    assert [element.text.split()[0] for element in headings] == ["Symptom", "Cause"]


def test_language_is_chosen_by_a_form_and_kept(bundled: Path, client: Client) -> None:
    answer = client.post("/language/", {"language": "en", "next": "/about/"})
    assert (answer.status_code, answer["Location"]) == (302, "/about/")
    assert client.get("/about/").headers["Content-Language"] == "en"
    client.post("/language/", {"language": "ko"})
    assert client.get("/about/").headers["Content-Language"] == "ko"


def test_browser_preference_alone_changes_nothing(bundled: Path, client: Client) -> None:
    assert client.get("/", headers={"Accept-Language": "en"}).headers["Content-Language"] == "ko"


@pytest.fixture(scope="module")
def catalogue() -> dict[Message, Translation]:
    return read_catalogue(CATALOGUE / "django.po")


def test_every_marked_text_has_english(catalogue: dict[Message, Translation]) -> None:
    """After a new text: an entry in `locale/en/LC_MESSAGES/django.po`, then `msgfmt` as docs/design.md says."""
    sources = [file for room in ("incidents", "kb") for file in (ROOT / room).rglob("*.py")]
    used = {message for file in sources for message in messages_of_python(file)}
    used |= {message for file in (ROOT / "templates").rglob("*.html") for message in messages_of_template(file)}
    assert len(used) > 500
    assert used - catalogue.keys() == set()


def test_every_entry_is_translated_and_keeps_its_places(catalogue: dict[Message, Translation]) -> None:
    places = re.compile(r"%\(\w+\)[sd]|<[^>]+>")
    wrong = {
        message.text
        for message, english in catalogue.items()
        if not english.text.strip()
        or english.is_fuzzy
        or HANGUL.search(QUOTED.sub("", english.text))
        or sorted(places.findall(message.text)) != sorted(places.findall(english.text))
    }
    assert wrong == set()


def test_compiled_messages_are_those_of_the_text(catalogue: dict[Message, Translation]) -> None:
    with (CATALOGUE / "django.mo").open("rb") as kept:
        compiled = dict(gettext.GNUTranslations(kept)._catalog)  # type: ignore[attr-defined]
    compiled.pop("")
    assert compiled == {
        f"{message.context}\x04{message.text}" if message.context else message.text: english.text
        for message, english in catalogue.items()
    }


@pytest.mark.parametrize(
    ("label", "label_en", "slug", "shown"),
    [
        ("설정 오류", "", "config-error", "Configuration error"),
        ("설정 오류", "Wrong setting", "config-error", "Wrong setting"),
        ("etcd", "", "etcd", "etcd"),
        ("아직 옮기지 않은 말", "", "new-term", "New term"),
    ],
)
def test_term_has_the_best_english_there_is(label: str, label_en: str, slug: str, shown: str) -> None:
    with translation.override("en"):
        assert term_label(label, label_en, slug) == shown
    assert term_label(label, label_en, slug) == label


def test_every_term_of_the_bundled_vocabulary_has_english(bundled: Path, client: Client) -> None:
    for kind in ("causes", "components", "factors", "detections"):
        labels = english(client, f"/{kind}/").xpath("//main//a[contains(@href, '/')]")
        assert [words for link in labels if HANGUL.search(words := link.text_content())] == []
