"""A secret is shown by its redacted part alone."""

from __future__ import annotations

from swapcli.core.encoding.secret import MASK, Secret


def test_no_text_of_a_secret_contains_it() -> None:
    secret = Secret("https://node.example/key-of-mine", "https://node.example/…")
    shown = f"{secret} {secret!r} {[secret]} {Secret('key-of-mine')}"
    assert "key-of-mine" not in shown
    assert MASK in shown
    assert secret.reveal() == "https://node.example/key-of-mine"


def test_secrets_are_equal_by_value() -> None:
    assert Secret("a", "x") == Secret("a", "y")
    assert hash(Secret("a", "x")) == hash(Secret("a", "y"))
    assert Secret("a") != Secret("b")
    assert Secret("a") != "a"
