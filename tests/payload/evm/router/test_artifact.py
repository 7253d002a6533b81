"""The committed router contract speaks the published ABI."""

from __future__ import annotations

import json

import pytest

from swapcli.payload.evm.router import read_artifact
from swapcli.testing.evm import Chain, Contract, ContractArtifact, RevertedError, selector
from tests.contracts.build import ROUTER
from tests.payload.evm.build import SIGNATURES

PUBLISHED = {"swap": "8619b04e", "swapIntegrator": "21ed51f7", "swapWithPermit": "df9f8e3a"}
OWN = {"swapBefore": "54f53f8b"}
ERRORS = {
    "RateExceedsMaximum",
    "RateZero",
    "AmountTooSmallForRate",
    "CannotTakeBothFeeAndSurplus",
    "FeePercentageExceedsMaximum",
    "SurplusPercentageExceedsMaximum",
    "DeadlineExpired",
}
MOST_CODE_BYTES = 24_576


@pytest.mark.parametrize(("name", "expected"), (PUBLISHED | OWN).items())
def test_functions_have_the_published_selectors_and_abi(name: str, expected: str) -> None:
    assert selector(SIGNATURES[name]).hex() == expected
    contract = Contract(Chain(), "0x" + "0" * 40, ContractArtifact(read_artifact().abi, b""))
    assert contract.calldata(SIGNATURES[name], *arguments(name))[:4].hex() == expected


def arguments(name: str) -> list[object]:
    zero = "0x" + "0" * 40
    route: list[object] = [(zero, zero, 0, 0, 0, zero, 0), []]
    if name == "swapBefore":
        return [0, *route, b""]
    more: dict[str, list[object]] = {"swapIntegrator": [b""], "swapWithPermit": [0, 0, bytes(32), bytes(32)]}
    return route + more.get(name, [])


CALLBACKS = {"unlockCallback", "lockAcquired", "balancerCallback"}


def test_only_swaps_and_callbacks_are_callable() -> None:
    functions = {str(each["name"]) for each in read_artifact().abi if each["type"] == "function"}
    assert functions == {*PUBLISHED, *OWN, *CALLBACKS}


def test_the_published_errors_and_the_event_are_there() -> None:
    abi = read_artifact().abi
    assert {str(each["name"]) for each in abi if each["type"] == "error" and not each["inputs"]} >= ERRORS
    (event,) = [each for each in abi if each["type"] == "event"]
    assert event["name"] == "IntegratorFeeDistribution"
    inputs = event["inputs"]
    assert isinstance(inputs, list)
    assert [each["type"] for each in inputs] == ["address", "uint256", "uint256"]


def test_the_code_fits_the_size_limit_and_the_paris_opcodes() -> None:
    artifact = read_artifact()
    assert artifact.settings["evmVersion"] == "paris"
    chain = Chain()
    wrapped = "0x" + "ee" * 20
    contract = chain.deploy(
        ContractArtifact(artifact.abi, bytes.fromhex(artifact.bytecode[2:])), wrapped, wrapped, 0, 0
    )
    code = chain.code(contract.address)
    assert 5_000 < len(code) <= MOST_CODE_BYTES
    # PUSH0, TLOAD, TSTORE, MCOPY
    assert not opcodes(code) & {0x5F, 0x5C, 0x5D, 0x5E}


def opcodes(code: bytes) -> set[int]:
    """The instructions, without what they push."""
    found, at = set(), 0
    while at < len(code):
        found.add(code[at])
        at += 1 + (code[at] - 0x5F if 0x60 <= code[at] <= 0x7F else 0)
    return found


def test_the_artifact_tells_how_it_was_made() -> None:
    document = json.loads(ROUTER.artifact.read_text())
    assert document["compiler"] == "0.8.26"
    assert document["settings"]["metadata"] == {"appendCBOR": False, "bytecodeHash": "none"}
    assert document["bytecode"] == document["bytecode"].lower()


def test_code_that_was_cut_short_does_not_deploy() -> None:
    artifact = read_artifact()
    with pytest.raises(RevertedError):
        Chain().create(bytes.fromhex(artifact.bytecode[2:]))
