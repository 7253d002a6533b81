"""Networks are known with what simulations have shown of their routers."""

from __future__ import annotations

from pathlib import Path

from tests.support.openers import market_opener, user_setup


def test_an_unknown_network_has_no_chain_id(tmp_path: Path) -> None:
    networks = market_opener(user_setup(tmp_path)).networks
    assert networks.chain_id("nowhere") is None
    assert networks.chain_id("base") == 8453
    assert networks.find("8453") == networks.find("base")
