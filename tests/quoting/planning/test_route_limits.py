"""The limits on routes that a plan records: every part is built within them, in every face."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from swapcli import InvalidOption, InvalidPlan, Market
from swapcli.core.errors import SwapcliError
from swapcli.interface.quote_parameters import QUOTE_PARAMETERS
from swapcli.quoting.planning.plan_file import open_plan, seal
from tests.support.command import CommandResult, run_swapcli

ME = "0x1111111111111111111111111111111111111111"
PLAN = ("plan", "base", "ETH", "USDC", "30", "--over", "4h", "--parts", "3", "--offline")
UNISWAP_V3, UNISWAP_V4 = 5, 25
"""The ids of protocols in the Fibrous API for Base."""


def hops_of(document: Mapping[str, Any]) -> list[list[list[dict[str, Any]]]]:
    """Return the swaps of a payload's route by path and hop."""
    return [path["swaps"] for path in document["route"]["route"]]


def protocols_of(document: Mapping[str, Any]) -> set[int]:
    return {swap["protocol"] for path in hops_of(document) for hop in path for swap in hop}


def is_direct(document: Mapping[str, Any]) -> bool:
    return all(len(path) == 1 for path in hops_of(document))


def has_two_pools(document: Mapping[str, Any]) -> bool:
    return len({swap["poolAddress"] for path in hops_of(document) for hop in path for swap in hop}) <= 2


def is_simple(document: Mapping[str, Any]) -> bool:
    return [len(hop) for path in hops_of(document) for hop in path] == [1] * len(hops_of(document)[0])


def has_whole_shares(document: Mapping[str, Any]) -> bool:
    shares = [path["percent"] for path in document["route"]["route"]]
    return all(re.fullmatch(r"\d+(\.00)?%", share) for share in shares)


RECORDED: dict[str, tuple[tuple[str, ...], dict[str, Any], dict[str, Any], Callable[[Mapping[str, Any]], bool]]] = {
    "only_protocols": (
        ("--only-protocols", "uniswapV3"),
        {"only_protocols": ["uniswapV3"]},
        {"onlyProtocols": ["uniswapV3"], "maxHops": 8},
        lambda document: protocols_of(document) == {UNISWAP_V3},
    ),
    "exclude_protocols": (
        ("--exclude-protocols", "uniswapV3"),
        {"exclude_protocols": ["uniswapV3"]},
        {"excludedProtocols": ["uniswapV3"], "maxHops": 8},
        lambda document: UNISWAP_V3 not in protocols_of(document),
    ),
    "extended_protocols": (
        ("--extended-protocols",),
        {"extended_protocols": True},
        {"extendedProtocols": True, "maxHops": 8},
        bool,
    ),
    "max_hops": (("--max-hops", "1"), {"max_hops": 1}, {"maxHops": 1}, is_direct),
    "direct": (("--direct",), {"direct": True}, {"direct": True, "maxHops": 8}, is_direct),
    "max_pools": (("--max-pools", "2"), {"max_pools": 2}, {"maxHops": 8, "maxPools": 2}, has_two_pools),
    "simple": (("--simple",), {"simple": True}, {"maxHops": 8, "simple": True}, is_simple),
    "shares": (("--shares", "whole"), {"shares": "whole"}, {"maxHops": 8, "shares": "whole"}, has_whole_shares),
}
"""By quote parameter: its option, its keyword, what the plan records, and what is true of every route within it."""
NOT_RECORDED = {
    "reverse": "is rejected",
    "gas_price": "is a price: each part uses the price at its time, like the prices of the pools",
    "certify": "does not change the route",
    "proof": "is rejected",
    "solve_time_s": "limits the search, not the route",
    "slippage": "is of the payload",
    "destination": "is of the payload",
    "router_dialect": "is of the payload",
    "api_version": "is of the JSON",
    "integrator_address": "is of the payload",
    "integrator_fee_bps": "is of the payload",
    "integrator_surplus_bps": "is of the payload",
}


def make(tmp_path: Path, *options: str) -> Path:
    path = tmp_path / "plan.json"
    ran = run_swapcli(*PLAN, *options, "--save", str(path))
    assert ran.exit_code == 0, ran.stderr
    return path


def build(file: Path, *options: str) -> CommandResult:
    return run_swapcli("plan", "--next", str(file), "--offline", "--destination", ME, "--json", *options)


def test_every_quote_parameter_is_recorded_or_has_a_reason() -> None:
    assert sorted([*RECORDED, *NOT_RECORDED]) == sorted(each.name for each in QUOTE_PARAMETERS)


@pytest.mark.parametrize("name", RECORDED)
def test_a_part_is_built_within_the_limits_of_its_plan(name: str, tmp_path: Path) -> None:
    options, keywords, recorded, holds = RECORDED[name]
    file, other = make(tmp_path, *options), tmp_path / "other.json"
    document = json.loads(file.read_text())
    assert document["routeLimits"] == recorded
    amount = document["parts"][0]["inputAmount"]
    words = ("calldata", "base", "ETH", "USDC", amount, "--raw", "--offline", "--destination", ME, "--json")
    direct = run_swapcli(*words, *options).json
    built = build(file)
    assert built.exit_code == 0, built.stderr
    assert built.json["calldata"] == direct["calldata"]
    assert holds(built.json)
    repeated = build(file)
    assert (repeated.json["planPart"]["repeated"], repeated.json["calldata"]) == (True, direct["calldata"])
    with Market.open("base", offline=True) as market:
        plan = market.plan("ETH", "USDC", "30", over="4h", parts=3, **keywords)
        plan.write(other)
        payload = market.build_part(other, destination=ME)
        again = market.build_part(other, destination=ME, **keywords)
    assert payload.document()["calldata"] == direct["calldata"]
    assert again.is_repeated


def test_a_plan_without_limits_is_built_like_before(tmp_path: Path) -> None:
    file = make(tmp_path)
    document = json.loads(file.read_text())
    del document["routeLimits"]
    file.write_text(json.dumps(seal(document)))
    built = build(file, "--only-protocols", "uniswapV3", "--max-hops", "9")
    assert built.exit_code == 0, built.stderr
    assert protocols_of(built.json) == {UNISWAP_V3}


NARROWER: dict[str, tuple[tuple[str, ...], tuple[str, ...], Callable[[Mapping[str, Any]], bool]]] = {
    "an exclusion": (
        ("--only-protocols", "uniswapV3,uniswapV4"),
        ("--exclude-protocols", "uniswapV4"),
        lambda document: protocols_of(document) == {UNISWAP_V3},
    ),
    "another exclusion": (
        ("--exclude-protocols", "uniswapV4"),
        ("--exclude-protocols", "uniswapV3"),
        lambda document: not protocols_of(document) & {UNISWAP_V3, UNISWAP_V4},
    ),
    "some of the allowed": (
        ("--only-protocols", "uniswapV3,uniswapV4"),
        ("--only-protocols", "uniswapV4"),
        lambda document: protocols_of(document) == {UNISWAP_V4},
    ),
    "fewer hops": (("--max-hops", "3"), ("--max-hops", "1"), is_direct),
    "fewer pools": (("--max-pools", "4"), ("--max-pools", "2"), has_two_pools),
    "a single hop": ((), ("--direct",), is_direct),
    "a single path": ((), ("--simple",), is_simple),
    "whole shares": ((), ("--shares", "whole"), has_whole_shares),
}


@pytest.mark.parametrize("name", NARROWER)
def test_an_option_can_narrow_the_limits(name: str, tmp_path: Path) -> None:
    planned, given, holds = NARROWER[name]
    built = build(make(tmp_path, *planned), *given)
    assert built.exit_code == 0, built.stderr
    assert holds(built.json)


WIDER: dict[str, tuple[tuple[str, ...], tuple[str, ...], str]] = {
    "a protocol outside the allowed": (
        ("--only-protocols", "uniswapV3"),
        ("--only-protocols", "uniswapV3,uniswapV4"),
        "--only-protocols: the plan excludes uniswapV4",
    ),
    "an excluded protocol": (
        ("--exclude-protocols", "uniswapV3"),
        ("--only-protocols", "uniswapV3"),
        "--only-protocols: the plan excludes uniswapV3",
    ),
    "no protocol left": (
        ("--only-protocols", "uniswapV3"),
        ("--exclude-protocols", "uniswapV3"),
        "--exclude-protocols excludes every protocol that the plan allows: uniswapV3",
    ),
    "extended protocols": ((), ("--extended-protocols",), "--extended-protocols: the plan excludes these protocols"),
    "more hops": (("--max-hops", "2"), ("--max-hops", "3"), "--max-hops: 3 is above the plan's limit of 2"),
    "more pools": (("--max-pools", "2"), ("--max-pools", "3"), "--max-pools: 3 is above the plan's limit of 2"),
    "fine shares": (("--shares", "whole"), ("--shares", "fine"), "--shares: the plan has whole shares"),
}


@pytest.mark.parametrize("name", WIDER)
def test_an_option_that_contradicts_the_plan_is_one_sentence(name: str, tmp_path: Path) -> None:
    planned, given, message = WIDER[name]
    file = make(tmp_path, *planned)
    before = file.read_bytes()
    ran = build(file, *given)
    assert (ran.exit_code, ran.error["message"]) == (2, message), ran.stderr
    assert file.read_bytes() == before


def test_settings_narrow_the_limits_and_never_widen_them(tmp_path: Path) -> None:
    file = make(tmp_path, "--only-protocols", "uniswapV3,uniswapV4", "--max-hops", "2")
    settings = tmp_path / "config.yaml"
    settings.write_text("exclude_protocols: [uniswapV4]\nmax_hops: 5\nextended_protocols: true\n")
    built = build(file, "--config", str(settings))
    assert built.exit_code == 0, built.stderr
    assert protocols_of(built.json) == {UNISWAP_V3}
    assert all(len(path) <= 2 for path in hops_of(built.json))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--exclude-protocols", "uniswapV3"), "was built through uniswapV3, which is excluded"),
        (("--only-protocols", "uniswapV4"), "uniswapV3, which are excluded"),
        (("--max-hops", "1"), "was built with wider limits: --max-hops"),
        (("--simple",), "was built with wider limits: --simple"),
    ],
)
def test_a_recorded_payload_outside_the_limits_of_the_order_is_not_returned(
    given: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    file = make(tmp_path)
    built = build(file)
    assert UNISWAP_V3 in protocols_of(built.json)
    before = file.read_bytes()
    ran = build(file, *given)
    assert ran.exit_code == 2, ran.stderr
    assert message in ran.error["message"]
    assert "\n" not in ran.error["message"]
    assert file.read_bytes() == before
    assert build(file).json["planPart"]["repeated"]
    assert build(file, "--exclude-protocols", "balancerV2Stable").exit_code == 0


def test_programs_get_the_same_rule(tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    with Market.open("base", offline=True) as market:
        market.plan("ETH", "USDC", "30", over="4h", parts=3, only_protocols=["uniswapV3", "uniswapV4"]).write(file)
        with pytest.raises(InvalidOption, match=r"^only_protocols: the plan excludes aerodromeV3$"):
            market.build_part(file, destination=ME, only_protocols=["Aerodrome Slipstream"])
        with pytest.raises(InvalidOption, match=r"^max_hops: 9 is above the plan's limit of 8$"):
            market.build_part(file, destination=ME, max_hops=9)
        built = market.build_part(file, destination=ME, exclude_protocols=["uniswapV4"])
        assert protocols_of(json.loads(json.dumps(built.document()))) == {UNISWAP_V3}
        with pytest.raises(InvalidPlan, match="was built through uniswapV3, which is excluded"):
            market.build_part(file, destination=ME, exclude_protocols=["uniswapV3"])
        with pytest.raises(TypeError, match="unexpected keyword argument 'certify'"):
            market.build_part(file, destination=ME, certify=True)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    "limits", [{"onlyProtocols": "uniswapV3"}, {"maxHops": 0}, {"maxPools": "x"}, {"direct": 1}, {"shares": "half"}, []]
)
def test_a_sealed_plan_with_wrong_limits_is_rejected(limits: Any, tmp_path: Path) -> None:
    file = make(tmp_path)
    file.write_text(json.dumps(seal(json.loads(file.read_text()) | {"routeLimits": limits})))
    with pytest.raises(SwapcliError, match="routeLimits"), open_plan(str(file)):
        pass


def test_changed_limits_are_detected(tmp_path: Path) -> None:
    file = make(tmp_path, "--only-protocols", "uniswapV3")
    file.write_text(file.read_text().replace('"uniswapV3"', '"uniswapV4"', 1))
    ran = build(file)
    assert ran.exit_code == 2
    assert "was changed after swapcli wrote it" in ran.stderr


def test_the_orders_of_a_plan_name_the_options_they_need(tmp_path: Path) -> None:
    orders = tmp_path / "orders.jsonl"
    ran = run_swapcli(*PLAN, "--only-protocols", "uniswapV3", "--max-hops", "2", "--orders", str(orders))
    note = "note: route --batch needs the plan's limits: --max-hops 2 --only-protocols uniswapV3"
    assert note in ran.stderr
