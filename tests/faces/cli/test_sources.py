"""What answers an order, and which options for it cannot be combined."""

from __future__ import annotations

import pytest

from tests.support.command import run_swapcli

NODE = "http://user:secretword@127.0.0.1:1/secretkey"
SERVICE = "http://127.0.0.1:1"


@pytest.mark.parametrize(
    ("options", "status", "message"),
    [
        (("--offline", "--api-url", SERVICE), 2, "--offline cannot be combined with --api-url"),
        (("--offline", "--rpc-url", NODE), 2, "--offline uses no node"),
        (("--offline", "--block", "safe"), 2, "--block is read from a node of base, but --offline is set"),
        (("--block", "latest"), 2, "--block is read from a node of base, but the setting `live` is `never`"),
        (("--block", "pending", "--api-url", SERVICE), 2, "--block cannot be combined with --api-url"),
        (("--block", "soon"), 2, '--block: "soon" is not a block tag, number or hash'),
        (("--market", "nowhere.json", "--rpc-url", NODE), 2, "--rpc-url cannot be combined with --market"),
        (("--api-url", SERVICE, "--rpc-url", NODE), 2, "--rpc-url has no effect with --api-url"),
        (("--rpc-url", "ftp://user:secretword@127.0.0.1/secretkey"), 2, "--rpc-url: expected an http"),
        (("--max-age", "-1"), 2, "--max-age: expected a whole number"),
        (("--offline", "--max-age", "5"), 6, "base is quoted on modelled state, which has no timestamp"),
        (("--rpc-url", NODE), 5, "http://127.0.0.1:1/… refuses connections"),
    ],
)
def test_options_that_do_not_fit_are_refused_in_a_sentence(options: tuple[str, ...], status: int, message: str) -> None:
    ran = run_swapcli("route", "base", "ETH", "USDC", "1", *options)
    assert ran.exit_code == status
    assert message in ran.stderr
    assert not ran.stdout
    assert "secret" not in ran.stderr


def test_offline_goes_before_a_service_of_the_settings() -> None:
    ran = run_swapcli("route", "base", "ETH", "USDC", "1", "--offline", "--json", env={"SWAPCLI_API_URL": SERVICE})
    assert ran.exit_code == 0
    assert ran.json["state"]["kind"] == "modelled"
