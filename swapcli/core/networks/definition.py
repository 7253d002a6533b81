"""Parse a network from a mapping: packaged definitions, network files and users' settings, all checked the same way.

`docs/network-keys.md` describes each key, with its form and an example.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from swapcli.core.model.network import (
    FIBROUS,
    MAX_PROTOCOL_ID,
    UNISWAP_GENERATIONS,
    UNIVERSAL_ROUTER,
    Deployment,
    DialectRouter,
    Kind,
    Network,
    ProtocolInfo,
    PublicNode,
    dialect_names,
    is_dialect,
)
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import MAX_FEE_PPM
from swapcli.core.model.token import MAX_TOKEN_DECIMALS, Token
from swapcli.core.model.transfer_behaviour import SHARES, TransferBehaviour
from swapcli.core.model.units import PPM
from swapcli.core.networks.definition_fields import DefinitionFields
from swapcli.core.validation.values import (
    MISSING,
    parse_choice,
    parse_integer,
    parse_list,
    parse_object,
    parse_printable,
)

ADDED_KEYS = (
    "tokens", "protocols", "deployments", "router", "multicall", "l1_fee_oracle", "rpc_urls", "explorer", "stablecoins",
    "gas_price_wei", "block_time_s", "head_is_proposed", "transfer_fees_ppm", "share_tokens", "router_dialect",
    "routers", "block_gas_limit", "gas_units_per_evm_gas", "quoters", "public_rpc_urls", "blocked_tokens",
    "revoke_first_tokens", "price_feeds", "hook_rules", "max_gas_price_wei", "aggregators", "l1_gas_oracle",
)  # fmt: skip
"""The keys that may be added to a network of the catalogue."""
FILE_KEYS = ("name", "chain_id", "kind", "sources", "unconfirmed", "facts_date")
"""The other keys of a network file that extends a network of the catalogue.

They describe the file, and the first three must match the network.
"""
NETWORK_KEYS = (
    *FILE_KEYS, "native", "wrapped_native", "has_v2", "unconfirmed_tokens", *ADDED_KEYS,
)  # fmt: skip

ROLES = (
    "factory", "factory_2", "pool_deployer", "pool_manager", "cl_pool_manager", "bin_pool_manager", "vault",
    "reserves_resolver", "dex_factory", "share_vault", "psm", "bridge", "core", "pool_implementation", "book_manager",
    "lens", "stex", "pool",
    "router", "swap_router", "swap_router02", "smart_router", "universal_router", "quoter", "quoter_v2", "tick_lens",
    "state_view", "position_manager", "positions", "twamm_extension", "multicall2", "gateway", "portal",
    "token_registry",
)  # fmt: skip
"""The roles of a deployment's contracts: first those used to find pools, then those for information only."""

TOKEN_KEYS = ("address", "symbol", "name", "decimals")
PROTOCOL_KEYS = (
    "id", "amm_name", "display_name", "family", "extra_keys", "confirmed", "contracts", "unsupported",
    "extended",
)  # fmt: skip
DEPLOYMENT_KEYS = (
    "protocols", "name", "addresses", "init_code_hash", "fee_tiers", "source", "unconfirmed", "hooks",
)  # fmt: skip
NODE_KEYS = (
    "url", "requests_per_s", "batch_requests", "log_blocks", "latest_only", "quote_requests", "source", "date",
)  # fmt: skip
ROUTER_KEYS = ("address", "registry", "spender", "version", "protocols")
_T = TypeVar("_T")
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")

_MAX_CHAIN_ID = 2**256 - 1  # a uint256
_MAX_GAS_PRICE_WEI = 2**128 - 1  # a bound against mistakes; chosen
_MIN_BLOCK_GAS, _MAX_BLOCK_GAS = 100_000, 2**63 - 1  # an approval must fit
_MAX_GAS_SCALE = 1_000_000  # a bound against mistakes; chosen
_MAX_TICK_SPACING = 32_767  # of Uniswap V4, an int16
_MAX_NODE_LIMIT = 1_000_000  # a bound against mistakes; chosen


def parse_network(mapping: object, where: str) -> Network:
    """Parse the description of a network. Raises `ConfigError`, which names the key below `where`."""
    fields = DefinitionFields.of_keys(mapping, where, NETWORK_KEYS)
    name = _read_name(fields)
    kind = parse_kind(fields)
    native = _read_native(fields, kind)
    tokens = _require_unique(_read_tokens(fields, kind), lambda token: token.address, fields, "tokens")
    protocols = _require_distinct_protocols(tuple(_read_protocols(fields)), fields)
    rpc_urls, own_nodes, public_nodes = _read_nodes(fields)
    return Network(
        name=name,
        kind=kind,
        chain_id=fields.whole("chain_id", 1, _MAX_CHAIN_ID),
        native=native,
        wrapped_native=_read_wrapped_native(fields, kind, native, tokens),
        tokens=tokens,
        protocols=protocols,
        deployments=tuple(_read_deployments(fields, kind, protocols)),
        router=fields.optional_address("router", kind),
        rpc_urls=rpc_urls,
        own_nodes=own_nodes,
        multicall=fields.optional_address("multicall", kind),
        l1_fee_oracle=fields.optional_address("l1_fee_oracle", kind),
        l1_gas_oracle=fields.optional_address("l1_gas_oracle", kind),
        explorer=fields.optional_web_url("explorer"),
        stablecoins=fields.addresses("stablecoins", kind),
        gas_price_wei=fields.whole("gas_price_wei", 0, _MAX_GAS_PRICE_WEI, default=0),
        max_gas_price_wei=fields.whole("max_gas_price_wei", 0, _MAX_GAS_PRICE_WEI, default=0),
        block_time_s=fields.optional_positive_number("block_time_s"),
        has_v2=fields.boolean("has_v2", default=kind.traits.has_v2),
        transfers=dict(_read_transfers(fields, kind)),
        head_is_proposed=fields.boolean("head_is_proposed", default=False),
        block_gas_limit=_parse_block_gas_limit(fields),
        gas_units_per_evm_gas=fields.whole("gas_units_per_evm_gas", 1, _MAX_GAS_SCALE, 1),
        router_dialect=_parse_dialect(fields) or FIBROUS,
        routers=dict(_parse_routers(fields, kind)),
        sources=dict(_read_sources(fields)),
        unconfirmed=fields.texts("unconfirmed"),
        facts_date=fields.text("facts_date", ""),
        quoters=tuple(fields.read_optional("quoters", parse_list) or ()),
        hook_rules=tuple(fields.read_optional("hook_rules", parse_list) or ()),
        public_nodes=_replaced_public_nodes(fields) or public_nodes,
        blocked_tokens=frozenset(fields.addresses("blocked_tokens", kind)),
        revoke_first_tokens=frozenset(fields.addresses("revoke_first_tokens", kind)),
        price_feeds=dict(_read_price_feeds(fields, kind)),
        aggregators=dict(_read_aggregators(fields)),
    )


def is_whole(mapping: object) -> bool:
    """Return whether a network file describes its network in full, rather than extending one in the catalogue."""
    return isinstance(mapping, Mapping) and mapping.get("native") is not None


def network_name_of(mapping: object, where: str) -> str:
    """Return the name of the network that a network file is for, in lower case. Raises `ConfigError`."""
    return _read_name(DefinitionFields(mapping, where))


def require_same_network(mapping: object, where: str, name: str, chain_id: int | None = None) -> None:
    """Raise `ConfigError` unless a network file is for the network called `name` and, if both are given, has its
    `chain_id`."""
    fields = DefinitionFields(mapping, where)
    if fields.text("name").lower() != name:
        fields.refuse(fields.path_of("name"), f'"{name}", the name of its file', fields.values["name"])
    if chain_id is not None and fields.has("chain_id"):
        found = fields.integer("chain_id", 1, _MAX_CHAIN_ID)
        if found != chain_id:
            fields.refuse(fields.path_of("chain_id"), f"{chain_id}, the chain id of {name}", found)


def extend_network(network: Network, mapping: object, where: str, *, is_file: bool = False) -> Network:
    """Return `network` extended by the keys of `mapping` (`ADDED_KEYS`).

    Tokens, protocols, deployments and stablecoins are added, replacing those with the same address or `amm_name`; RPC
    URLs go before the known ones; other values are replaced. `router` has the dialect `router_dialect`. Raises
    `ConfigError` in the same cases as `parse_network`. A network file may also have `FILE_KEYS`.
    """
    known_keys = (*FILE_KEYS, *ADDED_KEYS) if is_file else ADDED_KEYS
    fields = DefinitionFields.of_keys(mapping, where, known_keys)
    kind = network.kind
    routers = {**network.routers, **dict(_parse_routers(fields, kind))}
    network = network._replace(routers=routers).for_dialect(_parse_dialect(fields) or network.router_dialect)
    tokens = {token.address: token for token in (*network.tokens, *_read_tokens(fields, kind))}
    rpc_urls, own_nodes, public_nodes = _read_nodes(fields)
    by_name = {protocol.amm_name: protocol for protocol in (*network.protocols, *_read_protocols(fields))}
    protocols = _require_distinct_protocols(tuple(by_name.values()), fields)
    return network._replace(
        tokens=tuple(tokens.values()),
        protocols=protocols,
        deployments=(*network.deployments, *_read_deployments(fields, kind, protocols)),
        router=fields.optional_address("router", kind) or network.router,
        rpc_urls=_merge(rpc_urls, network.rpc_urls),
        own_nodes=_merge(own_nodes, network.own_nodes),
        multicall=fields.optional_address("multicall", kind) or network.multicall,
        l1_fee_oracle=fields.optional_address("l1_fee_oracle", kind) or network.l1_fee_oracle,
        l1_gas_oracle=fields.optional_address("l1_gas_oracle", kind) or network.l1_gas_oracle,
        explorer=fields.optional_web_url("explorer") or network.explorer,
        stablecoins=_merge(network.stablecoins, fields.addresses("stablecoins", kind)),
        gas_price_wei=fields.whole("gas_price_wei", 0, _MAX_GAS_PRICE_WEI, default=network.gas_price_wei),
        max_gas_price_wei=fields.whole("max_gas_price_wei", 0, _MAX_GAS_PRICE_WEI, default=network.max_gas_price_wei),
        block_time_s=fields.optional_positive_number("block_time_s") or network.block_time_s,
        transfers={**network.transfers, **dict(_read_transfers(fields, kind))},
        head_is_proposed=fields.boolean("head_is_proposed", default=network.head_is_proposed),
        block_gas_limit=_parse_block_gas_limit(fields) or network.block_gas_limit,
        gas_units_per_evm_gas=fields.whole("gas_units_per_evm_gas", 1, _MAX_GAS_SCALE, network.gas_units_per_evm_gas),
        quoters=(*(fields.read_optional("quoters", parse_list) or ()), *network.quoters),
        hook_rules=(*(fields.read_optional("hook_rules", parse_list) or ()), *network.hook_rules),
        public_nodes=_replaced_public_nodes(fields) or (*public_nodes, *network.public_nodes),
        blocked_tokens=network.blocked_tokens.union(fields.addresses("blocked_tokens", kind)),
        revoke_first_tokens=network.revoke_first_tokens.union(fields.addresses("revoke_first_tokens", kind)),
        price_feeds={**network.price_feeds, **dict(_read_price_feeds(fields, kind))},
        aggregators={**network.aggregators, **dict(_read_aggregators(fields))},
        sources={**network.sources, **dict(_read_sources(fields))},
        unconfirmed=(*network.unconfirmed, *fields.texts("unconfirmed")),
    )


def override_network(network: Network, fields: DefinitionFields) -> Network:
    """Return `network` with the chain ID, native token, router and protocols that a market file contains.

    If the file's router is null, its author did not know it, and the known one stays. A file's router has the API's
    dialect, so a router with another dialect stays as well. The file sets only the ID and display name of a protocol.
    `wrapped_native` is left to the caller, which has the file's tokens.
    """
    protocols, router = network.protocols, fields.optional_address("router", network.kind)
    if "protocols" in fields.values:
        fields.read("protocols", parse_list)  # raises for null, which `_read_protocols` treats as an empty list
        protocols = _require_distinct_protocols(
            tuple(_override_protocol(each, network) for each in _read_protocols(fields)), fields
        )
    return network._replace(
        chain_id=fields.integer("chain_id", 1, _MAX_CHAIN_ID) if "chain_id" in fields.values else network.chain_id,
        native=_read_native(fields, network.kind, network.native) if "native" in fields.values else network.native,
        router=(router if network.router_dialect == FIBROUS else None) or network.router,
        protocols=protocols,
    )


def _override_protocol(protocol: ProtocolInfo, network: Network) -> ProtocolInfo:
    known = network.protocol(protocol.amm_name) or ProtocolInfo(protocol.id, protocol.amm_name, protocol.display_name)
    return known._replace(id=protocol.id, display_name=protocol.display_name)


def _read_name(fields: DefinitionFields) -> str:
    name = fields.text("name").lower()
    if not _NAME.fullmatch(name):
        fields.refuse(fields.path_of("name"), "letters, digits, - and _", name)
    return name


def parse_kind(fields: DefinitionFields) -> Kind:
    return Kind(fields.read_optional("kind", parse_choice, tuple(Kind)) or Kind.EVM)


def _read_nodes(fields: DefinitionFields) -> tuple[tuple[str, ...], tuple[str, ...], tuple[PublicNode, ...]]:
    """Return the URLs of all nodes, of the user's own nodes, and of the public ones among them."""
    urls, own, public_nodes = [], [], []
    for where, item in fields.optional_items("rpc_urls"):
        if isinstance(item, str):
            own.append(fields.parse(where, item, parse_printable))
            urls.append(own[-1])
            continue
        node = DefinitionFields.of_keys(item, where, NODE_KEYS)
        public = PublicNode(
            url=node.text("url"),
            requests_per_s=node.optional_positive_number("requests_per_s"),
            batch_requests=_parse_node_limit(node, "batch_requests"),
            log_blocks=_parse_node_limit(node, "log_blocks"),
            is_latest_only=node.boolean("latest_only", default=False),
            quote_requests=_parse_node_limit(node, "quote_requests"),
            source=node.text("source", ""),
            date=node.text("date", ""),
        )
        urls.append(public.url)
        public_nodes.append(public)
    return tuple(urls), tuple(own), tuple(public_nodes)


def _parse_node_limit(node: DefinitionFields, key: str) -> int | None:
    return node.whole(key, 1, _MAX_NODE_LIMIT) if node.has(key) else None


def _replaced_public_nodes(fields: DefinitionFields) -> tuple[PublicNode, ...]:
    """Return the public nodes that replace those of the catalogue; their limits are unknown."""
    return tuple(PublicNode(url) for url in fields.texts("public_rpc_urls"))


def _read_native(fields: DefinitionFields, kind: Kind, known: Token | None = None) -> Token:
    """Parse the native token. If it is an ordinary token, it has its own address."""
    native = fields.of_keys(fields.values.get("native", MISSING), fields.path_of("native"), TOKEN_KEYS)
    return Token(
        address=_native_address(native, kind, known),
        symbol=native.text("symbol"),
        name=native.text("name"),
        decimals=native.whole("decimals", 0, MAX_TOKEN_DECIMALS),
    )


def _native_address(native: DefinitionFields, kind: Kind, known: Token | None) -> str:
    if not kind.traits.native_is_token:
        return ZERO_ADDRESS
    return known.address if known else native.address("address", kind)


def _read_wrapped_native(fields: DefinitionFields, kind: Kind, native: Token, tokens: Iterable[Token]) -> Token | None:
    if not fields.has("wrapped_native"):
        return None
    where = fields.path_of("wrapped_native")
    value = fields.values["wrapped_native"]
    if not isinstance(value, str):
        wrapped = _read_token(value, where, kind)
    else:
        address = fields.parse_address(where, value, kind)
        named_after = Token(address, f"W{native.symbol}", f"Wrapped {native.name}", native.decimals)
        wrapped = next((token for token in tokens if token.address == address), named_after)
    if wrapped.decimals != native.decimals:
        fields.refuse(where, f"{native.decimals} decimals like the native token", wrapped.decimals)
    return wrapped


def _read_tokens(fields: DefinitionFields, kind: Kind) -> Iterator[Token]:
    return (_read_token(item, where, kind) for where, item in fields.optional_items("tokens"))


def _read_token(value: object, where: str, kind: Kind) -> Token:
    token = DefinitionFields.of_keys(value, where, TOKEN_KEYS)
    return Token(
        address=token.address("address", kind),
        symbol=token.text("symbol"),
        name=token.text("name"),
        decimals=token.whole("decimals", 0, MAX_TOKEN_DECIMALS),
    )


def _read_protocols(fields: DefinitionFields) -> Iterator[ProtocolInfo]:
    for where, item in fields.optional_items("protocols"):
        protocol = fields.of_keys(item, where, PROTOCOL_KEYS)
        family, extra_keys, contracts = (
            protocol.optional_text("family"),
            protocol.texts("extra_keys"),
            protocol.texts("contracts"),
        )
        if not contracts and family == "concentrated" and "poolId" in extra_keys:
            # Definitions written before other contracts had pools with IDs do not name Uniswap V4.
            from swapcli.core.model.contract_kind import ContractKind

            contracts = (ContractKind.UNISWAP_V4,)
        yield ProtocolInfo(
            id=protocol.whole("id", 0, MAX_PROTOCOL_ID),
            amm_name=protocol.text("amm_name"),
            display_name=protocol.text("display_name"),
            family=family,
            extra_keys=extra_keys,
            confirmed=protocol.boolean("confirmed", default=False),
            contracts=contracts,
            unsupported=protocol.optional_text("unsupported"),
            is_extended=protocol.boolean("extended", default=False),
        )


def _require_distinct_protocols(
    protocols: tuple[ProtocolInfo, ...], fields: DefinitionFields
) -> tuple[ProtocolInfo, ...]:
    _require_unique(protocols, lambda protocol: protocol.amm_name, fields, "protocols")
    return _require_unique(protocols, lambda protocol: str(protocol.id), fields, "protocols")


def _read_deployments(fields: DefinitionFields, kind: Kind, protocols: Sequence[ProtocolInfo]) -> Iterator[Deployment]:
    """Yield the deployments of these protocols. Raises `ConfigError` for one of another protocol."""
    known = [protocol.amm_name for protocol in protocols]
    for where, item in fields.optional_items("deployments"):
        deployment = DefinitionFields.of_keys(item, where, DEPLOYMENT_KEYS)
        names = deployment.texts("protocols")
        for index, name in enumerate(names):
            if name not in known:
                raise deployment.unknown(f"{where}.protocols[{index}]", "protocol", name, known)
        yield Deployment(
            protocols=names,
            name=deployment.text("name"),
            addresses=dict(_read_addresses(deployment, kind)),
            init_code_hash=deployment.optional_hash("init_code_hash"),
            fee_tiers=dict(_read_fee_tiers(deployment)),
            source=deployment.text("source", ""),
            unconfirmed=deployment.texts("unconfirmed"),
            hooks=_read_hooks(deployment, kind),
        )


def _read_addresses(deployment: DefinitionFields, kind: Kind) -> Iterator[tuple[str, str]]:
    for role, path, value in deployment.members("addresses"):
        if role not in ROLES:
            raise deployment.unknown(path, "role", role, ROLES)
        yield role, deployment.parse_address(path, value, kind)


def _read_hooks(deployment: DefinitionFields, kind: Kind) -> dict[str, tuple[str, ...]]:
    if not deployment.has("hooks"):
        return {}
    by_protocol = deployment.of_keys(
        deployment.values["hooks"], deployment.path_of("hooks"), deployment.texts("protocols")
    )
    return {str(amm_name): by_protocol.addresses(str(amm_name), kind) for amm_name in by_protocol.values}


def _read_fee_tiers(deployment: DefinitionFields) -> Iterator[tuple[int, int]]:
    seen = set()
    for fee_text, path, spacing in deployment.members("fee_tiers"):
        fee_ppm = deployment.parse(path, fee_text, parse_integer, 0, MAX_FEE_PPM)
        if fee_ppm in seen:
            raise deployment.failure(path, f"the fee tier {fee_ppm} is listed twice")
        seen.add(fee_ppm)
        yield fee_ppm, deployment.parse(path, spacing, parse_integer, 0, _MAX_TICK_SPACING)


def _parse_block_gas_limit(fields: DefinitionFields) -> int | None:
    if not fields.has("block_gas_limit"):
        return None
    return fields.whole("block_gas_limit", _MIN_BLOCK_GAS, _MAX_BLOCK_GAS)


def _parse_dialect(fields: DefinitionFields) -> str | None:
    """Parse the name of a dialect; None if absent."""
    return fields.read_optional("router_dialect", _parse_dialect_name)


def _parse_dialect_name(value: object) -> str:
    return value if isinstance(value, str) and is_dialect(value) else parse_choice(value, dialect_names())


def _parse_routers(fields: DefinitionFields, kind: Kind) -> Iterator[tuple[str, DialectRouter]]:
    for dialect, path, value in fields.members("routers"):
        router = fields.of_keys(value, path, ROUTER_KEYS)
        yield (
            fields.parse(path, dialect, _parse_dialect_name),
            DialectRouter(
                address=router.optional_address("address", kind),
                registry=router.optional_address("registry", kind),
                spender=router.optional_address("spender", kind),
                version=router.optional_text("version"),
                protocols=dict(_read_router_names(router, dialect)),
            ),
        )


def _read_router_names(router: DefinitionFields, dialect: str) -> Iterator[tuple[str, str]]:
    """Yield protocols with their names in a router; for the Universal Router, these are Uniswap generations."""
    for amm_name, place, name in router.members("protocols"):
        if dialect == UNIVERSAL_ROUTER:
            yield amm_name, router.parse(place, name, parse_choice, UNISWAP_GENERATIONS)
        else:
            yield amm_name, router.parse(place, name, parse_printable)


def _read_transfers(fields: DefinitionFields, kind: Kind) -> Iterator[tuple[str, TransferBehaviour]]:
    for address in fields.addresses("share_tokens", kind):
        yield address, SHARES
    for name, path, value in fields.members("transfer_fees_ppm"):
        fee_ppm = fields.parse(path, value, parse_integer, 0, PPM)
        yield fields.parse_address(path, name, kind), TransferBehaviour.with_fee(fee_ppm)


def _read_price_feeds(fields: DefinitionFields, kind: Kind) -> Iterator[tuple[str, str]]:
    for name, path, value in fields.members("price_feeds"):
        yield fields.parse_address(path, name, kind), fields.parse_address(path, value, kind)


def _read_sources(fields: DefinitionFields) -> Iterator[tuple[str, str]]:
    return ((key, fields.parse(path, value, parse_printable)) for key, path, value in fields.members("sources"))


def _read_aggregators(fields: DefinitionFields) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Yield adapter definitions by name; their readers check the content."""
    return ((name, fields.parse(path, value, parse_object)) for name, path, value in fields.members("aggregators"))


def _merge(first: tuple[str, ...], then: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(first + then))


def _require_unique(
    members: Iterable[_T], key: Callable[[_T], str], fields: DefinitionFields, field: str
) -> tuple[_T, ...]:
    seen: dict[str, _T] = {}
    for member in members:
        if seen.setdefault(key(member), member) is not member:
            raise fields.failure(fields.path_of(field), f"{key(member)} is listed twice")
    return tuple(seen.values())
