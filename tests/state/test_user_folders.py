"""Folders of the user are those of the XDG specification."""

from __future__ import annotations

import os

import pytest

from swapcli.state.user_folders import (
    NO_HOME,
    cache_folder,
    config_file,
    data_folder,
    expand_home,
    home_folder,
    home_problem,
)

HOME = "/home/me"


def test_without_variables_folders_are_in_the_home() -> None:
    assert config_file({}, HOME) == f"{HOME}/.config/swapcli/config.yaml"
    assert data_folder({}, HOME) == f"{HOME}/.local/share/swapcli"
    assert cache_folder({}, HOME) == f"{HOME}/.cache/swapcli"


def test_variables_name_other_folders_if_they_are_absolute() -> None:
    assert config_file({"XDG_CONFIG_HOME": "/etc/me"}, HOME) == "/etc/me/swapcli/config.yaml"
    assert data_folder({"XDG_DATA_HOME": "/data"}, HOME) == "/data/swapcli"
    assert data_folder({"XDG_DATA_HOME": "data"}, HOME) == data_folder({}, HOME)
    assert config_file({"SWAPCLI_CONFIG": "~/mine.yaml", "XDG_CONFIG_HOME": "/etc/me"}, HOME) == f"{HOME}/mine.yaml"


@pytest.mark.parametrize(("path", "expanded"), [("~", HOME), ("~/a", f"{HOME}/a"), ("~b", "~b"), ("/a/~", "/a/~")])
def test_only_the_own_home_is_expanded(path: str, expanded: str) -> None:
    assert expand_home(path, HOME) == expanded


@pytest.mark.parametrize("value", ["", "~", ".", "relative", "./relative", "~/x"])
def test_a_relative_or_empty_home_is_none(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", value)
    assert home_folder() == NO_HOME
    assert home_problem({"HOME": value}, NO_HOME) is not None
    with pytest.raises(NotADirectoryError):
        os.stat(config_file({}, NO_HOME))
    with pytest.raises(NotADirectoryError):
        os.makedirs(data_folder({}, NO_HOME))


def test_an_absolute_home_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", HOME)
    assert home_folder() == HOME
    assert home_problem({"HOME": HOME}, HOME) is None
