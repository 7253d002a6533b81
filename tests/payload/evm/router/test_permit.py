"""`swapWithPermit`: the caller's own signature, until its deadline."""

from __future__ import annotations

from typing import Any

import pytest
from eth_account import Account

from swapcli.core.model.market import MarketState
from swapcli.payload.evm import Permit, encode_permit_call
from swapcli.testing.evm import Chain, RevertedError
from tests.chain.contract_fixture import ContractFixture
from tests.payload.evm.router.driving import ALICE, BOB, Built, build, error, single
from tests.payload.evm.router.test_families import pool_of

NOW_S = 1_700_000_000
AMOUNT = 1_000_000_000
KEY = "0x" + "17" * 32
"""A private key for these tests only."""
PERMIT_FIELDS = [
    {"name": "owner", "type": "address"},
    {"name": "spender", "type": "address"},
    {"name": "value", "type": "uint256"},
    {"name": "nonce", "type": "uint256"},
    {"name": "deadline", "type": "uint256"},
]


@pytest.fixture
def built(fixture: ContractFixture, market: MarketState) -> Built:
    usdc, dai = fixture.address("USDC"), fixture.address("DAI")
    return build(market, single(pool_of(market, "curveFi", usdc, dai), usdc, dai), AMOUNT)


def owner() -> str:
    return str(Account.from_key(KEY).address).lower()


def signed(
    fixture: ContractFixture, *, amount: int = AMOUNT, deadline: int = NOW_S, spender: str | None = None
) -> Permit:
    usdc = fixture.contracts["USDC"]
    _, name, version, chain_id, verifying_contract, _, _ = usdc.call("eip712Domain")
    message: dict[str, Any] = {
        "owner": owner(),
        "spender": spender or fixture.router.address,
        "value": amount,
        "nonce": usdc.call("nonces", owner())[0],
        "deadline": deadline,
    }
    domain = {"name": name, "version": version, "chainId": chain_id, "verifyingContract": verifying_contract}
    signature = Account.sign_typed_data(KEY, domain, {"Permit": PERMIT_FIELDS}, message)
    return Permit(deadline, signature.v, signature.r.to_bytes(32), signature.s.to_bytes(32))


def send(fixture: ContractFixture, built: Built, permit: Permit, sender: str | None = None) -> int:
    calldata = bytes.fromhex(encode_permit_call(built.call, permit)[2:])
    return int.from_bytes(fixture.chain.send(built.payload.to, calldata, sender=sender or owner()))


@pytest.fixture
def rich(fixture: ContractFixture) -> ContractFixture:
    fixture.give("USDC", owner(), AMOUNT)
    return fixture


def test_a_permit_replaces_an_approval(rich: ContractFixture, built: Built) -> None:
    assert send(rich, built, signed(rich)) == built.replay.amount_out
    assert rich.balance(rich.address("DAI"), BOB) == built.replay.amount_out
    assert rich.contracts["USDC"].call("allowance", owner(), rich.router.address) == (0,)


def test_the_deadline_is_the_last_second(rich: ContractFixture, built: Built) -> None:
    late = signed(rich, deadline=NOW_S - 1)
    with pytest.raises(RevertedError) as caught:
        send(rich, built, late)
    assert caught.value.data == error("DeadlineExpired()")
    assert isinstance(rich.chain, Chain)
    rich.chain.set_time(NOW_S - 1)
    try:
        assert send(rich, built, late) == built.replay.amount_out
    finally:
        rich.chain.set_time(NOW_S)


def test_a_permit_that_was_submitted_before_still_works(rich: ContractFixture, built: Built) -> None:
    permit = signed(rich)
    rich.contracts["USDC"].send("permit", owner(), rich.router.address, AMOUNT, *permit, sender=ALICE)
    assert send(rich, built, permit) == built.replay.amount_out


def test_no_caller_can_use_the_permit_of_another(rich: ContractFixture, built: Built) -> None:
    with pytest.raises(RevertedError) as caught:
        send(rich, built, signed(rich), sender=ALICE)
    assert caught.value.data == error("TokenRefused(address)", rich.address("USDC"))


@pytest.mark.parametrize("changes", [{"amount": AMOUNT - 1}, {"spender": BOB}])
def test_a_permit_for_another_amount_or_spender_is_refused(
    rich: ContractFixture, built: Built, changes: dict[str, Any]
) -> None:
    with pytest.raises(RevertedError) as caught:
        send(rich, built, signed(rich, **changes))
    assert caught.value.data == error("TokenRefused(address)", rich.address("USDC"))


def test_a_token_without_permits_uses_its_approval(fixture: ContractFixture, market: MarketState) -> None:
    usdt, dai = fixture.address("USDT"), fixture.address("DAI")
    built = build(market, single(pool_of(market, "curveFi", usdt, dai), usdt, dai), AMOUNT)
    fixture.give("USDT", ALICE, AMOUNT)
    fixture.contracts["USDT"].send("approve", fixture.router.address, AMOUNT, sender=ALICE)
    empty = Permit(NOW_S, 27, bytes(32), bytes(32))
    assert send(fixture, built, empty, sender=ALICE) == built.replay.amount_out
