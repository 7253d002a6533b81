"""The table of what is deprecated: every row is announced, works until its version comes, and not longer."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from datetime import date
from pathlib import Path

import pytest

import swapcli
from swapcli import __version__
from swapcli.core.model import deprecations
from swapcli.core.model.deprecations import DEPRECATIONS, DeprecatedKind, Deprecation, deprecations_of

CHANGELOG = (Path(__file__).parents[3] / "CHANGELOG.md").read_text()
OLD_MARKET = Deprecation(DeprecatedKind.LIBRARY_NAME, "Exchange", "Market", "0.1.0", "9.0.0", "2026-11-26")


def version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


def due(rows: Iterable[Deprecation], at: str) -> list[str]:
    """Return the names that a version must no longer have."""
    return [each.name for each in rows if version(each.removed_in) <= version(at)]


def unlisted(rows: Iterable[Deprecation], changelog: str) -> list[str]:
    """Return the names that the changelog does not list with their replacement and the version that drops them."""
    listed = "".join(re.findall(r"^### Deprecated\n(.*?)(?=^##|\Z)", changelog, re.MULTILINE | re.DOTALL))
    items = re.findall(r"^\* .*?(?=^\* |\Z)", listed, re.MULTILINE | re.DOTALL)
    return [
        each.name
        for each in rows
        if not any(
            f"`{each.name}`" in item and f"`{each.replacement}`" in item and f"ersion {each.removed_in} " in item
            for item in items
        )
    ]


def test_what_is_due_is_dropped() -> None:
    assert due(DEPRECATIONS, __version__) == []


def test_the_changelog_lists_every_deprecation() -> None:
    assert unlisted(DEPRECATIONS, CHANGELOG) == []


def test_a_forgotten_row_is_noticed() -> None:
    """Of a table in which one name is due and another is announced nowhere."""
    old = OLD_MARKET._replace(name="Old", removed_in=__version__)
    assert due([OLD_MARKET, old], __version__) == ["Old"]
    assert due([OLD_MARKET], "10.0.0") == ["Exchange"]
    listed = "### Deprecated\n\n* `Exchange`: use `Market`. Version 9.0.0 drops it.\n"
    assert unlisted([OLD_MARKET, old], CHANGELOG + listed) == ["Old"]
    assert unlisted([OLD_MARKET._replace(removed_in="8.0.0")], CHANGELOG + listed) == ["Exchange"]


def test_rows_are_whole() -> None:
    assert len({(each.kind, each.name) for each in DEPRECATIONS}) == len(DEPRECATIONS)
    for each in DEPRECATIONS:
        assert version(each.since) <= version(__version__)
        assert version(each.removed_in)[:2] > version(each.since)[:2], "the next minor version at the earliest"
        assert each.dropped_on is None or date.fromisoformat(each.deprecated_on) < date.fromisoformat(each.dropped_on)
        assert each.replacement != each.name


def test_former_names_of_the_library_are_not_exported() -> None:
    former = deprecations_of(DeprecatedKind.LIBRARY_NAME)
    assert former.keys().isdisjoint(swapcli.__all__)
    assert {each.replacement for each in former.values()} <= {*swapcli.__all__}


def test_a_former_name_of_the_library_works_and_warns_its_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deprecations, "DEPRECATIONS", (*DEPRECATIONS, OLD_MARKET))
    message = "swapcli.Exchange is deprecated, and version 9.0.0 drops it: use Market"
    with pytest.warns(DeprecationWarning, match=re.escape(message)) as caught:
        found = swapcli.Exchange  # type: ignore[attr-defined]
    assert found is swapcli.Market
    assert caught[0].filename == __file__
    with pytest.warns(DeprecationWarning, match=re.escape(message)) as caught:
        from swapcli import Exchange  # type: ignore[attr-defined]
    assert Exchange is swapcli.Market
    assert caught[0].filename == __file__
    assert "Exchange" not in dir(swapcli)


def test_other_names_are_errors_without_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deprecations, "DEPRECATIONS", (*DEPRECATIONS, OLD_MARKET))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in ("exchange", "Exchanges", "__wrapped__"):
            with pytest.raises(AttributeError, match=f"has no attribute '{name}'"):
                getattr(swapcli, name)
        assert callable(swapcli.Market)
