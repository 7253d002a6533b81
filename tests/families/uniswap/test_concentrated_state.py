"""States of concentrated pools: they read back equal, and what is wrong in one is named."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from swapcli.core.errors import InvalidPoolState
from swapcli.families.tick_math import MAX_SQRT_RATIO, MAX_TICK, MIN_SQRT_RATIO, MIN_TICK, Q96
from swapcli.families.uniswap.concentrated import Concentrated
from tests.families.random_pairs import TOKEN0, concentrated_states, identity, pool_at, with_fields


@given(concentrated_states())
def test_state_reads_back_equal(state: dict[str, object]) -> None:
    pool = Concentrated.from_state(identity(), state)
    written = json.loads(json.dumps(pool.state()))
    assert Concentrated.from_state(identity(), written) == pool
    assert written == {key: value for key, value in state.items() if key != "variant" or value != "uniswap_v3"}


@given(concentrated_states())
def test_integers_and_texts_read_alike(state: dict[str, object]) -> None:
    pool = Concentrated.from_state(identity(), state)
    ladder = pool.tick_list
    numbers = {
        **state,
        "sqrt_price_x96": pool.sqrt_price_x96,
        "tick": str(pool.tick),
        "liquidity": pool.liquidity,
        "tick_spacing": str(ladder.tick_spacing),
        "ticks": tuple((str(t), net) for t, net in zip(ladder.ticks, ladder.liquidity_nets, strict=True)),
    }
    assert Concentrated.from_state(identity(), numbers) == pool


def test_a_price_on_the_upper_boundary_is_allowed_and_no_further() -> None:
    pool = pool_at(0, (-60, 60, 10**18))
    crossed = with_fields(pool, tick=-1)
    assert (crossed.tick, crossed.sqrt_price_x96) == (-1, Q96)
    with pytest.raises(InvalidPoolState) as caught:
        with_fields(pool, tick=-1, sqrt_price_x96=Q96 + 1)
    assert caught.value.field == "tick"


GOOD: dict[str, object] = {
    "sqrt_price_x96": str(Q96),
    "tick": 0,
    "liquidity": "100",
    "tick_spacing": 60,
    "ticks": [[-60, "70"], [0, "30"], [60, "-100"]],
}


@pytest.mark.parametrize("field", sorted(GOOD))
@pytest.mark.parametrize("value", [None, True, 1.5, "x", "1.0", "", {}, [None]], ids=repr)
def test_a_field_of_the_wrong_type_is_named(field: str, value: object) -> None:
    error = error_for({**GOOD, field: value})
    assert error.field.split("[")[0] == field


@pytest.mark.parametrize("field", sorted(GOOD))
def test_a_missing_field_is_named(field: str) -> None:
    error = error_for({key: value for key, value in GOOD.items() if key != field})
    assert (error.field, error.problem) == (field, "missing")


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("sqrt_price_x96", {"sqrt_price_x96": 0}),
        ("sqrt_price_x96", {"sqrt_price_x96": MIN_SQRT_RATIO - 1}),
        ("sqrt_price_x96", {"sqrt_price_x96": MAX_SQRT_RATIO}),
        ("sqrt_price_x96", {"sqrt_price_x96": 2**160}),
        ("sqrt_price_x96", {"sqrt_price_x96": -5}),
        ("tick", {"tick": 1}),
        ("tick", {"tick": -2}),
        ("tick", {"tick": MAX_TICK}),
        ("tick", {"tick": MIN_TICK - 1}),
        ("liquidity", {"liquidity": 99}),
        ("liquidity", {"liquidity": 0}),
        ("liquidity", {"liquidity": 2**128}),
        ("liquidity", {"liquidity": -1}),
        ("tick_spacing", {"tick_spacing": 0}),
        ("tick_spacing", {"tick_spacing": 32_768}),
        ("tick_spacing", {"tick_spacing": -60}),
        ("ticks[1]", {"tick_spacing": 60, "ticks": [[-60, "100"], [59, "-100"]]}),
        ("ticks[0]", {"tick_spacing": 7}),
        ("ticks", {"ticks": "abc"}),
        ("ticks", {"ticks": {"-60": 1}}),
        ("ticks[0]", {"ticks": [7]}),
        ("ticks[0]", {"ticks": ["ab"]}),
        ("ticks[1]", {"ticks": [[-60, "100"], [60]]}),
        ("ticks[1]", {"ticks": [[-60, "100"], [60, "-100", 0]]}),
        ("ticks[1]", {"ticks": [[-60, "100"], {"60": 1, "-100": 2}]}),
        ("ticks[0]", {"ticks": [[-60.0, "100"], [60, "-100"]]}),
        ("ticks[1]", {"ticks": [[-60, "100"], [60, "-1e2"]]}),
        ("ticks[1]", {"ticks": [[-60, "100"], [60, "60-100"]]}),
        ("ticks[1]", {"ticks": [[-60, "100"], [60, "9" * 81]]}),
        ("ticks[1]", {"ticks": [[-60, 100], [60, True]]}),
        ("ticks[1]", {"ticks": [[60, "-100"], [-60, "100"]]}),
        ("ticks[1]", {"ticks": [[-60, "50"], [-60, "50"], [60, "-100"]]}),
        ("ticks[0]", {"ticks": [[-887_280, "100"], [60, "-100"]]}),
        ("ticks[1]", {"ticks": [[-60, "100"], [887_280, "-100"]]}),
        ("ticks[1]", {"ticks": [[-60, "100"], [10**6_000, "-100"]]}),
        ("ticks", {"ticks": [[-60, "100"], [60, "-99"]]}),
        ("ticks", {"ticks": [[-60, "100"]]}),
        ("ticks[0]", {"ticks": [[-60, "-100"], [60, "100"]]}),
        ("ticks[1]", {"ticks": [[-60, "100"], [0, "-200"], [60, "100"]]}),
        ("ticks[0]", {"ticks": [[-60, str(2**127)], [60, str(-(2**127))]]}),
        ("ticks[0]", {"ticks": [[-60, 10**6_000], [60, -(10**6_000)]]}),
        (
            "ticks[2]",
            {"ticks": [[t, s * (2**127 - 1)] for t, s in zip(range(0, 360, 60), (1, 1, 1, -1, -1, -1), strict=True)]},
        ),
        ("liquidity", {"ticks": []}),
        ("variant", {"variant": "uniswap_v5"}),
        ("pool_id", {"pool_id": "0x12"}),
        ("pool_id", {"pool_id": 12}),
        ("pool_id", {"hooks": "0x" + "0" * 36 + "0040"}),
        ("hooks", {"hooks": "0x" + "0" * 39 + "1"}),
        ("hooks", {"hooks": "0x"}),
        ("native", {"native": 1}),
    ],
)
def test_a_malformed_state_names_its_field(field: str, changes: dict[str, object]) -> None:
    assert error_for({**GOOD, **changes}).field == field


@pytest.mark.parametrize(("field", "tokens"), [("tokens", [TOKEN0]), ("tokens", [TOKEN0, TOKEN0])])
def test_a_malformed_identity_names_its_field(field: str, tokens: list[str]) -> None:
    with pytest.raises(InvalidPoolState) as caught:
        Concentrated.from_state(identity(3_000, tokens), GOOD)
    assert caught.value.field == field


@pytest.mark.parametrize("fee_ppm", [-1, 10**6])
def test_a_fee_that_takes_everything_is_refused(fee_ppm: int) -> None:
    with pytest.raises(InvalidPoolState, match="fee_ppm"):
        Concentrated.from_state(identity(fee_ppm), GOOD)


def test_a_list_of_ticks_may_keep_positions_of_an_older_spacing() -> None:
    pool = Concentrated.from_state(identity(), {**GOOD, "tick_spacing": 7, "variant": "algebra_integral"})
    assert pool.tick_list.word_ticks == 0
    assert pool.state()["variant"] == "algebra_integral"


def error_for(state: dict[str, object]) -> InvalidPoolState:
    with pytest.raises(InvalidPoolState) as caught:
        Concentrated.from_state(identity(), state)
    return caught.value
