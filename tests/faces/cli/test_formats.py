"""Each command's help names the formats that it prints, as the error for another one does."""

from __future__ import annotations

import re

import pytest

from tests.support.command import run_swapcli

COMMANDS = {
    ("route", "base", "ETH", "USDC", "1"): "json, plain, table, csv, svg or mermaid",
    ("pools", "base"): "json, plain, table or csv",
    ("tokens", "base"): "json, plain, table or csv",
    ("calldata", "base", "ETH", "USDC", "1"): "json, plain, table, cast, safe, sh, wallet-calls or web3",
    ("price", "base", "ETH"): "json, plain, table or csv",
    ("router", "deploy-payload", "base"): "json, plain or table",
    ("config", "show"): "json, plain, table or csv",
    ("config", "get", "network"): "json, plain or table",
    ("market", "info"): "json, plain, table or csv",
}


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words[:2]))
def test_help_and_error_name_the_same_formats(words: tuple[str, ...]) -> None:
    group = words[:2] if words[0] in ("config", "market", "router") else words[:1]
    page = " ".join(run_swapcli(*group, "--help").stdout.split())
    shown = re.search(r"--format FORMAT ([^.]*)\.", page)
    assert shown is not None
    assert shown[1] == COMMANDS[words]
    refused = run_swapcli(*words, "--format", "xml")
    assert refused.exit_code == 2
    assert f"this command prints {shown[1].replace(' or ', ', ')}" in refused.stderr
