"""A network given as a mapping: the packaged definitions and those of a user's configuration, checked the same way.

| key | meaning |
|---|---|
| `name`, `kind`, `chain_id` | lower-case name; `evm` (default) or `starknet`; number or decimal text |
| `is_native` | `{symbol, name, decimals}`; on Starknet also its `address` |
| `wrapped_native` | the native token's ERC-20: an address (described in `tokens`, else named after the native token), a token, or null |
| `tokens` | `[{address, symbol, name, decimals}]` |
| `unconfirmed_tokens` | `[{address, symbol, ..., reason}]`: known of, but not safe to use; not read |
| `protocols` | `[{id, amm_name, display_name, family, extra_keys, confirmed}]` |
| `deployments` | `[{protocols, name, addresses: {role: address}, init_code_hash, fee_tiers: {fee_ppm: tick spacing, 0 where there is none}, source, unconfirmed}]` |
| `router`, `multicall`, `rpc_urls`, `explorer` | as named; absent or null where unknown |
| `l1_fee_oracle` | the `GasPriceOracle` of an OP-stack network; null where no fee for data on L1 is charged |
| `stablecoins` | addresses of the tokens that are worth one dollar |
| `gas_price_wei`, `block_time_s`, `has_v2` | defaults 0, null, true |
| `transfer_fees_ppm` | `{address: fee_ppm}`: tokens that take a fee of every transfer; 0 says that one does not |
| `share_tokens` | addresses of tokens that keep shares, as stETH: a transfer can lose up to two units |
| `head_is_proposed` | true where the newest block of a node may still be replaced by another proposal; default false |
| `sources`, `unconfirmed` | where facts come from (a quoted key spells out a short name that other sources use); facts to check before use |
"""  # noqa: E501 - a table cannot be wrapped

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TypeVar

from swapcli.errors import ConfigError
from swapcli.model.network import Deployment, Kind, Network, ProtocolInfo
from swapcli.model.order import ZERO_ADDRESS
from swapcli.model.token import Token
from swapcli.model.transfer_behaviour import PPM, SHARES, TransferBehaviour
from swapcli.networks.section import Section, as_address, as_text, as_whole, refuse

NETWORK_KEYS = (
    "name", "kind", "chain_id", "native", "wrapped_native", "tokens", "unconfirmed_tokens", "protocols", "deployments",
    "router", "multicall", "l1_fee_oracle", "rpc_urls", "explorer", "stablecoins", "gas_price_wei", "block_time_s",
    "has_v2", "head_is_proposed", "transfer_fees_ppm", "share_tokens", "sources", "unconfirmed",
)  # fmt: skip
ADDED_KEYS = (
    "tokens", "protocols", "deployments", "router", "multicall", "l1_fee_oracle", "rpc_urls", "explorer", "stablecoins",
    "gas_price_wei", "block_time_s", "head_is_proposed", "transfer_fees_ppm", "share_tokens",
)  # fmt: skip
"""What may be given for a network that is known already."""

_TOKEN_KEYS = ("address", "symbol", "name", "decimals")
_PROTOCOL_KEYS = ("id", "amm_name", "display_name", "family", "extra_keys", "confirmed")
_DEPLOYMENT_KEYS = (
    "protocols", "name", "addresses", "init_code_hash", "fee_tiers", "source", "unconfirmed",
)  # fmt: skip
_T = TypeVar("_T")
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")

_MAX_CHAIN_ID = 2**256 - 1
_MAX_DECIMALS = 77  # 10**77 is the greatest power of ten below 2^256
_MAX_PROTOCOL_ID = 2**23 - 1  # int24 in the router's ABI
_MAX_GAS_PRICE_WEI = 2**128 - 1
_MAX_FEE_PPM = 999_999
_MAX_TICK_SPACING = 32_767


def parse_network(mapping: object, where: str) -> Network:
    """The network that `mapping` describes. Raises `ConfigError` naming the key, below `where`, and what it expects."""
    section = Section(mapping, where, NETWORK_KEYS)
    name = section.text("name").lower()
    if not _NAME.fullmatch(name):
        refuse(section.path("name"), "letters, digits, - and _", name)
    kind = _kind(section)
    native = _native(section, kind)
    tokens = _unique(_tokens(section, kind), lambda token: token.address, section.path("tokens"))
    return Network(
        name=name,
        kind=kind,
        chain_id=section.whole("chain_id", 1, _MAX_CHAIN_ID),
        native=native,
        wrapped_native=_wrapped_native(section, kind, native, tokens),
        tokens=tokens,
        protocols=_distinct_protocols(tuple(_protocols(section)), section.path("protocols")),
        deployments=tuple(_deployments(section, kind)),
        router=section.address_or_none("router", kind),
        rpc_urls=section.texts("rpc_urls"),
        multicall=section.address_or_none("multicall", kind),
        l1_fee_oracle=section.address_or_none("l1_fee_oracle", kind),
        explorer=section.text("explorer") if section.given("explorer") else None,
        stablecoins=_addresses(section, "stablecoins", kind),
        gas_price_wei=section.whole("gas_price_wei", 0, _MAX_GAS_PRICE_WEI, default=0),
        block_time_s=section.number_or_none("block_time_s"),
        has_v2=section.flag("has_v2", default=kind is Kind.EVM),
        transfers=dict(_transfers(section, kind)),
        head_is_proposed=section.flag("head_is_proposed", default=False),
        sources={key: as_text(value, path) for key, value, path in section.entries("sources")},
        unconfirmed=section.texts("unconfirmed"),
    )


def extend_network(network: Network, mapping: object, where: str) -> Network:
    """`network` with what `mapping` gives for it (`ADDED_KEYS`).

    Tokens, protocols, deployments and stablecoins are added, replacing those with the same address or `amm_name`; RPC
    addresses go before the known ones; the rest is replaced. Raises `ConfigError` as `parse_network` does.
    """
    section = Section(mapping, where, ADDED_KEYS)
    kind = network.kind
    tokens = {token.address: token for token in (*network.tokens, *_tokens(section, kind))}
    protocols = {protocol.amm_name: protocol for protocol in (*network.protocols, *_protocols(section))}
    return replace(
        network,
        tokens=tuple(tokens.values()),
        protocols=_distinct_protocols(tuple(protocols.values()), section.path("protocols")),
        deployments=(*network.deployments, *_deployments(section, kind)),
        router=section.address_or_none("router", kind) or network.router,
        rpc_urls=_merged(section.texts("rpc_urls"), network.rpc_urls),
        multicall=section.address_or_none("multicall", kind) or network.multicall,
        l1_fee_oracle=section.address_or_none("l1_fee_oracle", kind) or network.l1_fee_oracle,
        explorer=section.text("explorer", network.explorer or "") or None,
        stablecoins=_merged(network.stablecoins, _addresses(section, "stablecoins", kind)),
        gas_price_wei=section.whole("gas_price_wei", 0, _MAX_GAS_PRICE_WEI, default=network.gas_price_wei),
        block_time_s=section.number_or_none("block_time_s") or network.block_time_s,
        transfers={**network.transfers, **dict(_transfers(section, kind))},
        head_is_proposed=section.flag("head_is_proposed", default=network.head_is_proposed),
    )


def _kind(section: Section) -> Kind:
    text = section.text("kind", Kind.EVM.value)
    if text not in tuple(Kind):
        refuse(section.path("kind"), " or ".join(Kind), text)
    return Kind(text)


def _native(section: Section, kind: Kind) -> Token:
    """The native token. Only Starknet's lives at an address of its own."""
    where = section.path("native")
    native = Section(section.value("native", "a token"), where, _TOKEN_KEYS)
    return Token(
        address=ZERO_ADDRESS if kind is Kind.EVM else native.address("address", kind),
        symbol=native.text("symbol"),
        name=native.text("name"),
        decimals=native.whole("decimals", 0, _MAX_DECIMALS),
    )


def _wrapped_native(section: Section, kind: Kind, native: Token, tokens: Iterable[Token]) -> Token | None:
    if not section.given("wrapped_native"):
        return None
    where = section.path("wrapped_native")
    value = section.value("wrapped_native", "an address or a token")
    if not isinstance(value, str):
        wrapped = _token(value, where, kind)
    else:
        address = as_address(value, where, kind)
        named_after = Token(address, f"W{native.symbol}", f"Wrapped {native.name}", native.decimals)
        wrapped = next((token for token in tokens if token.address == address), named_after)
    if wrapped.decimals != native.decimals:
        refuse(where, f"{native.decimals} decimals like the native token", wrapped.decimals)
    return wrapped


def _tokens(section: Section, kind: Kind) -> Iterator[Token]:
    return (_token(item, where, kind) for item, where in section.items("tokens"))


def _token(value: object, where: str, kind: Kind) -> Token:
    token = Section(value, where, _TOKEN_KEYS)
    return Token(
        address=token.address("address", kind),
        symbol=token.text("symbol"),
        name=token.text("name"),
        decimals=token.whole("decimals", 0, _MAX_DECIMALS),
    )


def _protocols(section: Section) -> Iterator[ProtocolInfo]:
    for item, where in section.items("protocols"):
        protocol = Section(item, where, _PROTOCOL_KEYS)
        yield ProtocolInfo(
            id=protocol.whole("id", 0, _MAX_PROTOCOL_ID),
            amm_name=protocol.text("amm_name"),
            display_name=protocol.text("display_name"),
            family=protocol.text("family") if protocol.given("family") else None,
            extra_keys=protocol.texts("extra_keys"),
            confirmed=protocol.flag("confirmed", default=False),
        )


def _distinct_protocols(protocols: tuple[ProtocolInfo, ...], where: str) -> tuple[ProtocolInfo, ...]:
    _unique(protocols, lambda protocol: protocol.amm_name, where)
    return _unique(protocols, lambda protocol: str(protocol.id), where)


def _deployments(section: Section, kind: Kind) -> Iterator[Deployment]:
    for item, where in section.items("deployments"):
        deployment = Section(item, where, _DEPLOYMENT_KEYS)
        yield Deployment(
            protocols=deployment.texts("protocols"),
            name=deployment.text("name"),
            addresses={role: as_address(value, path, kind) for role, value, path in deployment.entries("addresses")},
            init_code_hash=deployment.hash_or_none("init_code_hash"),
            fee_tiers=dict(_fee_tiers(deployment)),
            source=deployment.text("source", ""),
            unconfirmed=deployment.texts("unconfirmed"),
        )


def _fee_tiers(deployment: Section) -> Iterator[tuple[int, int]]:
    for fee, spacing, path in deployment.entries("fee_tiers"):
        yield as_whole(fee, path, 0, _MAX_FEE_PPM), as_whole(spacing, path, 0, _MAX_TICK_SPACING)


def _transfers(section: Section, kind: Kind) -> Iterator[tuple[str, TransferBehaviour]]:
    for address in _addresses(section, "share_tokens", kind):
        yield address, SHARES
    for name, fee_ppm, path in section.entries("transfer_fees_ppm"):
        yield as_address(name, path, kind), TransferBehaviour.with_fee(as_whole(fee_ppm, path, 0, PPM))


def _addresses(section: Section, key: str, kind: Kind) -> tuple[str, ...]:
    return tuple(as_address(item, where, kind) for item, where in section.items(key))


def _merged(first: tuple[str, ...], then: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(first + then))


def _unique(members: Iterable[_T], key: Callable[[_T], str], where: str) -> tuple[_T, ...]:
    seen: dict[str, _T] = {}
    for member in members:
        if seen.setdefault(key(member), member) is not member:
            raise ConfigError(f"{where}: {key(member)} is listed twice", details={"key": where})
    return tuple(seen.values())
