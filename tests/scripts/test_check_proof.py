"""The checker of proofs: a proof made by hand, files that are no proofs, and what the program prints."""

from __future__ import annotations

import ast
import gzip
import json
import subprocess
import sys
import time
from collections.abc import Callable
from decimal import localcontext
from pathlib import Path
from typing import Any

import pytest

from swapcli import Market
from swapcli.quoting import proof_checker
from swapcli.state.markets.embedded import embedded_market
from tests.examples import few
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
    assert proof_checker.find_checker() == Path(__file__).parents[2] / "scripts" / "check_proof.py"


def test_a_proof_made_by_hand_is_accepted_in_five_lines(tmp_path: Path) -> None:
    ran = run(written(tmp_path, hand_made_proof()))
    assert ran.returncode == 0
    assert ran.stdout.splitlines() == [
        "Accepted: 100 A for 97 B, paper, block unknown.",
        "Replayed: 2 swaps, each as its pool's contract computes it.",
        "Proved over these 2 pools: no routing that trades each direction of a pool at most once pays over 97.561 B "
        "(57.8 bps); no route of at most 3 hops without cycles, with 0 of 4 directions skipped, net of gas, "
        "pays over 95.661 B (69.6 bps).",
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
            {"kind": "output", "bound": "98", "gapBps": 57.84, "skipped": 0},
            {"kind": "afterGas", "bound": "96", "gapBps": 69.6, "skipped": 0},
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
    "a bound below its leaf": (put("bounds", 0, "bound", value="97.5"), "output: the bound is below that of a leaf"),
    "a gap": (put("bounds", 0, "gapBps", value="57.8"), "the gap is above 57.8"),
    "an output": (put("route", "steps", 0, "amountOut", value="25"), "step 0, A to B, pool 0 .* pays 24, not 25"),
    "the route's output": (put("route", "amountOut", value="98"), "the steps bring 97"),
    "the order's amount": (put("order", "amount", value="99"), "not what route and order say"),
    "a step's input": (put("route", "steps", 1, "amountIn", value="76"), "sells more than the steps before it"),
    "a state": (put("pools", 0, "reserves", value=["1000", "1001"]), "the hash of their state differs"),
    "a pool more": (
        lambda document: document["pools"].append(document["pools"][0] | {"address": "0x3"}),
        "the pools are not those",
    ),
    "a step from a token to itself": (
        put("route", "steps", 0, value={"pool": 0, "tokenIn": 0, "tokenOut": 0, "amountIn": "25", "amountOut": "24"}),
        "step 0, A to A, .* sells more than",
    ),
    "a limit of the sold token": (
        put("bounds", 1, "limits", "tokens", value=[[0, "0", "pools"]]),
        "limit of token 0 is not its pools",
    ),
    "a route of more hops": (put("scope", "maxHops", value=0), "afterGas: a swap of the route is on no path of 0 hops"),
    "the route's gas": (put("route", "gasUnits", value=189_999), "less than the least gas of its pools"),
    "the base gas": (put("gas", "base", value=80_000), "afterGas: the terms of a leaf sum"),
    "a rate": (put("bounds", 1, "leaves", 0, "rates", 0, 2, value="0.94"), "gains"),
    "a product of rates": (
        put("bounds", 1, "leaves", 0, "product", value="0.95"),
        "afterGas: a path's product of rates is above 0.95",
    ),
    "a missing order of tokens": (put("bounds", 1, "leaves", 0, "before", value=[[0, 1]]), "do not cover every case"),
    "a missing case": (put("bounds", 1, "leaves", 0, "used", value=[[0, 0, 1]]), "do not cover every case"),
    "a missing limit": (
        lambda document: (
            document["tokens"].append({"address": "0x", "symbol": "C", "decimals": 0}),
            document["pools"].append(document["pools"][0] | {"tokens": [0, 2], "address": "0x3"}),
            [leaf["prices"].append("0.9") for leaf in document["bounds"][0]["leaves"]],
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
    "another version": put("version", value=1),
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
    "a pool twice": lambda document: document["pools"].append(document["pools"][0]),
    "a pool twice, its address written in another way": (
        lambda document: document["pools"].append(
            document["pools"][0] | {"address": document["pools"][0]["address"].replace("0x", "0X000")}
        )
    ),
    "a token twice": lambda document: document["tokens"].append(document["tokens"][0]),
    "a token twice in a pool": put("pools", 0, "tokens", value=[0, 1, 1]),
    "a token counted from the end": put("pools", 0, "tokens", value=[0, -1]),
    "an order from the end": put("order", "tokenIn", value=-2),
    "a tick twice": lambda document: document["pools"].append(
        document["pools"][0] | {"address": "0x3", "family": "concentrated", "ticks": [[0, "1"], [0, "-1"]]}
    ),
}


@pytest.mark.parametrize("name", few(UNREADABLE, 8))
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
        "a key twice": good.replace(b'"maxHops": 3', b'"maxHops": 1, "maxHops": 3'),
        "another verdict in a name": good.replace(b'"paper"', b'"x.\\nAccepted: 1 A for 2 B"'),
        "a hidden direction of text": good.replace(b'"paper"', b'"\\u202Erepap"'),
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


def test_hops_without_end_do_not_hold_the_checker_up() -> None:
    document = hand_made_proof()
    document["scope"]["maxHops"] = 10**30
    assert check(document) == (0, [])


def test_paths_that_share_swaps_have_their_own_hops() -> None:
    """A C D B and A E C B have three hops each, though A E C D B could be read from their swaps."""
    document = hand_made_proof()
    document["tokens"] += [{"address": "0x" + each * 40, "symbol": each, "decimals": 0} for each in "CDE"]
    pairs = [(0, 2), (2, 3), (3, 1), (0, 4), (4, 2), (2, 1)]
    like = document["pools"][0]
    document["pools"] = [like | {"address": f"0x{n + 1}", "tokens": [*pair]} for n, pair in enumerate(pairs)]
    steps = [(0, "50", "47"), (3, "50", "47"), (4, "47", "44"), (1, "47", "44"), (5, "44", "42"), (2, "44", "42")]
    document["route"]["steps"] = [
        {"pool": n, "tokenIn": pairs[n][0], "tokenOut": pairs[n][1], "amountIn": sold, "amountOut": paid}
        for n, sold, paid in steps
    ]
    document["route"] |= {"amountOut": "84", "gasUnits": 500_000}
    with_hash(document)
    checked = checker().Checker(document, None)
    checked.replay()
    assert checked.reasons == []
    assert checked.longest == 3


def test_a_swap_on_no_path_within_the_hops_is_too_long() -> None:
    """C D takes four hops, A C D E B, though each of its tokens has a path of three: A C B and A D E B."""
    document = hand_made_proof()
    document["tokens"] += [{"address": "0x" + each * 40, "symbol": each, "decimals": 0} for each in "CDE"]
    swaps = [(0, 2, "60", "56"), (0, 3, "30", "29"), (2, 3, "20", "19"), (3, 4, "48", "45")]
    swaps += [(4, 1, "45", "43"), (2, 1, "36", "34")]
    like = document["pools"][0]
    document["pools"] = [like | {"address": f"0x{n + 1}", "tokens": [i, j]} for n, (i, j, _, _) in enumerate(swaps)]
    document["route"]["steps"] = [
        {"pool": n, "tokenIn": i, "tokenOut": j, "amountIn": sold, "amountOut": paid}
        for n, (i, j, sold, paid) in enumerate(swaps)
    ]
    document["route"] |= {"amountIn": "90", "amountOut": "77", "gasUnits": 500_000}
    document["order"]["amount"] = "90"
    with_hash(document)
    checked = checker().Checker(document, None)
    checked.replay()
    assert checked.reasons == []
    assert checked.longest == 4
    document["bounds"][0]["leaves"][0]["prices"] += [None] * 3
    for hops in (3, 4):
        document["scope"]["maxHops"] = hops
        assert (f"afterGas: a swap of the route is on no path of {hops} hops" in check(document)[1]) is (hops == 3)


def test_leaves_that_never_cover_do_not_hold_the_checker_up() -> None:
    """Each of many leaves has conditions of its own: all choices would be too many to try."""
    document = hand_made_proof()
    bound = document["bounds"][1]
    leaf = bound["leaves"][0]
    bound["leaves"] = [leaf | {"unused": [[n, 0, 1], [n + 1, 0, 1]]} for n in range(2, 60)]
    status, reasons = check(document)
    assert status == 1
    assert "afterGas: the leaves do not cover every case" in reasons


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


def test_leaves_that_cover_every_order_of_two_tokens_are_accepted() -> None:
    document = hand_made_proof()
    bound = document["bounds"][1]
    leaf = bound["leaves"][0]
    bound["leaves"] = [leaf | {"before": [[0, 1]]}, leaf | {"before": [[1, 0]], "terms": [], "product": "0.7"}]
    bound["leaves"][1]["bound"] = "69.1"
    assert check(document) == (0, []), "no swap leads from A to B where B comes first"
    bound["leaves"][1]["before"] = [[0, 1]]
    assert "afterGas: the leaves do not cover every case" in check(document)[1]


def test_an_order_of_tokens_does_not_bound_routings_with_cycles() -> None:
    """100 A for B: alone, 1000 A against 2000 B pay 2000 * 100 / 1100 = 181.8 B. But 90 A more, bought for 100 B from
    the pool of 1000 A against 1000 B, make it 2000 * 190 / 1190 = 319, which leaves 219 B. Each leaf lacks a half of
    that cycle, so that both would be bounds of their own routes.
    """
    document = hand_made_proof()
    document["pools"][1]["reserves"] = ["1000", "2000"]
    step = {"pool": 1, "tokenIn": 0, "tokenOut": 1, "amountIn": "100", "amountOut": "181"}
    document["route"] |= {"amountOut": "181", "steps": [step]}
    (bound, _) = document["bounds"]
    bound |= {"bound": "181.9", "gapBps": "50"}
    (leaf,) = bound["leaves"]
    forward = {"prices": ["1.6529", "1"], "terms": [[1, 0, 1, "100", "181", "1.6529", "16.53"]], "bound": "181.9"}
    backward = {"prices": ["0.5", "1"], "terms": [], "bound": "50"}
    bound["leaves"] = [leaf | forward | {"before": [[0, 1]]}, leaf | backward | {"before": [[1, 0]]}]
    document["bounds"] = [bound]
    assert check(with_hash(document))[0] == 2
    bound["leaves"] = [each | {"before": []} for each in bound["leaves"]]
    assert check(document)[0] == 1


def cyclic_proof() -> Record:
    """A proof of 100 A for B over A C B, with a cycle of D and C that gains 1% and brings the order nothing.

    Each pool is so deep that its rate is 1 less nothing to speak of, but for the one from C to D with 1.01.
    """
    document = hand_made_proof()
    document["tokens"] += [{"address": "0x" + each * 40, "symbol": each, "decimals": 0} for each in "CD"]
    deep, like = 10**12, document["pools"][0]
    pairs = [(0, 2, deep), (2, 1, deep), (2, 3, deep * 101 // 100), (3, 2, deep)]
    document["pools"] = [
        like | {"address": f"0x{n + 1}", "tokens": [i, j], "reserves": [str(deep), str(held)]}
        for n, (i, j, held) in enumerate(pairs)
    ]
    document["route"] |= {
        "amountOut": "98",
        "gasUnits": 200_000,
        "steps": [
            {"pool": 0, "tokenIn": 0, "tokenOut": 2, "amountIn": "100", "amountOut": "99"},
            {"pool": 1, "tokenIn": 2, "tokenOut": 1, "amountIn": "99", "amountOut": "98"},
        ],
    }
    leaf = document["bounds"][1]["leaves"][0]
    leaf |= {"rates": [], "product": "1", "terms": [], "bound": "99.1"}
    limits = [[2, "100", "path"], [3, "101", "path"]]
    document["bounds"] = [
        document["bounds"][0] | {"bound": "1e12", "gapBps": "1e15"},
        document["bounds"][1] | {"bound": "99.1", "gapBps": "330"},
    ]
    document["bounds"][0]["leaves"] = [
        document["bounds"][0]["leaves"][0]
        | {"prices": ["1", "1", "1", "1"], "terms": [[2, 2, 3, "1", "1", "1", "1e11"]], "bound": "1e12"}
    ]
    document["bounds"][1]["limits"]["tokens"] = limits
    return with_hash(document)


def test_a_cycle_of_two_hops_costs_nothing_at_spot_rates() -> None:
    """No simple path passes it; at any prices, one of its pools gains."""
    assert check(cyclic_proof()) == (0, [])


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


def test_spot_rates_of_unknown_families_are_listed_and_the_library_recomputes_them() -> None:
    with Market.embedded("starknet") as market:
        document = json.loads(market.quote("ETH", "USDC", "1", proof=True).proof().to_json())
    checked = checker().Checker(document, None)
    checked.run()
    faith = {kind for kind, _ in checked.faith}
    assert checked.reasons == []
    assert "spot rates" in faith
    for row in document["bounds"][-1]["limits"]["spotRates"]:
        row[3] = repr(float(row[3]) * 0.999)
    status, reasons = check(document, with_library=True)
    assert status == 1
    assert any(reason.startswith("rate: ") for reason in reasons)


def test_limits_by_pools_count_what_unknown_families_pay() -> None:
    """A token that only a pool of another family sells has no limit of 0."""
    document = hand_made_proof()
    document["tokens"].append({"address": "0xc", "symbol": "C", "decimals": 0})
    document["pools"] += [
        {"address": "0x3", "protocol": "x", "family": "solidly_stable", "fee_ppm": 0, "gas": 50_000}
        | {"tokens": [0, 2], "reserves": ["1000", "1000"]},
        document["pools"][0] | {"address": "0x4", "tokens": [2, 1], "reserves": ["1000", "9000"]},
    ]
    with_hash(document)
    limits = document["bounds"][1]["limits"]
    limits["spotRates"] = [[2, 0, 2, "1"]]
    limits["tokens"] = [[2, "0", "pools"]]
    checked, recomputed = (checker().Checker(document, library) for library in (None, proof_checker))
    with localcontext(checker().Context(prec=60)):
        for each in (checked, recomputed):
            each.limits(limits, [d for d in each.directions if d[2] != 0 and d[1] != 1])
    assert checked.faith["limits", "solidly_stable"][0] == 1
    assert checked.reasons == []
    assert recomputed.reasons == ["afterGas: limit of token 2 is not its pools"]
    assert recomputed.faith == {}


def test_the_gap_is_to_the_bound_that_is_shown(tmp_path: Path) -> None:
    """What rounding could add to the output of a tiny order is part of both."""
    with Market.embedded("base") as market:
        quote = market.quote("USDC", "ETH", 100, proof=True)
    quote.proof().write(tmp_path / "proof.json")
    (found, *_) = json.loads(run(tmp_path / "proof.json", "--json").stdout)["bounds"]
    assert found["gapBps"] == pytest.approx((int(found["bound"]) / quote.amount_out - 1) * 10_000, rel=1e-6)


def test_nine_of_ten_pools_of_the_embedded_markets_are_known() -> None:
    known = every = 0
    for name in ("base", "hyperevm", "monad", "citrea"):
        families = [pool["family"] for pool in json.loads(embedded_market(name))["pools"]]
        every += len(families)
        known += sum(each in checker().FAMILIES for each in families)
    assert known >= 0.9 * every


def test_help_is_no_unreadable_proof() -> None:
    for word in ("--help", "-h"):
        ran = run(word)
        assert (ran.returncode, "check_proof.py" in ran.stdout) == (0, True), ran.stdout
