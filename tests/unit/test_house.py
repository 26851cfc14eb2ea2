"""The plan of the house in docs/architecture.md, held by tests."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from incidents.facets import FACETS
from incidents.filters import IncidentFilterSet
from incidents.listing_params import PARAMETERS
from tests.conftest import ROOT

# Rooms that may not know the rooms further right.
RIGHT = (
    "incidents.listing",
    "incidents.views",
    "incidents.api",
    "incidents.admin",
    "incidents.mcp_server",
    "incidents.management",
)
PURE = (
    "errors", "faults", "records", "record_text", "plain_text", "yaml_nodes", "yaml_fields", "taxonomy_file", "checks_file",
    "cross_check", "library_zip", "pins", "word_diff", "source_urls", "record_merge", "search/query", "search/korean", "search/plan",
)  # fmt: skip


def imports_of(file: Path) -> set[str]:
    """Return every module that a file imports when it is loaded; imports inside functions have a reason beside them."""
    found: set[str] = set()
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def is_under(module: str, room: str) -> bool:
    return module == room or module.startswith(room + ".")


@pytest.mark.parametrize("name", PURE)
def test_pure_modules_know_no_database(name: str) -> None:
    file = ROOT / "incidents" / f"{name}.py"
    assert {m for m in imports_of(file) if is_under(m, "django") or is_under(m, "incidents.models")} == set()


@pytest.mark.parametrize("room", ["models", "search", "markup", "documents"])
def test_rooms_on_the_left_know_nothing_of_those_on_the_right(room: str) -> None:
    files = list((ROOT / "incidents" / room).glob("*.py"))
    assert files
    found = {(f.name, m) for f in files for m in imports_of(f) for right in RIGHT if is_under(m, right)}
    assert found == set()


def test_the_search_package_is_closed() -> None:
    inside = {f"incidents.search.{file.stem}" for file in (ROOT / "incidents/search").glob("[a-z]*.py")}
    found = {
        (str(file.relative_to(ROOT)), module)
        for file in (ROOT / "incidents").rglob("*.py")
        if file.parent.name != "search"
        for module in imports_of(file) & inside
    }
    assert found == set()


def test_the_site_of_settings_imports_incidents_in_its_urls_alone() -> None:
    found = {
        file.name
        for file in (ROOT / "kb").glob("*.py")
        for module in imports_of(file)
        if is_under(module, "incidents") and file.name != "urls.py"
    }
    assert found <= {"router.py", "worker.py"}


def test_every_variable_of_the_environment_is_in_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    named = re.compile(r'(?:env_[a-z]+|secret_key)\(\s*"([A-Z_]+)"')
    variables = {
        name for file in (ROOT / "kb").glob("*.py") for name in named.findall(file.read_text(encoding="utf-8"))
    }
    assert variables
    assert {name for name in variables if f"`{name}`" not in readme} == set()


def test_every_command_is_in_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = {file.stem for file in (ROOT / "incidents/management/commands").glob("[a-z]*.py")} - {"welcome"}
    assert {name for name in commands if name not in readme} == set()


def test_every_facet_is_a_filter_and_a_parameter() -> None:
    names = {facet.name for facet in FACETS}
    assert names <= set(IncidentFilterSet.get_filters())
    assert names <= set(PARAMETERS)


def test_ci_runs_exactly_the_readme_s_test_command() -> None:
    script = (ROOT / ".ci/run").read_text(encoding="utf-8")
    assert script.rstrip().splitlines()[-1] == "exec make test"
    assert "\n```\nmake test\n```\n" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_every_room_is_on_the_plan() -> None:
    plan = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    rooms = {file.stem for file in (ROOT / "incidents").glob("*.py")} | {
        folder.name for folder in (ROOT / "incidents").iterdir() if (folder / "__init__.py").exists()
    }
    known = {"__init__", "apps", "urls", "context_processors", "progress", "migrations"}  # as in any Django project
    assert {room for room in rooms - known if not re.search(rf"\b{room}(\.py|/|\b)", plan)} == set()
