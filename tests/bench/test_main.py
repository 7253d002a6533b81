"""`python -m bench` as a user runs it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bench.plan import PAGE
from bench.report.page import split_page
from tests.support.testnet import USDC, WETH, build_market_document

ROOT = Path(__file__).parents[2]


def bench(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "bench", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


def test_files_that_cannot_be_read_get_one_sentence_and_status_2(tmp_path: Path) -> None:
    market = json.dumps(build_market_document())
    nowhere = json.dumps(build_market_document() | {"network": {"name": "nowhere"}})
    files = {"text": "no market", "list": "[]", "network": '{"pools": [], "network": {}}', "orders": market}
    files |= {"nowhere": nowhere, "keys": market, "token": market, "amount": market}
    for name, text in files.items():
        (tmp_path / f"market_{name}.json").write_text(text)
    order = {"id": 7, "size": "small", "token_in": WETH, "token_out": USDC, "amount_in": "5"}
    for name, changed in {
        "keys": {"id": 7},
        "token": order | {"token_in": "0x12"},
        "amount": order | {"amount_in": "x"},
    }.items():
        (tmp_path / f"orders_{name}.ndjson").write_text(json.dumps(changed))
    (tmp_path / "market_binary.json.xz").write_bytes(b"\x00")
    for name in ("none.json", *(f"{name}.json" for name in files), "binary.json.xz"):
        ran = bench("--market", tmp_path / f"market_{name}")
        assert (ran.returncode, ran.stdout) == (2, ""), name
        assert ran.stderr.startswith("bench: "), name
        assert f"_{name.partition('.')[0]}." in ran.stderr
        assert len(ran.stderr.splitlines()) == 1
    ran = bench("--out", tmp_path / "nowhere" / "page.md")
    assert (ran.returncode, ran.stderr) == (2, f"bench: {tmp_path}/nowhere/page.md: there is no such folder\n")


@pytest.mark.slow
def test_an_interruption_leaves_the_page_as_it_was(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Page\n\n## Time\n\nOld.\n")
    # Tests that run in the background of a shell ignore the signal, and so would their children.
    listen = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    program = listen + "import runpy; runpy.run_module('bench', run_name='__main__', alter_sys=True)"
    command = [sys.executable, "-c", program, "--only", "chain", "--quick", "--out", str(page)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stderr is not None
        process.stderr.readline()  # its first stage: an import may swallow the signal
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert (out, err.splitlines()[-1]) == ("", "bench: interrupted, and nothing was written")
    assert page.read_text() == "# Page\n\n## Time\n\nOld.\n"
    assert [each.name for each in tmp_path.iterdir()] == ["page.md"]


@pytest.mark.slow
def test_one_question_replaces_its_section_of_a_page(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE.read_text())
    ran = bench("--only", "chain", "--quick", "--out", page)
    assert ran.returncode == 0, ran.stderr
    assert "do not compare" in ran.stdout
    before, after = split_page(PAGE.read_text())[1], split_page(page.read_text())[1]
    assert {title for title in after if before.get(title) != after[title]} == {"Following a chain"}
    assert 'make bench ARGS="--only chain --quick"' in after["Following a chain"]
    assert "## From block to quote" in (tmp_path / "bench" / "HISTORY.md").read_text()
