"""The simulation contract replaces a sender's code and reports the result of a call."""

from __future__ import annotations

from typing import Any

import pytest
from eth_abi.abi import encode
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InvalidInput
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.transaction import Approval
from swapcli.payload.evm.simulation import (
    SimulatedCall,
    SimulationRun,
    SimulationStatus,
    decode_run,
    encode_simulate,
    runtime_code,
)
from swapcli.payload.evm.transactions import build_approvals
from swapcli.testing.evm import DEPLOYER, Chain, Contract, RevertedError, selector
from tests.contracts.evm import solidity
from tests.payload.evm.build import ADDRESSES, NUMBERS

ALICE, BOB = "0x" + "a1" * 20, "0x" + "b0" * 20
HOME = "0x" + "77" * 20
SWAP_TYPE = "(address,address,address,uint256,bytes,(address,bytes)[])"
SOURCES = solidity("simulated.sol", "world.sol")
PLENTY = 10**24

approvals = st.lists(
    st.builds(
        Approval,
        ADDRESSES,
        ADDRESSES,
        st.integers(2, 2**160 - 1),
        expiration_s=st.none() | st.integers(0, 2**48 - 1),
    ),
    max_size=3,
).map(tuple)
swap_calls = st.builds(
    SimulatedCall,
    *(ADDRESSES, ADDRESSES, ADDRESSES, ADDRESSES, NUMBERS, NUMBERS, st.binary(max_size=200)),
    approvals=approvals,
    permitted=approvals,
)


class Scene:
    """Alice, whose code the contract replaces, a scripted router, and tokens that both own."""

    def __init__(self) -> None:
        self.chain = Chain()
        self.router = self.chain.deploy(SOURCES()["Obedient"])
        self.coin = self.chain.deploy(SOURCES()["SolidityKept"], bytes(32))
        self.tether = self.chain.deploy(SOURCES()["Tether"])
        for token in (self.coin, self.tether):
            token.send("mint", ALICE, PLENTY)
            token.send("mint", self.router.address, PLENTY)
        for owner in (ALICE, self.router.address):
            self.chain.fund(owner, PLENTY)

    def simulate(self, swap: SimulatedCall, own: bytes = b"") -> SimulationRun:
        """Simulate `swap` from Alice, whose own code is `own`."""
        with self.chain.revert_after():
            self.chain.set_code(ALICE, runtime_code(HOME if own else ZERO_ADDRESS))
            if own:
                self.chain.set_code(HOME, own)
            allowances = [self._allowance(each) for each in swap.approvals]
            return decode_run(self.chain.send(ALICE, encode_simulate(swap, allowances)), swap, allowances)

    def _allowance(self, approval: Approval) -> int:
        arguments = encode(["address", "address"], [ALICE, approval.spender])
        return int.from_bytes(self.chain.call(approval.token, selector("allowance(address,address)") + arguments))

    def swap(self, function: str, *arguments: Any, **changes: Any) -> SimulatedCall:
        """Return a call of the router; `changes` replace fields of a swap without tokens."""
        calldata = self.router.calldata(function, *arguments)
        plain = SimulatedCall(self.router.address, ZERO_ADDRESS, ZERO_ADDRESS, BOB, 0, 0, calldata)
        return plain._replace(**changes)

    def trade(self, sold: str, bought: str, *, taken: int = 1_000, paid: int = 900, **changes: Any) -> SimulatedCall:
        value = 0 if sold != ZERO_ADDRESS else taken
        approvals = (Approval(sold, self.router.address, changes.get("amount_in", taken)),) if value == 0 else ()
        tokens = {"token_in": sold, "token_out": bought, "approvals": approvals}
        fields: dict[str, Any] = {**tokens, "amount_in": taken, "value_wei": value, "recipient": BOB}
        recipient = changes.get("recipient", BOB)
        return self.swap("trade", sold, taken, bought, paid, recipient, **fields | changes)


@pytest.fixture
def scene() -> Scene:
    return Scene()


@given(swap_calls, st.integers(0, 2))
def test_a_simulated_call_is_encoded_as_eth_abi_does(swap: SimulatedCall, allowance: int) -> None:
    allowances = [allowance] * len(swap.approvals)
    transactions = [*build_approvals(swap.approvals, allowances), *build_approvals(swap.permitted)]
    preparations = [(each.to, bytes.fromhex(each.calldata[2:])) for each in transactions]
    fields = (swap.router, swap.token_out, swap.recipient, swap.value_wei, swap.calldata, preparations)
    expected = selector(f"simulate({SWAP_TYPE})") + encode([SWAP_TYPE], [fields])
    assert encode_simulate(swap, allowances) == expected


@given(st.sampled_from(SimulationStatus), NUMBERS, NUMBERS, st.integers(0, 2**40), st.binary(max_size=100))
def test_a_simulation_result_of_eth_abi_is_decoded(
    outcome: SimulationStatus, found: int, left: int, gas: int, output: bytes
) -> None:
    answer = encode(["uint8", "uint256", "uint256", "uint256", "bytes"], [outcome, found, left, gas, output])
    run = decode_run(answer, SimulatedCall(BOB, ZERO_ADDRESS, ZERO_ADDRESS, BOB, 0, 0, b""))
    assert run == SimulationRun(outcome, left - found, 21_000 + gas, output)


@given(st.binary(max_size=300))
def test_a_malformed_simulation_result_is_refused(answer: bytes) -> None:
    with pytest.raises(InvalidInput):
        decode_run(answer, SimulatedCall(BOB, ZERO_ADDRESS, ZERO_ADDRESS, BOB, 0, 0, b""))


@pytest.mark.parametrize("sold", ["coin", "tether", ""])
@pytest.mark.parametrize("bought", ["coin", "tether", ""])
@pytest.mark.parametrize("recipient", [ALICE, BOB])
def test_the_received_amount_is_what_the_router_pays(scene: Scene, sold: str, bought: str, recipient: str) -> None:
    if sold == bought and recipient == ALICE:
        return
    addresses = {"coin": scene.coin.address, "tether": scene.tether.address, "": ZERO_ADDRESS}
    run = scene.simulate(scene.trade(addresses[sold], addresses[bought], recipient=recipient))
    assert (run.status, run.received) == (SimulationStatus.DONE, 900)
    assert int.from_bytes(run.return_data) == 900


def test_a_loss_is_reported_as_negative(scene: Scene) -> None:
    run = scene.simulate(scene.trade(scene.coin.address, scene.coin.address, recipient=ALICE))
    assert (run.status, run.received) == (SimulationStatus.DONE, -100)


@pytest.mark.parametrize(("allowed", "needed"), [(0, 1_000), (1, 1_000), (999, 1_000), (1_000, 1_000), (10**9, 1_000)])
@pytest.mark.parametrize("token", ["coin", "tether"])
def test_the_router_may_take_the_input_under_any_allowance(scene: Scene, token: str, allowed: int, needed: int) -> None:
    sold: Contract = getattr(scene, token)
    sold.send("approve", scene.router.address, allowed, sender=ALICE)
    run = scene.simulate(scene.trade(sold.address, ZERO_ADDRESS, taken=needed))
    assert (run.status, run.received) == (SimulationStatus.DONE, 900)


def test_the_router_may_not_take_more_than_the_input(scene: Scene) -> None:
    run = scene.simulate(scene.trade(scene.coin.address, ZERO_ADDRESS, taken=1_001, amount_in=1_000))
    assert (run.status, run.received) == (SimulationStatus.REVERTED, 0)


def test_a_failed_approval_reports_the_full_error(scene: Scene) -> None:
    unwilling = scene.chain.deploy(SOURCES()["Unwilling"])
    run = scene.simulate(scene.trade(unwilling.address, ZERO_ADDRESS))
    assert (run.status, run.return_data) == (
        SimulationStatus.NOT_APPROVED,
        selector("NotToday(uint256)") + (7).to_bytes(32),
    )


@pytest.mark.parametrize(
    ("how", "output"),
    [
        (0, selector("Error(string)") + encode(["string"], ["not like this"])),
        (1, selector("Unkind(uint256,address)") + encode(["uint256", "address"], [5, ALICE])),
        (2, selector("Panic(uint256)") + (1).to_bytes(32)),
        (3, b""),
        (4, b""),
    ],
)
def test_a_revert_reports_the_full_error_even_without_gas(scene: Scene, how: int, output: bytes) -> None:
    run = scene.simulate(scene.swap("fail", how))
    assert (run.status, run.received, run.return_data) == (SimulationStatus.REVERTED, 0, output)


def test_an_address_without_code_is_reported_as_no_router(scene: Scene) -> None:
    run = scene.simulate(scene.trade(ZERO_ADDRESS, ZERO_ADDRESS, router="0x" + "99" * 20))
    assert (run.status, run.received) == (SimulationStatus.NO_ROUTER, 0)


def test_a_balance_that_cannot_be_read_makes_the_whole_call_fail(scene: Scene) -> None:
    with pytest.raises(RevertedError):
        scene.simulate(scene.trade(ZERO_ADDRESS, scene.router.address))


def test_the_router_sees_the_sender_and_its_origin(scene: Scene) -> None:
    run = scene.simulate(scene.swap("whoIs"))
    assert run.return_data == encode(["address", "address"], [ALICE, DEPLOYER])


def test_a_sender_without_code_responds_as_a_plain_account(scene: Scene) -> None:
    run = scene.simulate(scene.swap("callBack", b"whatever"))
    assert run.return_data == encode(["bytes"], [b""])
    # Solidity's transfer() leaves its recipient only 2,300 gas.
    run = scene.simulate(scene.swap("payThrifty", ALICE, 500, recipient=ALICE))
    assert (run.status, run.received) == (SimulationStatus.DONE, 500)


def test_a_wallet_responds_with_its_own_code_and_storage(scene: Scene) -> None:
    wallet = scene.chain.deploy(SOURCES()["Wallet"], 400)
    own = scene.chain.code(wallet.address)
    paid = scene.simulate(scene.trade(scene.coin.address, ZERO_ADDRESS, paid=400, recipient=ALICE), own)
    assert (paid.status, paid.received) == (SimulationStatus.DONE, 400)
    refused = scene.simulate(scene.trade(scene.coin.address, ZERO_ADDRESS, paid=399, recipient=ALICE), own)
    assert refused.status is SimulationStatus.REVERTED
    for function, expected in (("least", 400), ("count", 0)):
        response = scene.simulate(scene.swap("callBack", wallet.calldata(function)), own)
        assert response.return_data == encode(["bytes"], [expected.to_bytes(32)]), (
            "immutables are the code's, storage is the sender's"
        )
