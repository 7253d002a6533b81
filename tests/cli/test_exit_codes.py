"""Errors become exit statuses in one table."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from swapcli.cli import exit_codes
from swapcli.errors import InvalidAmount, NoRoute, SwapcliError


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
