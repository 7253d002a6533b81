"""The page of a report: valid HTML that loads and runs nothing, whatever tokens and contracts call themselves."""

from __future__ import annotations

import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

from swapcli import ProofItem, ProofOutcome, ProofStage, ProveReport
from swapcli.core.networks.catalogue import find_network
from swapcli.quoting.proving.prove_report import StageTime
from swapcli.quoting.proving.report_page import render_page

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</style></head><iframe src='https://evil.example'>",
    "\u202eevil\u202c\x1b[31m\x00\n",
    "&lt;b&gt; & <!-- ",
    "javascript:alert(1)",
    "url(https://evil.example/x)",
    "X" * 5_000,
)
VOID = {"meta", "br", "img", "link"}
ADDRESS = "0x" + "ab" * 20


class Outline(HTMLParser):
    """The tags of a page, which must be closed in order, its attributes and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open[-1:] != ["style"]:
            self.text += data


def report_of(items: list[ProofItem], *, was_interrupted: bool = False) -> ProveReport:
    network, stages = find_network("base"), tuple(StageTime(stage, 1.5, 3) for stage in ProofStage)
    return ProveReport(
        network, Path("folder"), tuple(items), stages, ("node.example",), 1_764_440_000, 1_764_440_090, 42, 600, 90.0,
        120.0, ("Nothing else.",), 0, was_interrupted, "3.11.7",
    )  # fmt: skip


def item(outcome: ProofOutcome, text: str, stage: ProofStage = ProofStage.QUOTES) -> ProofItem:
    return ProofItem(stage, text, text, outcome, text, 7, 1_500_000, 1_500_001, text, 6, {text: text}, 1)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_are_only_text(text: str) -> None:
    items = [item(outcome, text, stage) for stage in ProofStage for outcome in ProofOutcome]
    page = Outline(render_page(report_of(items)))
    plain = Outline(render_page(report_of([item(each.outcome, "ETH", each.stage) for each in items])))
    assert page.tags == plain.tags
    assert page.attributes == plain.attributes
    assert not {"script", "iframe", "img", "link", "a", "object", "embed", "form"} & set(page.tags)
    assert not [name for name, _ in page.attributes if name.startswith("on") or name in ("src", "href", "srcset")]
    assert not re.search(r"[\x00-\x08\x0e-\x1f\u202a-\u202e]", page.text)


def test_nothing_is_loaded() -> None:
    page = render_page(report_of([item(ProofOutcome.MATCH, "ETH")]))
    style = page.split("<style>")[1].split("</style>")[0]
    assert not re.search(r"url\(|@import|https?:|//", style)
    assert "default-src 'none'" in page
    assert page.isascii() or 'charset="utf-8"' in page


@pytest.mark.parametrize(
    ("outcomes", "words"),
    [
        ((ProofOutcome.MATCH,), "Everything that could be checked matches."),
        ((ProofOutcome.MATCH, ProofOutcome.DIFFERENCE), "1 difference found."),
        ((ProofOutcome.DIFFERENCE, ProofOutcome.DIFFERENCE), "2 differences found."),
        ((ProofOutcome.NOT_CHECKED,), "Nothing could be checked."),
        ((), "Nothing could be checked."),
    ],
)
def test_the_page_says_what_was_found(outcomes: tuple[ProofOutcome, ...], words: str) -> None:
    items = [item(each, f"order {number}") for number, each in enumerate(outcomes)]
    for was_interrupted in (False, True):
        text = Outline(render_page(report_of(items, was_interrupted=was_interrupted))).text
        assert words in text
        assert ("The run was interrupted." in text) is was_interrupted


def test_differences_come_first_with_both_amounts() -> None:
    items = [item(ProofOutcome.MATCH, "first"), item(ProofOutcome.DIFFERENCE, "second")]
    text = Outline(render_page(report_of(items))).text
    assert text.index("second") < text.index("first")
    assert "1.5 second" in text
    assert "1.500001 second" in text


def test_long_hashes_are_shortened() -> None:
    text = Outline(render_page(report_of([item(ProofOutcome.MATCH, f"in {ADDRESS}, and {'0x' + 'cd' * 32}")]))).text
    assert "0xabab…abab" in text
    assert ADDRESS not in text


@pytest.mark.slow
def test_a_browser_shows_the_page_without_an_error(tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(render_page(report_of([item(ProofOutcome.MATCH, text) for text in HOSTILE])))
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom"]
    ran = subprocess.run([*command, file.as_uri()], capture_output=True, text=True, check=True, timeout=60)
    assert Outline(ran.stdout).tags.count("tr") == len(HOSTILE) + 1
    assert "CONSOLE" not in ran.stderr
