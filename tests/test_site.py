"""The site of `make docs`: it has all documents, and no link in it leads nowhere."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import swapcli
from swapcli.core.model.finding import FindingCode
from swapcli.core.networks.catalogue import find_network, network_names
from swapcli.faces.cli.help_topics import ORDER, topic_text
from swapcli.faces.service.openapi import build_document
from swapcli.interface.document_types import DOCUMENTS
from tests.generate.command_tree import command_nodes
from tests.generate.site import pages as site_pages
from tests.generate.site.code_reference import codes_page, finding_meanings
from tests.generate.site.command_reference import commands_page
from tests.generate.site.document_reference import documents_page, printed_documents
from tests.generate.site.http_reference import http_page
from tests.generate.site.library_reference import library_page
from tests.generate.site.pages import ROOT, documents, pages
from tests.generate.site.setting_reference import settings_page
from tests.generate.site.topics import topic_page


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


@pytest.mark.parametrize("topic", ORDER)
def test_a_page_has_all_of_its_topic(topic: str) -> None:
    text = topic_text(topic)
    page = re.sub(r"\]\([a-z-]+\.md\)|^````\w*$", "", topic_page(text), flags=re.MULTILINE)
    assert words(page.replace("\\", "")) == words(text.replace("\\", ""))


def test_a_topic_becomes_headings_code_and_references() -> None:
    text = (
        "Title\n\nSome *text*, see swapcli\nhelp amounts.\n\nAPI KEYS\nMore:\n\n  $ swapcli keys list\n\n    x = f(1)\n"
    )
    assert topic_page(text) == (
        "# Title\n\nSome \\*text\\*, see [swapcli help amounts](amounts.md).\n\n## API keys\n\nMore:\n\n"
        "````console\n$ swapcli keys list\n\n  x = f(1)\n````\n"
    )


def test_every_document_is_a_page() -> None:
    files = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "bench").glob("*.md")]
    assert {file.relative_to(ROOT).as_posix() for file in files} <= set(documents())


def test_links_between_the_pages_lead_to_pages_or_files() -> None:
    written = dict(pages())
    for path, text in written.items():
        for target in re.findall(r"\]\(([^)\s#]+)[^)]*\)", text):
            if ":" not in target:
                file = (Path("/") / path).parent.joinpath(target).resolve().relative_to("/").as_posix()
                assert file in written or (ROOT / file.removeprefix("files/")).is_file(), f"{path}: {target}"


def test_every_page_is_in_the_navigation() -> None:
    listed = {"index"}
    for path, text in pages():
        for tree in re.findall(r"```{toctree}\n(?::[^\n]*\n)*\n(.*?)```", text, re.DOTALL):
            listed |= {(Path(path).parent / name).as_posix() for name in tree.split()}
    assert {path.rpartition(".")[0] for path, _ in pages()} == listed


def test_a_document_with_a_dead_link_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "README.md").write_text("[gone](docs/gone.md)")
    monkeypatch.setattr(site_pages, "ROOT", tmp_path)
    monkeypatch.setattr(site_pages, "documents", lambda: {"README.md": "index"})
    with pytest.raises(ValueError, match=r"README\.md: there is no docs/gone\.md"):
        dict(pages())


def test_the_command_reference_has_every_command_and_option() -> None:
    page = commands_page()
    for node in command_nodes():
        if node.path:
            _, found, section = page.partition(f"# swapcli {' '.join(node.path)}\n")
            assert found, node.path
            # The options of a group are those of its default command.
            own = section.partition("\n## " if len(node.path) == 1 else "\n##")[0]
            assert all(name in own for option in node.options for name in option.names if name != "--help"), node.path


def test_the_http_reference_has_every_operation_and_type() -> None:
    document = build_document([find_network(name) for name in network_names()])
    page = http_page()
    operations = [
        f"### {method.upper()} {path}"
        for path, item in document["paths"].items()
        for method, operation in item.items()
        if isinstance(operation, dict) and operation.get("tags")
    ]
    types = [f"(type-{name})=" for name in document["components"]["schemas"]]
    assert len(operations) > 25
    assert set(page.splitlines()) >= {*operations, *types}


def test_the_reference_of_documents_has_every_document_and_type() -> None:
    page = documents_page()
    rows = printed_documents()
    assert [name for name, _ in rows] == list(DOCUMENTS)
    for name, printed_by in rows:
        assert f"## {name}\n\nPrinted by: `{printed_by}`" in page
        schema = swapcli.schema(name).document()
        assert all(f"(document-{each})=" in page for each in schema.get("$defs", {})), name


def test_the_reference_of_settings_has_every_setting() -> None:
    page = settings_page()
    shown = {row.key for row in swapcli.settings().rows}
    assert len(shown) > 50
    assert all(f"| `{key}` | `SWAPCLI_" in page for key in shown)


def test_the_reference_of_codes_explains_every_code() -> None:
    page = codes_page()
    assert set(finding_meanings()) >= set(FindingCode)
    assert all(f"| `{code}` |" in page for code in FindingCode)
    named = {getattr(swapcli, name) for name in swapcli.__all__ if inspect.isclass(getattr(swapcli, name))}
    codes = {each.code for each in named if issubclass(each, swapcli.SwapcliError)} - {swapcli.SwapcliError.code}
    assert len(codes) > 40
    assert all(f"| `{code}` |" in page for code in codes)


def test_the_library_reference_has_every_public_name() -> None:
    named = re.findall(r"^\.\. auto\w+:: swapcli\.(\w+)$", library_page(), re.MULTILINE)
    assert sorted(named) == sorted(set(swapcli.__all__) - {"__version__"})


class Links(HTMLParser):
    """The ids and the local targets of a page."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.targets: list[str] = []
        self.loaded: list[str] = []
        self.feed(file.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.ids |= {value for name in ("id", "name") if (value := found.get(name))}
        if tag == "a" and found.get("href"):
            self.targets.append(str(found["href"]))
        elif tag in ("link", "script", "img"):
            self.loaded += [value for name in ("href", "src") if (value := found.get(name))]


@pytest.mark.slow
def test_the_site_is_built_and_has_no_dead_link(tmp_path: Path) -> None:
    """The build itself fails on each reference that Sphinx cannot resolve; here each link of the result is followed."""
    command = [sys.executable, "-m", "tests.generate.site", str(tmp_path)]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert ran.returncode == 0, f"{ran.stderr}\nmake docs installs what this test needs"
    html = tmp_path / "html"
    found = {file: Links(file) for file in html.rglob("*.html")}
    assert len(found) > 30
    for file, links in found.items():
        for target in links.targets:
            parts = urlsplit(target)
            if parts.scheme or target == "#":
                continue
            aim = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            assert aim.exists(), f"{file.name}: {target}"
            if parts.fragment and aim in found:
                assert unquote(parts.fragment) in found[aim].ids, f"{file.name}: {target}"
        assert all(not urlsplit(each).scheme for each in links.loaded), f"{file.name} loads from elsewhere"
