"""The contract tries calls after a swap, each on the state after it, and reports two balances of each."""

from __future__ import annotations

import pytest
from eth_abi.abi import encode
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.encoding.abi import encode_address, encode_uint
from swapcli.core.errors import InvalidInput
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.transaction import Transaction
from swapcli.payload.evm.simulation import (
    Rehearsal,
    SimulatedCall,
    SimulationStatus,
    Trial,
    TrialRun,
    Watch,
    decode_rehearsal,
    encode_rehearse,
    runtime_code,
)
from swapcli.payload.evm.simulation.rehearsal import FAILED_TRIAL
from swapcli.payload.evm.transactions import build_approvals
from swapcli.testing.evm import selector
from tests.contracts.evm import solidity
from tests.payload.evm.build import ADDRESSES, NUMBERS
from tests.payload.evm.simulation.test_call import ALICE, BOB, PLENTY, SWAP_TYPE, Scene, swap_calls

TRIALS_TYPE = "(address,address,address,address,address,(address,bytes)[])[]"
TRIED = "Tried(bool,uint256,uint256,uint256,uint256,bytes)"
TOKENS = solidity("traps.sol", "tokens.sol")

transactions = st.builds(Transaction, ADDRESSES, st.binary(max_size=70).map(lambda raw: f"0x{raw.hex()}"))
watches = st.builds(Watch, ADDRESSES, ADDRESSES)
trials = st.builds(Trial, ADDRESSES, st.tuples(watches, watches), st.lists(transactions, max_size=3).map(tuple))


@given(swap_calls, st.lists(trials, max_size=3))
def test_a_rehearsal_is_encoded_as_eth_abi_does(swap: SimulatedCall, tried: list[Trial]) -> None:
    approvals = [*build_approvals(swap.approvals), *build_approvals(swap.permitted)]
    preparations = [(each.to, bytes.fromhex(each.calldata[2:])) for each in approvals]
    fields = (swap.router, swap.token_out, swap.recipient, swap.value_wei, swap.calldata, preparations)
    words = [
        (each.account, *each.watched[0], *each.watched[1], [(c.to, bytes.fromhex(c.calldata[2:])) for c in each.calls])
        for each in tried
    ]
    expected = selector(f"rehearse({SWAP_TYPE},{TRIALS_TYPE})") + encode([SWAP_TYPE, TRIALS_TYPE], [fields, words])
    assert encode_rehearse(swap, (), tried) == expected


runs = st.tuples(st.booleans(), NUMBERS, NUMBERS, NUMBERS, NUMBERS, st.binary(max_size=70))


@given(st.lists(runs, max_size=3), st.binary(max_size=40))
def test_a_rehearsal_of_eth_abi_is_decoded(found: list[tuple[bool, int, int, int, int, bytes]], output: bytes) -> None:
    data = [
        selector(TRIED) + encode(["bool", "uint256", "uint256", "uint256", "uint256", "bytes"], each) for each in found
    ]
    types = ["uint8", "uint256", "uint256", "uint256", "bytes", "bytes[]"]
    swap = SimulatedCall(BOB, ZERO_ADDRESS, ZERO_ADDRESS, BOB, 0, 0, b"")
    answer = encode(types, [0, 5, 7, 9, output, [*data, b""]])
    decoded = decode_rehearsal(answer, swap)
    assert (decoded.run.received, decoded.run.return_data) == (2, output)
    expected = [TrialRun(done, (b - a, d - c), returned) for done, a, b, c, d, returned in found]
    assert decoded.trials == (*expected, FAILED_TRIAL)


@given(st.binary(max_size=300))
def test_a_malformed_rehearsal_is_refused(answer: bytes) -> None:
    with pytest.raises(InvalidInput):
        decode_rehearsal(answer, SimulatedCall(BOB, ZERO_ADDRESS, ZERO_ADDRESS, BOB, 0, 0, b""))


def transfer_of(token: str, to: str, amount: int) -> Transaction:
    words = encode_address(to, "to") + encode_uint(amount, 256, "amount")
    return Transaction(token, f"0x{selector('transfer(address,uint256)').hex()}{words}")


def rehearse(scene: Scene, swap: SimulatedCall, tried: list[Trial]) -> Rehearsal:
    with scene.chain.revert_after():
        for owner in (ALICE, BOB):
            scene.chain.set_code(owner, runtime_code(ZERO_ADDRESS))
        return decode_rehearsal(scene.chain.send(ALICE, encode_rehearse(swap, (), tried)), swap)


@pytest.mark.parametrize("recipient", [ALICE, BOB])
def test_trials_follow_the_swap_and_leave_each_other_alone(recipient: str) -> None:
    scene = Scene()
    coin, other = scene.coin.address, "0x" + "0e" * 20
    before = PLENTY if recipient == ALICE else 0
    swap = scene.trade(ZERO_ADDRESS, coin, recipient=recipient)
    watched = (Watch(coin, recipient), Watch(coin, other))
    all_of_it = Trial(recipient, watched, (transfer_of(coin, other, before + 900),))
    too_much = Trial(recipient, watched, (transfer_of(coin, other, before + 901),))
    found = rehearse(scene, swap, [all_of_it, too_much, all_of_it])
    assert (found.run.status, found.run.received) == (SimulationStatus.DONE, 900)
    done, failed, again = found.trials
    assert (done.is_done, done.grown) == (True, (-before - 900, before + 900))
    assert (failed.is_done, failed.grown) == (False, (0, 0))
    assert again == done


def test_a_trial_that_takes_all_gas_fails_alone() -> None:
    scene = Scene()
    burner = scene.chain.deploy(TOKENS()["GasCoin"], "GAS")
    swap = scene.trade(ZERO_ADDRESS, scene.coin.address)
    watched = (Watch(scene.coin.address, BOB), Watch(ZERO_ADDRESS, BOB))
    burning = Trial(BOB, watched, (transfer_of(burner.address, ALICE, 1),))
    fine = Trial(BOB, watched, (transfer_of(scene.coin.address, ALICE, 400),))
    first, second = rehearse(scene, swap, [burning, fine]).trials
    assert not first.is_done
    assert (second.is_done, second.grown) == (True, (-400, 0))


def test_nothing_is_tried_after_a_swap_that_fails() -> None:
    scene = Scene()
    fine = Trial(BOB, (Watch(ZERO_ADDRESS, BOB), Watch(ZERO_ADDRESS, BOB)), ())
    found = rehearse(scene, scene.swap("fail", 0), [fine])
    assert (found.run.status, found.trials) == (SimulationStatus.REVERTED, ())
