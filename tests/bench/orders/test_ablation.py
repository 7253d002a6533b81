"""The ablation switches off what the search has, and nothing else."""

from __future__ import annotations

import pytest

from bench.orders.ablation import SWITCHES, Switch, ablate, main
from bench.orders.parts import replaced
from bench.orders.residuals import main_residuals
from bench.running import BenchmarkFailed
from bench.worlds.world import World, WorldOrder
from swapcli.core.routing import replay
from tests.examples import few
from tests.support.pools import UNIT, build_random_market


@pytest.mark.parametrize("switch", few(SWITCHES, 4), ids=[each.mechanism for each in SWITCHES])
def test_a_mechanism_is_in_the_search_and_back_afterwards(switch: Switch) -> None:
    market = build_random_market(3, noise=3.0)
    one, two, *_ = market.tokens
    world = World("pushed", "small", market, (WorldOrder(one, two, 100 * UNIT),))
    (first,) = ablate(world, 0.0, [switch])
    assert first.mechanism == switch.mechanism
    (again,) = ablate(world, 0.0, [switch])
    whole, same = (found.without.quotes.rows[1][0][1:] for found in (first, again))
    assert whole == same
    assert first.without.quotes.rows[0][0].is_routed


def test_names_are_those_of_mechanisms() -> None:
    assert len({switch.mechanism for switch in SWITCHES}) == len(SWITCHES)


@pytest.mark.parametrize("target", ["swapcli.nowhere:x", f"{replay.__name__}:gone", f"{replay.__name__}:Replay.gone.x"])
def test_a_name_that_no_longer_exists_is_an_error(target: str) -> None:
    with pytest.raises(BenchmarkFailed, match=f"{target} does not exist in the program"), replaced({target: None}):
        pass


def test_main_solves_end_at_a_minimum() -> None:
    market = build_random_market(3)
    one, two, *_ = market.tokens
    (residual,) = main_residuals(World("real", "small", market, (WorldOrder(one, two, 100 * UNIT),)), 0.0)
    assert residual < 0.01


def test_the_command_prints_a_line_for_each_mechanism(capsys: pytest.CaptureFixture[str]) -> None:
    first = SWITCHES[0].mechanism
    assert main(["--worlds", "real", "--gas", "0", "--orders", "1", "--only", first]) == 0
    assert f"  {first}" in capsys.readouterr().out
