"""Reject recipients at which the output would be lost: contracts without a withdrawal function, and addresses without a
key."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from swapcli.core.errors import UnsafeRecipient
from swapcli.core.model.finding import Finding, FindingCode
from swapcli.core.model.network import Network
from swapcli.core.networks.address import display_address, is_foreign_account
from swapcli.core.networks.permit2 import PERMIT2

POOL: Final = "a pool of the market"
"""The description of a pool's contract."""
BURN_ADDRESS: Final = "0x" + "dead".zfill(40)
"""The address to which tokens are sent on purpose to take them out of circulation; no key for it is known."""

_MIN_ETHEREUM_ADDRESS: Final = 1 << 64
"""Smaller numbers are placeholders: no key is known for an address that begins with twelve zero bytes."""
_MULTICALL3: Final = "0xca11bde05977b3631167028862be2a173976ca11"
"""Its address on nearly every EVM network; anyone can take its balance."""
_PREDEPLOYS: Final = range(0x42 << 152, (0x42 << 152) + (1 << 11))
"""The 2,048 system contracts of an OP-stack network (its specification, "Predeploys")."""
_HYPEREVM_CHAIN_ID: Final = 999  # the chain whose HyperCore has system addresses
_HYPERCORE_TOKENS: Final = range(0x20 << 152, (0x20 << 152) + (1 << 64))
_HYPERCORE_NATIVE: Final = 0x22 * ((1 << 160) - 1) // 0xFF
"""The system addresses that move tokens and HYPE to HyperCore, where the sender of the transfer, the router, is
credited (Hyperliquid's documentation, "HyperCore <> HyperEVM transfers")."""


def describe_contract(address: str, network: Network) -> str | None:
    """Describe the contract at an address if it is known without the network's market, otherwise return None.

    On Starknet this includes every Ethereum address, which no account there can have.
    """
    tokens = (*network.tokens, *([network.wrapped_native] if network.wrapped_native else []))
    if symbol := next((token.symbol for token in tokens if token.address == address), None):
        return describe_token(symbol)
    if address == network.router:
        return "the router"
    for dialect, router in network.routers.items():
        if address in (router.address, router.registry, router.spender):
            return f"a contract of the router {dialect}"
    if address in (network.multicall, _MULTICALL3):
        return "the multicall contract"
    if address == PERMIT2:
        return "Permit2"
    for deployment in network.deployments:
        if address in (
            *deployment.addresses.values(),
            *(hook for hooks in deployment.hooks.values() for hook in hooks),
        ):
            return f"a contract of {deployment.name}"
    if int(address, 16) >= _MIN_ETHEREUM_ADDRESS and is_foreign_account(address, network.kind):
        return "an Ethereum address"
    is_oracle = address in (network.l1_fee_oracle, network.l1_gas_oracle)
    is_system = is_oracle or _is_system_address(int(address, 16), network)
    return "a precompile or a system contract" if is_system else None


def describe_token(symbol: str) -> str:
    """Return the description of a token's contract."""
    return f"the contract of the token {symbol}"


def check_recipient(
    recipient: str, contract: str | None, network: Network, allowed: Collection[str] = (), option: str = ""
) -> None:
    """Raise `UnsafeRecipient` for a contract in which the output would be lost, unless it is in `allowed`.

    `contract` describes the market's contract at the address, None if there is none. Addresses are canonical. The
    caller can allow a recipient by its `option`.
    """
    found = contract or describe_contract(recipient, network)
    if found is None or recipient in allowed:
        return
    shown = display_address(recipient, network.kind)
    raise UnsafeRecipient(
        describe_loss(shown, found),
        hint="give your wallet's address" + (f", or allow this one with {option}" if option else ""),
        details={"field": "destination", "recipient": shown, "contract": found},
    )


def describe_loss(shown: str, contract: str) -> str:
    """Return the sentence about a recipient at which the output would be lost, given its displayed address and its
    contract."""
    return f"the recipient {shown} is {contract}: the output would be lost"


def recipient_warnings(recipient: str | None) -> Iterator[Finding]:
    """Yield a warning if the recipient of a swap is known to have no key."""
    if recipient == BURN_ADDRESS:
        shown = "0x" + "dEaD".zfill(40)
        message = f"the recipient {shown} has no key: the output would be burned"
        yield FindingCode.RECIPIENT_BURNS.finding(message)


def _is_system_address(number: int, network: Network) -> bool:
    if number < network.kind.traits.system_addresses:
        return number != int(BURN_ADDRESS, 16)
    is_hypercore = number in _HYPERCORE_TOKENS or number == _HYPERCORE_NATIVE
    return number in _PREDEPLOYS or (is_hypercore and network.chain_id == _HYPEREVM_CHAIN_ID)
