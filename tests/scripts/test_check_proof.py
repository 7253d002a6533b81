"""The checker of proofs: a proof made by hand, files that are no proofs, and what the program prints."""

from __future__ import annotations

import ast
import gzip
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from swapcli import Market
from swapcli.quoting.proof_checker import find_checker
from swapcli.state.markets.embedded import embedded_market
from tests.scripts.checker import MAX_LINES, check, checker, checker_path
from tests.scripts.hand_made import hand_made_proof, with_hash

Record = dict[str, Any]
Change = Callable[[Record], object]


def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the program alone: without our packages, settings and folder."""
    command = [sys.executable, "-I", str(checker_path()), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, cwd="/")


def written(tmp_path: Path, document: Record) -> Path:
    file = tmp_path / "proof.json"
    file.write_text(json.dumps(document))
    return file


def test_the_checker_is_one_short_file_of_the_standard_library() -> None:
    text = checker_path().read_text()
    assert len(text.splitlines()) <= MAX_LINES
    assert max(map(len, text.splitlines())) <= 120
    imported = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            imported |= {each.name.partition(".")[0] for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add((node.module or "").partition(".")[0])
    assert imported <= sys.stdlib_module_names


def test_the_checkout_has_the_checker() -> None:
    assert find_checker() == Path(__file__).parents[2] / "scripts" / "check_proof.py"


def test_a_proof_made_by_hand_is_accepted_in_five_lines(tmp_path: Path) -> None:
    ran = run(written(tmp_path, hand_made_proof()))
    assert ran.returncode == 0
    assert ran.stdout.splitlines() == [
        "Accepted: 100 A for 97 B, paper, block None.",
        "Replayed: 2 swaps, each as its pool's contract computes it.",
        "Proved over these 2 pools: no routing that trades each direction of a pool at most once pays over 97.561 B "
        "(57.8 bps); no route without cycles and 0 directions of dust, of 3 hops, net of gas pays over 95.661 B "
        "(69.6 bps).",
        "Taken on faith: nothing.",
        "Not checked: that the chain's pools are in this state and need this gas; pools that are not listed.",
    ]


def test_the_json_says_the_same(tmp_path: Path) -> None:
    found = json.loads(run(written(tmp_path, hand_made_proof()), "--json").stdout)
    assert found == {
        "accepted": True,
        "reason": None,
        "reasons": [],
        "bounds": [
            {"kind": "output", "bound": "98", "gapBps": 57.84, "leftOut": 0},
            {"kind": "netOfGas", "bound": "96", "gapBps": 69.6, "leftOut": 0},
        ],
        "onFaith": [],
    }


def put(*path: str | int, value: object) -> Change:
    """Return a change that puts a value at a place of the document."""

    def change(document: Any) -> None:
        for key in path[:-1]:
            document = document[key]
        document[path[-1]] = value

    return change


WRONG: dict[str, tuple[Change, str]] = {
    "a price": (put("bounds", 0, "leaves", 0, "prices", 0, value="0.94"), "gains"),
    "a term": (put("bounds", 0, "leaves", 0, "terms", 1, 6, value="1.78"), "gains 1.78465.*, above its term"),
    "a missing term": (
        lambda document: document["bounds"][0]["leaves"][0]["terms"].pop(),
        "gains 1.78465.*, above its term",
    ),
    "a leaf's sum": (put("bounds", 0, "leaves", 0, "bound", value="97.5"), "the terms of a leaf sum to 97.56"),
    "a bound below its leaf": (put("bounds", 0, "bound", value="97.5"), "output: a leaf is above it"),
    "a gap": (put("bounds", 0, "gapBps", value="57.8"), "the gap is above 57.8"),
    "an output": (put("route", "steps", 0, "amountOut", value="25"), "step 0, A to B, pool 0 .* pays 24, not 25"),
    "the route's output": (put("route", "amountOut", value="98"), "the steps bring 97"),
    "the order's amount": (put("order", "amount", value="99"), "not what route and order say"),
    "a step's input": (put("route", "steps", 1, "amountIn", value="76"), "sells more than the steps before it"),
    "a state": (put("pools", 0, "reserves", value=["1000", "1001"]), "the hash of their state differs"),
    "a pool more": (lambda document: document["pools"].append(document["pools"][0]), "the pools are not those"),
    "a route of more hops": (put("scope", "maxHops", value=0), "netOfGas: the route has paths of 1 hops"),
    "the route's gas": (put("route", "gasUnits", value=189_999), "less than the least gas of its pools"),
    "the base gas": (put("gas", "base", value=80_000), "netOfGas: the terms of a leaf sum"),
    "a missing case": (put("bounds", 1, "leaves", 0, "used", value=[[0, 0, 1]]), "do not cover every case"),
    "a missing limit": (
        lambda document: (
            document["tokens"].append({"address": "0x", "symbol": "C", "decimals": 0}),
            document["pools"].append(document["pools"][0] | {"tokens": [0, 2], "address": "0x3"}),
            [leaf["prices"].append("0.9") for bound in document["bounds"] for leaf in bound["leaves"]],
            with_hash(document),
        ),
        "a token within reach has no limit",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_proof_is_rejected_with_its_reason(name: str) -> None:
    document = hand_made_proof()
    change, reason = WRONG[name]
    change(document)
    status, reasons = check(document)
    assert status == 1
    assert pytest.RaisesExc(ValueError, match=reason).matches(ValueError(" | ".join(reasons)))


UNREADABLE: dict[str, Change] = {
    "another version": put("version", value=2),
    "another format": put("format", value="swap-market/1"),
    "a price that is no number": put("bounds", 0, "leaves", 0, "prices", 0, value="nan"),
    "a negative price": put("bounds", 0, "leaves", 0, "prices", 0, value="-1"),
    "a price of 0 of the bought token": put("bounds", 0, "leaves", 0, "prices", 1, value="0"),
    "a huge exponent": put("bounds", 0, "leaves", 0, "prices", 0, value="1e999999999"),
    "an amount with a point": put("route", "amountIn", value="100.0"),
    "a bound of another kind": put("bounds", 0, "kind", value="best"),
    "no bounds": put("bounds", value=[]),
    "a bound without a leaf": put("bounds", 0, "leaves", value=[]),
    "a missing price": put("bounds", 0, "leaves", 0, "prices", value=["1"]),
    "a pool that is not there": put("route", "steps", 0, "pool", value=7),
    "no tokens": lambda document: document.pop("tokens"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_document_that_is_no_proof_is_status_2_in_one_sentence(tmp_path: Path, name: str) -> None:
    document = hand_made_proof()
    UNREADABLE[name](document)
    ran = run(written(tmp_path, document))
    assert ran.returncode == 2
    assert ran.stdout.startswith("Not readable as a proof: ")
    assert len(ran.stdout.splitlines()) == 1
    assert ran.stderr == ""


def test_files_that_are_no_proofs_are_status_2(tmp_path: Path) -> None:
    good = json.dumps(hand_made_proof()).encode()
    files = {
        "truncated": good[:1000],
        "truncated.gz": gzip.compress(good)[:500],
        "not a number": good.replace(b'"maxHops": 3', b'"maxHops": NaN'),
        "a number beyond floats": good.replace(b'"maxHops": 3', b'"maxHops": 1e999999999'),
        "digits without end": good.replace(b'"maxHops": 3', b'"maxHops": ' + b"3" * 10_000),
        "deep": b"[" * 100_000,
        "empty": b"",
        "bytes": bytes(range(256)),
        "large.json": b" " * (100 << 20),
        "large.gz": gzip.compress(b" " * (100 << 20), 1),
    }
    for name, content in files.items():
        file = tmp_path / "file"
        file.write_bytes(content)
        began = time.monotonic()
        ran = run(file)
        assert (ran.returncode, ran.stderr) == (2, ""), name
        assert len(ran.stdout.splitlines()) == 1, name
        assert time.monotonic() - began < 20, name
    assert run(tmp_path / "none").returncode == 2
    assert run().returncode == 2
    assert run("--what", tmp_path / "file").returncode == 2


def test_leaves_that_never_cover_do_not_hold_the_checker_up() -> None:
    """Each of many leaves has conditions of its own: all choices would be too many to try."""
    document = hand_made_proof()
    bound = document["bounds"][1]
    leaf = bound["leaves"][0]
    bound["leaves"] = [leaf | {"unused": [[n, 0, 1], [n + 1, 0, 1]]} for n in range(2, 60)]
    status, reasons = check(document)
    assert status == 1
    assert "netOfGas: the leaves do not cover every case" in reasons


def test_leaves_that_cover_every_case_are_accepted() -> None:
    document = hand_made_proof()
    bound = document["bounds"][1]
    leaf = bound["leaves"][0]
    bound["leaves"] = [
        leaf | {"used": [[0, 0, 1]]},
        leaf | {"unused": [[0, 0, 1]], "used": [[1, 0, 1]]},
        leaf | {"unused": [[0, 0, 1], [1, 0, 1]]},
    ]
    assert check(document) == (0, [])


def test_a_family_that_the_checker_does_not_know_is_taken_on_faith(tmp_path: Path) -> None:
    """The term must be what its trade shows at least; the library computes it with `--swapcli`."""
    with Market.embedded("starknet") as market:
        document = market.quote("ETH", "USDC", "1", proof=True).proof().document()
    text = json.loads(json.dumps(document))
    found = json.loads(run(written(tmp_path, text), "--json").stdout)
    assert found["accepted"]
    assert {family for _, family, *_ in found["onFaith"]} <= {"ekubo", "solidly_stable"}
    assert found["onFaith"]
    command = [sys.executable, str(checker_path()), str(tmp_path / "proof.json"), "--json", "--swapcli"]
    with_library = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert json.loads(with_library.stdout)["onFaith"] == []
    term = next(
        each
        for each in text["bounds"][0]["leaves"][0]["terms"]
        if text["pools"][each[0]]["family"] == "ekubo" and float(each[6]) > 1
    )
    term[6] = str(float(term[6]) / 2)
    assert check(text)[0] == 1


def test_nine_of_ten_pools_of_the_embedded_markets_are_known() -> None:
    known = every = 0
    for name in ("base", "hyperevm", "monad", "citrea"):
        families = [pool["family"] for pool in json.loads(embedded_market(name))["pools"]]
        every += len(families)
        known += sum(each in checker().FAMILIES for each in families)
    assert known >= 0.9 * every
