"""Aggregators are chosen by name, or all that can be asked; what cannot be asked says why."""

from __future__ import annotations

import pytest

from swapcli.core.encoding.secret import Secret
from swapcli.core.errors import InvalidOption
from swapcli.core.networks.catalogue import find_network
from swapcli.quoting.config.settings import AggregatorSettings
from swapcli.quoting.openers.choose_aggregators import ALL, choose_aggregators, packaged_names
from tests.quoting.config.test_aggregators import MINE

BASE, CITREA, STARKNET = map(find_network, ("base", "citrea", "starknet"))
KEY = Secret("a-key")


def test_all_are_those_that_can_be_asked() -> None:
    chosen = choose_aggregators([ALL], BASE, {})
    asked = [each.adapter.name for each in chosen.asked]
    assert {*asked, *chosen.left_out} == set(packaged_names())
    assert set(chosen.left_out) == {"0x", "odos"}
    assert all(reason == "it needs an API key" for reason in chosen.left_out.values())
    assert "kyberswap" in choose_aggregators([ALL], CITREA, {}).left_out


def test_a_key_and_an_adapter_of_the_settings_are_used() -> None:
    settings = {"0x": AggregatorSettings(KEY), "mine": AggregatorSettings(None, MINE)}
    chosen = choose_aggregators([ALL], BASE, settings)
    assert {each.adapter.name: each.key for each in chosen.asked}["0x"] == KEY
    assert "mine" in [each.adapter.name for each in chosen.asked]
    named = choose_aggregators(["mine", "0x", "mine"], BASE, settings).asked
    assert [each.adapter.name for each in named] == ["mine", "0x"]


@pytest.mark.parametrize(
    ("names", "words", "hint"),
    [
        (["kiberswap"], 'no aggregator "kiberswap"', "kyberswap"),
        (["lifi", "nobody"], 'no aggregator "nobody"', "known aggregators: 0x, "),
        (["0x"], "0x cannot be used: it needs an API key", "SWAPCLI_AGGREGATORS_0X_API_KEY"),
    ],
)
def test_a_name_that_cannot_be_asked_is_an_error(names: list[str], words: str, hint: str) -> None:
    with pytest.raises(InvalidOption) as caught:
        choose_aggregators(names, BASE, {})
    assert words in caught.value.message
    assert hint in (caught.value.hint or "")


def test_a_network_that_nobody_knows_is_an_error() -> None:
    with pytest.raises(InvalidOption, match="no aggregator can be used on starknet"):
        choose_aggregators([ALL], STARKNET, {})
