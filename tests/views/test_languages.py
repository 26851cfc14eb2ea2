"""The English interface: what stays Korean says so, and nothing of the interface is left behind."""

from __future__ import annotations

import gettext
import re
import subprocess
from pathlib import Path

import pytest
from django.test import Client
from django.utils import translation
from lxml import html as lxml_html

from incidents.term_labels import term_label
from tests.conftest import ROOT

pytestmark = pytest.mark.django_db

CATALOGUE = ROOT / "locale/en/LC_MESSAGES"
HANGUL = re.compile("[가-힣]")
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
        "/feeds/",
        "/corrections/",
        "/actions/?component=etcd",
        "/about/",
        "/about/search/",
        "/incidents/IL-9999/",
    ],
)
def test_english_page_leaves_no_korean_of_its_own(bundled: Path, client: Client, path: str) -> None:
    tree = english(client, path)
    assert tree.get("lang") == "en"
    assert korean_words(tree) == []


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


def test_compiled_messages_are_those_of_the_text(tmp_path: Path) -> None:
    subprocess.run(["msgfmt", "--check-format", "-o", tmp_path / "django.mo", CATALOGUE / "django.po"], check=True)
    with (tmp_path / "django.mo").open("rb") as fresh, (CATALOGUE / "django.mo").open("rb") as kept:
        assert gettext.GNUTranslations(kept)._catalog == gettext.GNUTranslations(fresh)._catalog  # type: ignore[attr-defined]


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
