"""A store that contradicts the user's definition of a token gives no quote: without a store it is an error too."""

from __future__ import annotations

from pathlib import Path

from tests.support.command import run_swapcli

USDC = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"


def test_wrong_decimals_are_an_error_with_a_store(tmp_path: Path) -> None:
    assert run_swapcli("market", "export", "base", str(tmp_path / "m.json")).exit_code == 0
    assert run_swapcli("market", "import", str(tmp_path / "m.json"), "--store", str(tmp_path)).exit_code == 0
    config = tmp_path / "c.yaml"
    for decimals, status in ((6, 0), (8, 2)):
        config.write_text(
            "networks:\n  base:\n    tokens:\n"
            f"      - {{address: '{USDC}', symbol: USDC, name: A, decimals: {decimals}}}\n"
        )
        words = ("route", "base", "ETH", "USDC", "1", "--store", str(tmp_path), "--config", str(config))
        ran = run_swapcli(*words)
        assert ran.exit_code == status, ran.stderr
        assert ("has 6 decimals on the chain, but 8 in the definition of base" in ran.stderr) == (status == 2)
