"""The transfer probe contract: its bytecode, its calls, and the classification of its results."""

from __future__ import annotations

import pytest
from eth_abi.abi import decode, encode
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InvalidInput
from swapcli.core.model.transfer_behaviour import (
    IRREGULAR,
    ORDINARY,
    REFUSED,
    SHARES,
    UNKNOWN,
    TransferBehaviour,
    TransferKind,
    worst_of,
)
from swapcli.state.transfers.transfer_probe import (
    TransferTrial,
    TrialResult,
    classify_transfers,
    decode_codes,
    decode_trials,
    delegating_code,
    encode_codes,
    encode_try_all,
    guarding_code,
    runtime_code,
)
from swapcli.state.transfers.transfer_probe.call import TrialTransfer
from swapcli.testing.evm import Chain, selector
from tests.contracts.evm import compile_solidity

PROBE, OWN, ONE, OTHER = (f"0x{digit * 40}" for digit in "abcd")
addresses = st.binary(min_size=20, max_size=20).map(lambda raw: f"0x{raw.hex()}")


@given(st.lists(st.builds(TransferTrial, addresses, addresses), max_size=5), addresses, addresses)
def test_trials_have_the_standard_encoding(trials: list[TransferTrial], one: str, other: str) -> None:
    found = encode_try_all(trials, (one, other))
    assert found[:4] == selector("tryAll((address,address)[],address,address)")
    assert found[4:] == encode(["(address,address)[]", "address", "address"], [list(map(tuple, trials)), one, other])
    codes = encode_codes([one, other])
    assert codes == selector("codes(address[])") + encode(["address[]"], [[one, other]])


@given(
    amounts=st.lists(st.lists(st.integers(0, 2**250), min_size=6, max_size=6), max_size=3),
    codes=st.lists(st.binary(), max_size=4),
)
def test_trial_results_are_decoded(amounts: list[list[int]], codes: list[bytes]) -> None:
    words = [[word for amount in each for word in (amount & 1, amount, amount, 0)] for each in amounts]
    trials = decode_trials(encode(["uint256[24][]"], [words]), len(words))
    assert trials == [
        TrialResult(tuple(TrialTransfer(bool(each & 1), each, each, 0) for each in trial)) for trial in amounts
    ]
    assert decode_codes(encode(["bytes[]"], [codes]), len(codes)) == codes
    for answer, count in ((encode(["uint256[24][]"], [words]), len(words) + 1), (b"", 1), (bytes(64) + b"\1", 0)):
        with pytest.raises(InvalidInput):
            decode_trials(answer, count)
        with pytest.raises(InvalidInput):
            decode_codes(answer, count)


def test_calls_are_passed_to_the_probe_or_to_a_pools_own_code() -> None:
    """Results, reverts and storage are as if the code were at the address itself."""
    chain = Chain()
    token = chain.deploy(compile_solidity("kit.sol")["Token"], 6)
    holder, wallet = "0x" + "11" * 20, "0x" + "22" * 20
    chain.set_code(PROBE, runtime_code())
    chain.set_code(OWN, chain.code(token.address))
    chain.set_code(wallet, delegating_code(PROBE))
    chain.set_code(holder, guarding_code(PROBE, OWN))
    as_token = chain.at(holder, compile_solidity("kit.sol")["Token"])
    as_token.send("mint", ONE, 7)
    assert as_token.call("balanceOf", ONE) == (7,)
    assert as_token.call("decimals") == (6,)
    with pytest.raises(Exception, match="0x4e487b71"):  # the token's own panic data
        as_token.send("transfer", OTHER, 1)
    token.send("mint", holder, 10**9)
    call = selector("tryToken(address,address,address)") + encode(["address"] * 3, [token.address, wallet, wallet])
    (words,) = decode(["uint256[24]"], chain.call(holder, call))
    assert words[:4] == (1, 5 * 10**6, 5 * 10**6, 5 * 10**6)


def trial(*transfers: tuple[int, int, int], failed: tuple[int, ...] = ()) -> TrialResult:
    results = [TrialTransfer(k not in failed, *each) for k, each in enumerate(transfers)]
    return TrialResult(tuple((results * 2)[:6]))


BIG = 10**9


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (trial(*[(BIG, BIG, BIG)] * 3), ORDINARY),
        (trial((BIG, BIG, BIG - 1), (BIG, BIG - 1, BIG), (BIG, BIG, BIG)), SHARES),
        (trial((BIG, BIG, BIG - 3), (BIG, BIG, BIG), (BIG, BIG, BIG)), TransferBehaviour(TransferKind.FEE, 1, 0, 0)),
        (trial((BIG, BIG, BIG), (BIG, BIG, BIG), (BIG, BIG, 0)), TransferBehaviour(TransferKind.FEE, 0, 10**6, 0)),
        (trial((BIG, BIG + 1, BIG), (BIG, BIG, BIG), (BIG, BIG, BIG)), IRREGULAR),
        (trial((BIG, BIG, BIG + 1), (BIG, BIG, BIG), (BIG, BIG, BIG)), IRREGULAR),
        (trial((BIG, BIG - 9, BIG), (BIG, BIG, BIG), (BIG, BIG, BIG)), IRREGULAR),
        (trial((50, 50, 49), (50, 50, 50), (50, 50, 50)), TransferBehaviour(TransferKind.FEE, 20_000, 0, 0)),
        (trial((BIG, BIG, BIG), (BIG, BIG, BIG), (BIG, BIG, BIG), failed=(2,)), REFUSED),
        (trial((1, 0, 0), (0, 0, 0), (0, 0, 0), failed=(0, 1, 2)), REFUSED),
        (trial(*[(0, 0, 0)] * 3, failed=(0, 1, 2)), UNKNOWN),
    ],
)
def test_a_trial_is_classified(found: TrialResult, expected: TransferBehaviour) -> None:
    assert classify_transfers(found) == expected


def test_a_failed_direction_differs_from_an_untried_one() -> None:
    assert not trial(*[(BIG, BIG, BIG)] * 3).is_refused
    assert not trial(*[(0, 0, 0)] * 3, failed=(0, 1, 2)).is_refused
    assert trial(*[(BIG, BIG, BIG)] * 3, failed=(2,)).is_refused


def test_the_worst_of_several_trials_counts() -> None:
    taxed = TransferBehaviour(TransferKind.FEE, 1, 20, 3)
    assert worst_of([]) == UNKNOWN
    assert worst_of([UNKNOWN, ORDINARY]) == ORDINARY
    assert worst_of([SHARES, ORDINARY]) == SHARES
    assert worst_of([taxed, SHARES, TransferBehaviour(TransferKind.FEE, 5, 2, 0)]) == TransferBehaviour(
        TransferKind.FEE, 5, 20, 3
    )
    assert worst_of([taxed, IRREGULAR]) == IRREGULAR


@pytest.mark.parametrize(
    ("behaviour", "sentence"),
    [
        (TransferBehaviour.with_fee(20_000), "takes a fee of 2% on transfers"),
        (TransferBehaviour(TransferKind.FEE, 0, 12_345, 0), "takes a fee of 1.2345% when it is sold"),
        (
            TransferBehaviour(TransferKind.FEE, 30_000, 1, 0),
            "takes a fee of 3% when it is bought, of 0.0001% when it is sold",
        ),
        (TransferBehaviour.with_fee(0), "transfers the exact amount sent"),
    ],
)
def test_a_behaviour_is_described_in_words(behaviour: TransferBehaviour, sentence: str) -> None:
    assert behaviour.described() == sentence
