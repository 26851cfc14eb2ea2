"""The pattern page shows each component that has a style sheet."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.test import Client
from lxml import html as lxml_html

from tests.conftest import ROOT

pytestmark = pytest.mark.django_db

COMPONENTS = ROOT / "static/css/components"
# These belong to one kind of page each.
ELSEWHERE = {"home", "side", "api-docs", "history", "match", "report"}


@pytest.mark.parametrize("name", sorted({sheet.stem for sheet in COMPONENTS.glob("*.css")} - ELSEWHERE))
def test_component_is_shown_with_its_styles(bundled: Path, client: Client, name: str) -> None:
    tree = lxml_html.fromstring(client.get("/patterns/").content)
    assert any(address.endswith(f"css/components/{name}.css") for address in tree.xpath("//link/@href"))
    rules = re.sub(r"/\*.*?\*/", "", (COMPONENTS / f"{name}.css").read_text(), flags=re.DOTALL)
    styled = set(re.findall(r"\.([a-z][a-z0-9_-]*)", rules))
    assert styled & {one for element in tree.xpath("//*[@class]") for one in element.get("class").split()}
