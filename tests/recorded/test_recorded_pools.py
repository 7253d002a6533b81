"""Pools with recorded answers of real contracts: all equal but for named exceptions."""

from __future__ import annotations

from collections import Counter

from tests.recorded.replay import Outcome, exceptions, recorded_pools, replay_all


def test_every_recorded_answer_is_equal_or_explained() -> None:
    swaps = list(replay_all())
    assert [swap for swap in swaps if swap.outcome is Outcome.DIFFERENT] == []
    assert Counter(swap.outcome for swap in swaps) == {Outcome.EQUAL: 679, Outcome.REFUSED: 35, Outcome.EXPLAINED: 5}
    assert len(recorded_pools()) == 69


def test_every_exception_is_of_a_recorded_swap() -> None:
    explained = [swap for swap in replay_all() if swap.outcome is Outcome.EXPLAINED]
    assert len(explained) == sum(len(each["swaps"]) for each in exceptions().values())
    assert all(len(str(swap.reason)) > 40 for swap in explained)


def test_every_pool_names_its_source() -> None:
    for recorded in recorded_pools():
        repository, _, place = recorded["source"].partition("@")
        commit, _, path = place.partition(":")
        assert "/" in repository, recorded["source"]
        assert len(commit) == 40, recorded["source"]
        assert path, recorded["source"]
