"""Swaps through the real Vault of Balancer V3, compiled from its published source, pay what its rules say.

The pools are our own, a constant product; the Vault adds its fee, its scaling, and the buffers of boosted pools.
"""

from __future__ import annotations

from collections import Counter
from itertools import permutations, product
from random import Random

import pytest

from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.families.row import RouterPoolKind
from swapcli.testing.evm import DEPLOYER, Chain, Contract, RevertedError
from tests.contracts.evm import compile_solidity
from tests.payload.evm.router.test_vault_pools import carry_out, single_call
from tests.payload.evm.router.vault_pools import BUFFER_DOLLARS, POOL_DOLLARS, SHARES, Offer, VaultPools
from tests.support.outside_ids import keccak256

pytestmark = pytest.mark.slow  # the Vault takes half a minute to compile

FOLDER = "@balancer-labs/v3-vault/contracts"
FILES = tuple(f"{FOLDER}/{name}.sol" for name in ("Vault", "VaultExtension", "VaultAdmin", "ProtocolFeeController"))
WAD = 10**18
FEE = 3 * 10**15
MIN_TRADE, MIN_WRAP = 10**6, 10**4
DAY_S = 86_400
SCALING = {"USDC": 10**12, "WBTC": 10**10, "DAI": 1, "sUSDC": 10**12, "sDAI": 1}
ROUNDS = 40


class RealVault:
    """The Vault with its parts, one plain pool and one of shares, and a buffer of each token of shares."""

    def __init__(self, fixture: VaultPools) -> None:
        self.fixture = fixture
        chain, sources = fixture.chain, compile_solidity(*FILES, runs=1, via_ir=True)
        self.own = compile_solidity("balancer.sol")
        self.provider = chain.deploy(self.own["BalancerProvider"])
        # The parts know the Vault's address before it exists: it is the fourth contract from here.
        probe = chain.deploy(self.own["BalancerProvider"]).address
        nonce = next(n for n in range(10_000) if _created_address(n) == probe)
        address = _created_address(nonce + 4)
        admin = chain.deploy(sources["VaultAdmin"], address, 90 * DAY_S, 30 * DAY_S, MIN_TRADE, MIN_WRAP)
        extension = chain.deploy(sources["VaultExtension"], address, admin.address)
        fees = chain.deploy(sources["ProtocolFeeController"], address, 0, 0)
        vault = chain.deploy(sources["Vault"], extension.address, DEPLOYER, fees.address)
        assert vault.address == address
        self.admin = chain.at(address, sources["VaultAdmin"])
        self.extension = chain.at(address, sources["VaultExtension"])
        self.plain = self._open_pool("WBTC", "USDC")
        self.shares = self._open_pool(*SHARES)
        for share, asset in SHARES.items():
            amounts = [fixture.dollars(symbol, BUFFER_DOLLARS) for symbol in (asset, share)]
            call = self.admin.calldata("initializeBuffer", fixture.address(share), *amounts, 0, DEPLOYER)
            self._provide(call, (asset, share), amounts)

    def _open_pool(self, *symbols: str) -> Contract:
        pool = self.fixture.chain.deploy(self.own["ProductPool"], self.extension.address)
        tokens = self._ordered(symbols)
        config = [(self.fixture.address(symbol), 0, ZERO_ADDRESS, False) for symbol in tokens]
        roles, liquidity = (ZERO_ADDRESS,) * 3, (False,) * 4
        self.extension.send("registerPool", pool.address, config, FEE, 0, False, roles, ZERO_ADDRESS, liquidity)
        amounts = [self.fixture.dollars(symbol, POOL_DOLLARS) for symbol in tokens]
        addresses = [self.fixture.address(symbol) for symbol in tokens]
        call = self.extension.calldata("initialize", pool.address, DEPLOYER, addresses, amounts, 0, b"")
        self._provide(call, tokens, amounts)
        return pool

    def _provide(self, call: bytes, symbols: tuple[str, ...], amounts: list[int]) -> None:
        for symbol, amount in zip(symbols, amounts, strict=True):
            self.fixture.give(symbol, self.provider.address, amount)
        addresses = [self.fixture.address(symbol) for symbol in symbols]
        self.provider.send("provide", self.extension.address, call, addresses, amounts)

    def _ordered(self, symbols: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(sorted(symbols, key=lambda symbol: int(self.fixture.address(symbol), 16)))

    def quote(self, pool: Contract, sold: str, bought: str, amount: int) -> int | None:
        """Return the output by the Vault's rules, None where it refuses."""
        (balances,) = self.extension.call("getCurrentLiveBalances", pool.address)
        symbols = self._ordered((sold, bought))
        balance_in, balance_out = (balances[symbols.index(symbol)] for symbol in (sold, bought))
        given = amount * SCALING[sold]
        net = given + -given * FEE // WAD
        if net < MIN_TRADE:
            return None
        out = int(balance_out) * net // (int(balance_in) + net)
        return out // SCALING[bought] if out >= MIN_TRADE else None

    def convert(self, share: str, function: str, amount: int) -> int | None:
        """Return what the Vault gives for a wrap or unwrap, None where it refuses."""
        if amount < MIN_WRAP:
            return None
        result = int(self.fixture.contracts[share].call(function, amount - 1)[0]) - 1
        return result if result >= MIN_WRAP else None

    def quote_boosted(self, sold: str, bought: str, wraps: bool, unwraps: bool, amount: int) -> int | None:
        shares = self.convert(sold, "previewDeposit", amount) if wraps else amount
        out = None if shares is None else self.quote(self.shares, sold, bought, shares)
        return out if out is None or not unwraps else self.convert(bought, "previewRedeem", out)


def _created_address(nonce: int) -> str:
    """Return the address of the contract that the deployer creates with a nonce."""
    number = nonce.to_bytes((nonce.bit_length() + 7) // 8)
    encoded = number if 0 < nonce < 128 else bytes((128 + len(number),)) + number
    body = bytes((128 + 20,)) + bytes.fromhex(DEPLOYER[2:]) + encoded
    return "0x" + keccak256(bytes((192 + len(body),)) + body).hex()[-40:]


@pytest.fixture(scope="module")
def vault() -> RealVault:
    chain = Chain(timestamp=1_790_000_000)
    return RealVault(VaultPools(chain))


def outcome(vault: RealVault, offer: Offer, amount: int, expected: int | None) -> str:
    """Execute a swap and return "exact" or "refused", as is to be expected."""
    fixture = vault.fixture
    with fixture.chain.revert_after():
        if not expected:
            with pytest.raises(RevertedError):
                carry_out(fixture, single_call(offer, amount))
            return "refused"
        assert carry_out(fixture, single_call(offer, amount)) == expected
        return "exact"


def test_swaps_of_a_plain_pool_are_exact(vault: RealVault) -> None:
    rng, outcomes = Random("plain"), Counter[str]()
    for (sold, bought), _ in product(permutations(("WBTC", "USDC")), range(ROUNDS)):
        amount = int(10 ** rng.uniform(1, 13))
        ends = vault.fixture.address(sold), vault.fixture.address(bought)
        offer = Offer(RouterPoolKind.BALANCER_V3, "", vault.plain.address, *ends, b"", int)
        outcomes[outcome(vault, offer, amount, vault.quote(vault.plain, sold, bought, amount))] += 1
    assert outcomes["exact"] > ROUNDS


def test_boosted_swaps_within_and_beyond_the_buffers_are_exact(vault: RealVault) -> None:
    rng, outcomes = Random("boosted"), Counter[str]()
    for (sold, bought), wraps, unwraps in product(permutations(SHARES), (True, False), (True, False)):
        ends = SHARES[sold] if wraps else sold, SHARES[bought] if unwraps else bought
        extra = b"".join(
            bytes.fromhex(vault.fixture.address(share)[2:]) if is_wrapped else bytes(20)
            for share, is_wrapped in ((sold, wraps), (bought, unwraps))
        )
        token_in, token_out = (vault.fixture.address(symbol) for symbol in ends)
        offer = Offer(RouterPoolKind.BALANCER_V3, "", vault.shares.address, token_in, token_out, extra, int)
        for _ in range(ROUNDS):
            amount = vault.fixture.dollars(ends[0], 1) // 1_000 * int(10 ** rng.uniform(0, 9))
            expected = vault.quote_boosted(sold, bought, wraps, unwraps, amount)
            outcomes[outcome(vault, offer, amount, expected)] += 1
    assert outcomes["exact"] > 6 * ROUNDS
    assert outcomes["refused"] > 0
