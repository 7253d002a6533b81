"""The page: its files and policy, and every check of `page.mjs` in a real Chromium."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.faces.service.test_html_pages import ResourceParser, find_chromium
from tests.web.static_server import StaticServer, serve_folder
from web.bridge import call
from web.build import PYODIDE_FILES, build

SCRIPT = Path(__file__).with_name("page.mjs")
ORDER = {"network": "base", "tokenIn": "ETH", "tokenOut": "USDC", "amount": "50", "certify": True}
CALLDATA = "0xa9059cbb" + "00" * 64  # transfer of nothing to nobody
RECIPIENT = "0x" + "11" * 20
HOSTILE = {"USDC": "<img src=x onerror=attack()>", "AERO": '"><script>attack()</script>'}
TIMEOUT_S = 600  # more than that of the script, which then ends the browser
BIG_BYTES = 50_000_000


def reply(action: str, fields: Mapping[str, object]) -> Any:
    """Return the result of an action in this Python."""
    return json.loads(call(action, json.dumps(fields)))["result"]


@pytest.fixture(scope="session")
def page_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page as `make web` builds it, below a folder that a server has too."""
    folder = tmp_path_factory.mktemp("web") / "below" / "swapcli"
    build(folder)
    return folder


def test_the_folder_has_all_that_the_page_needs(page_folder: Path) -> None:
    names = {each.relative_to(page_folder).as_posix() for each in page_folder.rglob("*") if each.is_file()}
    own = {"index.html", "page.css", "page.js", "worker.js", "swapcli.zip", "licences.txt"}
    assert names == own | {f"pyodide/{name}" for name in PYODIDE_FILES}
    with zipfile.ZipFile(page_folder / "swapcli.zip") as archive:
        members = archive.namelist()
    assert {"swapcli/__init__.py", "swapcli/check_proof.py", "web/bridge.py"} <= {*members}
    assert not [each for each in members if each.startswith("swapcli/faces/") or "__pycache__" in each]


def test_equal_sources_make_an_equal_archive(page_folder: Path, tmp_path: Path) -> None:
    build(tmp_path / "again")
    assert (tmp_path / "again" / "swapcli.zip").read_bytes() == (page_folder / "swapcli.zip").read_bytes()


def test_the_policy_allows_only_files_of_the_page(page_folder: Path) -> None:
    html = (page_folder / "index.html").read_text(encoding="utf-8")
    found = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', html)
    assert found
    policy = dict(part.split(" ", 1) for part in found[1].split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["connect-src"] == policy["style-src"] == "'self'"
    assert policy["script-src"] == "'self' 'wasm-unsafe-eval'"
    assert found[1] in Path("docs/page.md").read_text(encoding="utf-8"), "the documented header"
    parser = ResourceParser()
    parser.feed(html)
    assert set(parser.addresses) == {"data:,", "page.css", "page.js", "licences.txt"}
    assert not re.search(r"<script(?![^>]* src=)|<style|<[^>]* on[a-z]+=|<[^>]* style=", html)


@pytest.mark.parametrize("name", ["page.js", "worker.js"])
def test_the_scripts_make_no_markup_of_text_and_store_nothing(page_folder: Path, name: str) -> None:
    text = (page_folder / name).read_text(encoding="utf-8")
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function", text)
    assert not re.search(r"localStorage|sessionStorage|indexedDB|document\.cookie|sendBeacon|WebSocket", text)


def write_files(folder: Path) -> dict[str, str]:
    """Write what a user may choose; return the paths by name."""
    embedded = Path("swapcli/state/markets/data/base.json").read_bytes()
    proof = reply("proof", {**ORDER, "amount": "3"})
    rejected = json.loads(proof)
    rejected["route"]["amountOut"] = str(int(rejected["route"]["amountOut"]) + 1)
    hostile = json.loads(embedded)
    for token in hostile["tokens"]:
        if token["symbol"] in HOSTILE:
            token["symbol"] = HOSTILE[token["symbol"]]
    contents = {
        "market.json": embedded,
        "hostile.json": json.dumps(hostile).encode(),
        "truncated.json": embedded[: len(embedded) // 2],
        "empty.json": b"",
        "binary.json": bytes(range(256)) * 100,
        "proof.json": proof.encode(),
        "rejected.json": json.dumps(rejected).encode(),
        "payload.json": json.dumps({"to": RECIPIENT, "data": CALLDATA, "chainId": 8453}).encode(),
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    with (folder / "huge.json").open("wb") as file:
        file.truncate(65 << 20)  # a file without content on the disk
    return {each.stem: str(each) for each in folder.iterdir()}


def write_big_market(path: Path) -> None:
    """Write a market file of 50 MB: copies of the embedded pools that need no derived id, at other addresses."""
    market = json.loads(Path("swapcli/state/markets/data/base.json").read_text(encoding="utf-8"))
    copied = [pool for pool in market["pools"] if len(pool["address"]) == 42 and "V4" not in pool["protocol"]]
    rows = [json.dumps(pool) for pool in copied]
    copies = BIG_BYTES // sum(map(len, rows))
    market["pools"] = [
        {**pool, "address": f"0x{number * len(copied) + index + 1:040x}"}
        for number in range(copies)
        for index, pool in enumerate(copied)
    ]
    path.write_text(json.dumps(market), encoding="utf-8")


def expectations(folder: Path) -> dict[str, Any]:
    """Return what the page must show, as this Python has it."""
    quote, payload = reply("quote", ORDER), {"payload": CALLDATA, "network": "base"}
    return {
        "outputAmount": quote["document"]["outputAmount"],
        "swaps": len(quote["swaps"]),
        "payload": payload["payload"],
        "verdict": reply("decode", payload)["document"]["verdict"]["message"],
        "proofLine": reply("check", {"file": str(folder / "proof.json")})["lines"][0].removeprefix("Accepted: "),
    }


@pytest.mark.slow
@pytest.mark.parametrize("is_full", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["quick", "full"])
def test_the_page_works_in_chromium(
    is_full: bool, page_folder: Path, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    """Run all checks, or the quick ones, in one browser: starting Python in it costs more than most of them."""
    files = tmp_path / "files"
    files.mkdir()
    paths = write_files(files)
    if is_full:
        write_big_market(files / "big.json")
        paths["big"] = str(files / "big.json")
    outside = tmp_path / "outside"
    outside.mkdir()
    with serve_folder(page_folder.parents[1]) as server, serve_folder(outside) as other:
        facts = {
            "browser": find_chromium(),
            "profile": str(tmp_path / "profile"),
            "url": f"{server.url}/below/swapcli/",
            "other": other.url,
            "isFull": is_full,
            "files": paths,
            "expected": expectations(files),
        }
        lines = run_checks(facts)
        for line in lines:
            with subtests.test(line["check"]):
                assert line["failure"] is None
        assert len(lines) >= 8
        check_requests(server, other, page_folder)
    shutil.rmtree(files)


def check_requests(server: StaticServer, other: StaticServer, page_folder: Path) -> None:
    """Check that the page reads its own files and nothing else."""
    allowed = {f"GET /below/swapcli/{each.relative_to(page_folder).as_posix()}" for each in page_folder.rglob("*")}
    assert set(server.paths) <= allowed | {"GET /below/swapcli/"}
    assert other.paths == []


def run_checks(facts: Mapping[str, object]) -> list[dict[str, Any]]:
    """Return a line for each check of the script."""
    ran = subprocess.run(
        ["node", str(SCRIPT), json.dumps(facts)], capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    lines = [json.loads(line) for line in ran.stdout.splitlines()]
    assert ran.returncode == 0, (ran.stderr[-2000:], lines)
    return lines
