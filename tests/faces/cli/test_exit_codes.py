"""Errors become exit statuses in one table."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from swapcli.core.errors import InvalidAmount, NoRoute, SwapcliError
from swapcli.faces.cli import exit_codes
from tests.support.command import run_swapcli


def tree(root: type[SwapcliError]) -> Iterator[type[SwapcliError]]:
    for child in root.__subclasses__():
        yield child
        yield from tree(child)


def test_every_error_raised_on_purpose_has_a_status_of_its_own() -> None:
    for error in tree(SwapcliError):
        assert exit_codes.status_of(error.__new__(error)) not in (exit_codes.OK, exit_codes.INTERNAL), error


def test_every_status_has_a_meaning() -> None:
    assert set(exit_codes.STATUS.values()) < set(exit_codes.MEANING)
    assert sorted(exit_codes.MEANING) == [0, 1, 2, 3, 4, 5, 6, 7, 8, 74, 75, 130]


def test_an_error_takes_the_status_of_its_branch() -> None:
    assert exit_codes.status_of(InvalidAmount("x")) == 2
    assert exit_codes.status_of(NoRoute("x")) == 3


def test_what_was_not_raised_on_purpose_is_a_defect() -> None:
    assert exit_codes.status_of(KeyError("x")) == exit_codes.INTERNAL


@pytest.mark.parametrize(("statuses", "status"), [([], 0), ([0, 0], 0), ([0, 3], 3), ([3, 2, 0], 2), ([75, 1, 2], 1)])
def test_a_batch_ends_with_its_worst(statuses: list[int], status: int) -> None:
    assert exit_codes.worst(statuses) == status


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (("1", "--view", "tre"), '--view: no view "tre"', "views: table, tree, line"),
        (("1", "--view", "tree", "--get", "route"), "--get and --view cannot be combined", "leave out one"),
        (("1", "--svg", ""), "cannot write a file without a name", ""),
        (("1", "2"), 'unexpected argument "2"', "--help"),
        (("$0",), "amount must be above zero", ""),
        (("0%",), '"0%" is not a part of a balance', "above 0%"),
        (("all", "--reverse"), "all is a part of what you sell", "leave out --reverse"),
        (("1", "--get", "route[0].percent"), 'no field "route[0]"', "route.0.percent"),
    ],
)
def test_a_mistake_is_named_with_a_way_out(words: tuple[str, ...], message: str, hint: str) -> None:
    ran = run_swapcli("route", "base", "ETH", "USDC", *words)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert message in ran.stderr
    assert hint in ran.stderr.partition("hint:")[2]
