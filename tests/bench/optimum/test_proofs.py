"""No competitor pays more than a proof allows, and one that would is found."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from bench.optimum.gen_market import write_market
from bench.optimum.proofs import (
    PEER,
    Claim,
    Contender,
    Outcome,
    Verdict,
    claims_of,
    longest_path,
    main,
    slack,
    summary,
)
from swapcli import Market

A, B, C, D = "abcd"
OUTPUT = Claim("output", Fraction("100.5"), frozenset(), 3, is_net=False)
NET = Claim("afterGas", Fraction(90), frozenset({("dust", A, B)}), 2, is_net=True)
DOCUMENT: dict[str, Any] = {
    "tokens": [{"address": A}, {"address": B}],
    "pools": [{"address": "p0"}, {"address": "p1"}],
    "scope": {"maxHops": 4, "dust": [[1, 0, 1]]},
    "bounds": [
        {"kind": "output", "bound": "100.5", "excluded": []},
        {"kind": "acyclic", "bound": "1e2", "excluded": [[0, 1, 0]]},
        {"kind": "afterGas", "bound": "90", "excluded": []},
    ],
}


def route(amount_out: int | Fraction, *swaps: tuple[str, str, str], gas: int = 0, method: str = "path") -> Contender:
    return Contender(method, Fraction(amount_out), gas, swaps or (("p", A, B),))


def test_bounds_are_read_exactly() -> None:
    assert list(claims_of(DOCUMENT)) == [
        Claim("output", Fraction(201, 2), frozenset(), 4, is_net=False),
        Claim("acyclic", Fraction(100), frozenset({("p0", B, A)}), 4, is_net=False),
        Claim("afterGas", Fraction(90), frozenset({("p1", A, B)}), 4, is_net=True),
    ]


def test_a_unit_above_is_found() -> None:
    assert slack(OUTPUT, route(100), Fraction(0)) == Fraction(1, 201)
    above = slack(OUTPUT, route(101), Fraction(0))
    assert above is not None
    assert above < 0


def test_net_of_gas_the_gas_counts() -> None:
    unit_value = Fraction("0.001")
    assert slack(NET, route(100, gas=10_000), unit_value) == 0
    assert slack(NET, route(100, gas=9_999), unit_value) == Fraction(-1, 90_000)


def test_the_peers_real_numbers_have_noise() -> None:
    claim = OUTPUT._replace(bound=Fraction(10**12))
    almost = slack(claim, route(10**12 + 900, method=PEER), Fraction(0))
    assert almost is not None
    assert almost > 0
    above = slack(claim, route(10**12 + 1_100, method=PEER), Fraction(0))
    assert above is not None
    assert above < 0


@pytest.mark.parametrize(
    ("claim", "outside"),
    [
        (NET, route(1, ("dust", A, B))),
        (NET, route(1, ("p", A, B), ("q", B, C), ("r", C, D))),
        (NET, route(1, ("p", A, C), ("q", C, A))),
        (OUTPUT, route(1, ("p", A, B), ("p", A, B))),
    ],
)
def test_other_routes_are_outside_of_the_scope(claim: Claim, outside: Contender) -> None:
    assert slack(claim, outside, Fraction(0)) is None


def test_paths_run_through_several_segments() -> None:
    """Segments A-B-D and A-C-B make the path A-C-B-D, because the router merges what it holds of B."""
    assert longest_path([("p", A, B), ("q", B, D), ("r", A, C), ("s", C, B)]) == 3
    assert longest_path([("p", A, B), ("q", A, B)]) == 1
    assert longest_path([("p", A, B), ("q", B, C), ("r", C, B)]) is None
    assert longest_path([]) == 0


def test_the_summary_counts() -> None:
    order = ("market", A, B, 1, 0.0)
    verdicts = [
        Verdict(*order, "path", "output", Fraction(1, 10**6)),
        Verdict(*order, "path", "output", Fraction(-1, 10**4)),
        Verdict(*order, "climb", "afterGas", None),
    ]
    found = summary([Outcome("market", 2, verdicts, Counter({"NoRoute": 1}))])
    assert (found["proofs"], found["routes_compared"], found["outside_of_the_scope"], found["above"]) == (2, 2, 1, 1)
    assert found["by_bound"] == {"output": {"path": {"routes": 2, "above": 1, "nearest_bps": -1.0}}}
    assert found["orders_without_proof"] == {"NoRoute": 1}


@pytest.mark.slow
def test_no_competitor_is_above_its_bound(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also on a market with arbitrage: all methods and Tines, without gas and with."""
    markets = [write_market(12, 3, tmp_path), write_market(12, 4, tmp_path, "raw")]
    command = ["--market", *map(str, markets), "--orders", "2", "--gas", "0,0.05", "--evaluations", "30"]
    assert main(command) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["proofs"] >= 4
    assert found["above"] == 0
    assert set(found["by_bound"]["output"]) == {
        "path", "fill256", "fill1024", "climb", "fill_climb", "restarts", PEER,
    }  # fmt: skip
    assert {"output", "afterGas"} <= set(found["by_bound"])
    assert min(figures["nearest_bps"] for figures in found["by_bound"]["output"].values()) < 10.0


def test_a_fee_that_is_rounded_down_is_within_the_bound(tmp_path: Path) -> None:
    """The last swap keeps 0.95 units of USDC more than at a real fee, which are worth 9.5 * 10^11 units of USDS."""
    order = "0x9789eec60daa3e94e5aad50964494987ac0ff562", "0x228a8d2b65f72a963db6d4654bf2eae815c5ec5e"
    with Market.from_file(str(write_market(24, 106, tmp_path))) as market:
        paid = market.quote(*order, amount=230589979333112987648, gas_price=0).amount_out
        proof = market.quote(*order, amount=230589979333112987648, gas_price=10**9, proof=True).proof().document()
    assert paid == 50625133370875134159
    assert Fraction(proof["bounds"][0]["bound"]) >= paid


def test_a_missing_market_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--market", str(tmp_path / "market_none.json")]) == 1
    assert "market_none.json: No such file" in capsys.readouterr().err
