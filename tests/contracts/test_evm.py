"""The harness itself: what differential tests rely on."""

from __future__ import annotations

import pytest

from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.testing.evm import DEPLOYER, Chain, Contract, RevertedError, parse_bytecode, selector
from tests.contracts import evm
from tests.contracts.evm import MissingPackagesError, compile_solidity, load_artifact, load_json

ALICE, BOB = "0x" + "a1" * 20, "0x" + "b0" * 20
ERC20 = "@uniswap/v4-core/out/TestERC20.sol/TestERC20.json"


@pytest.fixture
def token() -> Contract:
    return Chain().deploy(load_artifact(ERC20), 1_000)


def test_a_transaction_lasts_and_answers(token: Contract) -> None:
    assert token.send("transfer", BOB, 5) == (True,)
    assert token.send("balanceOf", BOB) == (5,)
    assert token.send("transfer", ALICE, 2, sender=BOB) == (True,)
    assert [token.send("balanceOf", who) for who in (DEPLOYER, BOB, ALICE)] == [(995,), (3,), (2,)]


def test_a_call_leaves_no_trace_however_often(token: Contract) -> None:
    for _ in range(1_500):
        assert token.call("transfer", BOB, 5) == (True,)
    assert token.send("balanceOf", BOB) == (0,)
    with token.chain.revert_after():
        token.send("mint", BOB, 7)
        assert token.send("balanceOf", BOB) == (7,)
    assert token.send("balanceOf", BOB) == (0,)


def test_a_revert_tells_its_reason_and_changes_nothing(token: Contract) -> None:
    with pytest.raises(RevertedError, match=r"^insufficient balance$") as caught:
        token.send("transfer", BOB, 1_001)
    assert caught.value.data[:4] == selector("Error(string)")
    assert token.send("balanceOf", DEPLOYER) == (1_000,)


def test_custom_errors_keep_their_data() -> None:
    manager = Chain().deploy(load_artifact("@uniswap/v4-core/out/PoolManager.sol/PoolManager.json"), ALICE)
    with pytest.raises(RevertedError) as caught:
        manager.send("settle()")
    assert caught.value.data == selector("ManagerLocked()")


def test_words_and_eth_abi_encode_alike() -> None:
    manager = Contract(Chain(), ZERO_ADDRESS, load_artifact("@uniswap/v4-core/out/PoolManager.sol/PoolManager.json"))
    key = (ALICE, BOB, 3_000, -60, ZERO_ADDRESS)
    words = [int(ALICE, 16), int(BOB, 16), 3_000, 2**256 - 60, 0, 9]
    expected = b"".join(word.to_bytes(32, "big") for word in words)
    assert manager.calldata("initialize", key, 9)[4:] == expected
    assert manager.calldata("transfer", BOB, 9)[4:] == expected[32:64] + expected[160:]


def test_overloads_are_told_apart_by_signature(token: Contract) -> None:
    assert token.calldata("transfer(address,uint256)", BOB, 1)[:4] == selector("transfer(address,uint256)")
    with pytest.raises(KeyError, match="no function"):
        token.send("transfer(address)", BOB)


def test_value_reaches_the_contract() -> None:
    chain = Chain()
    weth = chain.deploy(load_artifact("canonical-weth/build/contracts/WETH9.json"))
    chain.fund(ALICE, 10)
    weth.send("deposit", value=4, sender=ALICE)
    assert weth.send("balanceOf", ALICE) == (4,)


def test_solidity_is_compiled_once_and_kept() -> None:
    kit = compile_solidity("kit.sol")
    assert {"Token", "PoolHost", "Trader", "V4Trader"} <= set(kit)
    assert compile_solidity("kit.sol") is kit
    (decimals,) = Chain().deploy(kit["Token"], 8).send("decimals")
    assert decimals == 8


def test_storage_and_time_can_be_read() -> None:
    chain = Chain(timestamp=1_234)
    source = load_artifact("@uniswap/v2-core/build/UniswapV2Pair.json")
    pair = chain.deploy(source)
    assert chain.storage(pair.address, 12) == 1  # the reentrancy lock is open
    token0, token1 = (chain.deploy(load_artifact(ERC20), 0) for _ in range(2))
    pair.send("initialize", token0.address, token1.address)
    chain.set_time(5_678)
    pair.send("sync")
    assert pair.send("getReserves") == (0, 0, 5_678)


def test_a_missing_package_says_what_to_run() -> None:
    with pytest.raises(MissingPackagesError, match="npm ci"):
        load_json("no-such-package/x.json")


def test_what_does_not_compile_says_why() -> None:
    with pytest.raises(RuntimeError, match=r"solc failed for no-such-file\.sol"):
        evm.compile_solidity("no-such-file.sol")


@pytest.mark.parametrize("value", ["0x60", "60", {"object": "0x60"}, {"creationCode": "60"}])
def test_bytecode_comes_in_many_forms(value: str | dict[str, str]) -> None:
    assert parse_bytecode(value) == b"\x60"
