"""A supported network: IDs, tokens, protocols and addresses. Pure data; adding a network requires no code."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from swapcli.core.annotations import Final
from swapcli.core.model.order import ZERO_ADDRESS, Order
from swapcli.core.model.router_variant import DEFAULT_VARIANT, RouterVariant
from swapcli.core.model.token import Token
from swapcli.core.model.transfer_behaviour import TransferBehaviour
from swapcli.core.plugins import DIALECT_GROUP, is_plugin, plugins
from swapcli.core.records import NamedTuple


class NetworkTraits(NamedTuple):
    """How a kind of network differs from others: everything that the pure code needs to know about the kind.

    `address_noun` is the word for an address; with `has_checksums`, its letters encode a checksum. The native token is
    an ordinary token with its own address if `native_is_token`, otherwise it has the zero address. With `has_felts`,
    calls are lists of field elements, otherwise bytes. `token_page` and `contract_page` are paths in explorers.
    Addresses with a number below `system_addresses` belong to the network itself, and no account has an address below
    `lowest_account`. `has_v2` shows whether the second API version exists by default. With `has_eth_nodes`, nodes
    support Ethereum's JSON-RPC and can simulate unsent transactions, which every check and simulation needs.
    """

    address_noun: str
    has_checksums: bool
    native_is_token: bool
    has_felts: bool
    token_page: str
    contract_page: str
    system_addresses: int
    lowest_account: int
    has_v2: bool
    has_eth_nodes: bool


class Kind(StrEnum):
    """The kind of a network, which determines its addresses, payloads and nodes.

    `traits` has the kind's plain facts. Differences that need code or longer texts are in one table per layer:
    `core.networks.address`, `interface.interface_by_network`, `payload.dialects` and `state.rpc.nodes_by_kind`.
    """

    EVM = "evm"
    STARKNET = "starknet"

    @property
    def traits(self) -> NetworkTraits:
        """How networks of this kind differ from others."""
        return _TRAITS[self]


_TRAITS: Final = {
    Kind.EVM: NetworkTraits(
        address_noun="an EVM address",
        has_checksums=True,
        native_is_token=False,
        has_felts=False,
        token_page="token",
        contract_page="address",
        # Precompiles and system contracts: from 1 on Ethereum, 0x100 by RIP-7212, 0x800 on HyperEVM, 0x1000 on Monad,
        # 0x8000 on zkSync. Routers also read small numbers as commands, such as 1 for the sender.
        system_addresses=1 << 16,
        lowest_account=0,
        has_v2=True,
        has_eth_nodes=True,
    ),
    Kind.STARKNET: NetworkTraits(
        address_noun="a Starknet address",
        has_checksums=False,
        native_is_token=True,
        has_felts=True,
        token_page="contract",
        contract_page="contract",
        # The operating system keeps the hashes of blocks at address 1, and compressed addresses at 2.
        system_addresses=3,
        # Addresses are hashes of 251 bits, so a smaller number is an Ethereum address (160 bits).
        lowest_account=1 << 160,
        has_v2=False,
        has_eth_nodes=False,
    ),
}

DEFAULT_BLOCK_TIME_S: Final = 2.0  # the default until a network's own lifetime is known
_BOOK_ROLE: Final = "token_registry"
MAX_PROTOCOL_ID: Final = 2**23 - 1
"""The largest protocol ID: IDs are int24 in the ABI of the Fibrous API's router."""
WRAPPER_FAMILY: Final = "wrapper"
"""The pool family of the contract that wraps the native token."""


class ProtocolInfo(NamedTuple):
    """A DEX brand on a network.

    `family` is a pool family of swapcli, None if the brand's pools cannot be quoted; `unsupported` then gives the
    reason, as a sentence. `extra_keys` are the fields of `extraData` in the API for its pools, in order (`("fee",)`,
    `("tickSpacing",)`, ...). `contracts` are the contract kinds of its pools, if the family does not determine them.
    `is_extended` means that the Fibrous API does not list it: its ID comes from this project and appears only in
    responses to requests for extended protocols.
    """

    id: int
    amm_name: str
    display_name: str
    family: str | None = None
    extra_keys: tuple[str, ...] = ()
    confirmed: bool = False
    contracts: tuple[str, ...] = ()
    unsupported: str | None = None
    is_extended: bool = False

    @property
    def tier_key(self) -> str:
        """The field of a pool's extra data that distinguishes pools of the same tokens in a factory."""
        return "tickSpacing" if "tickSpacing" in self.extra_keys else "fee"

    @property
    def is_wrapper(self) -> bool:
        """Whether the protocol only wraps the native token and is not an exchange."""
        return self.family == WRAPPER_FAMILY


WRAPPER_PROTOCOL: Final = ProtocolInfo(0, "wrapper", "Wrapper", family=WRAPPER_FAMILY)
"""The protocol of that contract, as the Fibrous API lists it."""


class Deployment(NamedTuple):
    """The contracts of a protocol: `addresses` by role (factory, router, quoter_v2, pool_manager, ...).

    `hooks` are the Uniswap V4 hooks whose pools belong to one of the protocols, by `amm_name`; pools with all other
    hooks belong to the protocol without an entry. `source` gives the origin of the facts; `unconfirmed` names the
    fields that have only one weak source.
    """

    protocols: tuple[str, ...]
    name: str
    addresses: dict[str, str]
    init_code_hash: str | None = None
    fee_tiers: Mapping[int, int] = MappingProxyType({})
    source: str = ""
    unconfirmed: tuple[str, ...] = ()
    hooks: Mapping[str, tuple[str, ...]] = MappingProxyType({})


FIBROUS, OWN, UNIVERSAL_ROUTER, SETTLER = DIALECTS = ("fibrous", "own", "universal-router", "settler")
"""The router dialects: the public router, which the Fibrous API describes; this project's router contract, which has
the same interface; Uniswap's Universal Router; and 0x Settler. Installed packages may add others."""


def is_dialect(name: str) -> bool:
    """Return whether a dialect is built in, or an installed package names it.

    A dialect in a skipped package counts, but using it raises an error with the reason.
    """
    return name in DIALECTS or is_plugin(DIALECT_GROUP, name)


def dialect_names() -> tuple[str, ...]:
    """Return the names of all dialects, with the dialects of installed packages last."""
    return (*DIALECTS, *plugins(DIALECT_GROUP))


def dialect_package(name: str) -> str | None:
    """Return the package that provides a dialect, with its version; None if the dialect is built in or unknown."""
    plugin = None if name in DIALECTS else plugins(DIALECT_GROUP).get(name)
    return plugin.origin if plugin else None


def encoding_package(network: Network, to: str) -> str | None:
    """Return the package, with its version, that encodes calls of a contract for a network's router.

    None if swapcli encodes them, as it always does for direct calls of the wrapped native token.
    """
    return None if to == network.wrapped_native_address else dialect_package(network.router_dialect)


UNISWAP_GENERATIONS = ("v2", "v3", "v4")
"""The Universal Router's names for pools: Uniswap's, and V4 hooks that are pools themselves."""
INTERFACE_DIALECTS = (FIBROUS, OWN)
"""The dialects of the routers whose calls the Fibrous API describes."""
AUTO: Final = "auto"
"""The setting with which quotes on a node's state choose the dialect."""


class DialectRouter(NamedTuple):
    """The router of one dialect on a network: its address, or the registry contract that names it.

    `is_paused` means that the registry currently names no router, so the dialect cannot swap. `spender` is the contract
    that takes the sender's tokens, None if that is the router. `version` distinguishes the encodings of different
    releases. `protocols` maps the `amm_name` of each protocol that the router executes to the router's own name for it;
    empty if the router executes every protocol.
    """

    address: str | None = None
    registry: str | None = None
    spender: str | None = None
    version: str | None = None
    protocols: Mapping[str, str] = MappingProxyType({})
    is_paused: bool = False


class PublicNode(NamedTuple):
    """A node that needs no key, and the limits that its operator documents. A limit is None if there is none.

    `batch_requests` are requests in a batch, `log_blocks` the blocks of one query for events. A node with
    `is_latest_only` answers calls from its latest block, ignoring the requested one. `quote_requests` limits the HTTP
    requests of one quote. `source` is where the limits are documented, `date` when they were read there.
    """

    url: str
    requests_per_s: float | None = None
    batch_requests: int | None = None
    log_blocks: int | None = None
    is_latest_only: bool = False
    quote_requests: int | None = None
    source: str = ""
    date: str = ""


class Network(NamedTuple):
    """A network and everything known about it.

    `native` is the gas token with the zero address; `wrapped_native` is its ERC-20, None if the network has none.
    `stablecoins` are the addresses of tokens pegged to one US dollar. `gas_price_wei` is the default if neither a node
    nor the market has a gas price; `max_gas_price_wei` is an upper bound of the gas price on a busy network, 0 if
    unknown. `l1_fee_oracle` is the contract that prices data on L1 (`GasPriceOracle` of an OP-stack network),
    `l1_gas_oracle` the one that returns how much gas is charged for it (`NodeInterface` of an Arbitrum network); both
    are None without such a fee. `transfers` has, by address, the tokens whose transfers the user's settings describe;
    settings override probes. `blocked_tokens` are the addresses of tokens that no route trades, and
    `revoke_first_tokens` are the addresses of tokens that reject a change of a nonzero allowance. `price_feeds` are
    Chainlink-style contracts that return the USD price of a token, by its address. `head_is_proposed` means that nodes
    report a block as the latest before the network has agreed on it. `block_gas_limit` is the maximum gas of a
    transaction, None if routes never come near it. `gas_units_per_evm_gas` is the number of units that the network
    charges for one unit in an EVM. `router` is the address of the router that payloads are built for, with the dialect
    `router_dialect`; `routers` has the known facts about each dialect's router. With `chooses_router`, quotes on a
    node's state choose the dialect by trust, and all other quotes use `router`. `router_variant` determines how
    payloads for the public router are written where the interface is ambiguous. Simulations have confirmed it while the
    router's code had the hash `router_code_hash`, None if they have not. `router_has_deadlines` shows whether this
    project's router at `router` has `swapBefore`, None if its code was not read. `rpc_urls` are all known nodes, the
    user's first; `own_nodes` are the user's, and `public_nodes` need no key. `unconfirmed` names facts to check before
    use. `quoters` describe the quote functions of protocols; `core.networks.quoter_definitions` parses them for live
    quotes. `hook_rules` describe the effects of Uniswap V4 hooks; `core.networks.hook_rules` parses them to read their
    pools. `facts_date` is the day on which the facts were last compared with their sources, empty if unknown.
    `aggregators` are definitions of adapters by name, which `quoting.aggregators` parses.
    """

    name: str
    kind: Kind
    chain_id: int
    native: Token
    wrapped_native: Token | None
    tokens: tuple[Token, ...]
    protocols: tuple[ProtocolInfo, ...]
    deployments: tuple[Deployment, ...] = ()
    router: str | None = None
    rpc_urls: tuple[str, ...] = ()
    multicall: str | None = None
    l1_fee_oracle: str | None = None
    l1_gas_oracle: str | None = None
    explorer: str | None = None
    stablecoins: tuple[str, ...] = ()
    gas_price_wei: int = 0
    max_gas_price_wei: int = 0
    block_time_s: float | None = None
    has_v2: bool = True
    transfers: Mapping[str, TransferBehaviour] = MappingProxyType({})
    head_is_proposed: bool = False
    block_gas_limit: int | None = None
    gas_units_per_evm_gas: int = 1
    router_dialect: str = FIBROUS
    chooses_router: bool = False
    routers: Mapping[str, DialectRouter] = MappingProxyType({})
    router_variant: RouterVariant = DEFAULT_VARIANT
    router_code_hash: str | None = None
    router_has_deadlines: bool | None = None
    sources: Mapping[str, str] = MappingProxyType({})
    unconfirmed: tuple[str, ...] = ()
    quoters: tuple[object, ...] = ()
    hook_rules: tuple[object, ...] = ()
    public_nodes: tuple[PublicNode, ...] = ()
    own_nodes: tuple[str, ...] = ()
    blocked_tokens: frozenset[str] = frozenset()
    revoke_first_tokens: frozenset[str] = frozenset()
    price_feeds: Mapping[str, str] = MappingProxyType({})
    facts_date: str = ""
    aggregators: Mapping[str, Mapping[str, object]] = MappingProxyType({})

    def protocol(self, amm_name: str) -> ProtocolInfo | None:
        """Return the protocol called `amm_name`; None if the network does not have it."""
        return next((p for p in self.protocols if p.amm_name == amm_name), None)

    @property
    def extended_protocols(self) -> frozenset[str]:
        """The `amm_name`s of the protocols that the Fibrous API does not list."""
        return frozenset([protocol.amm_name for protocol in self.protocols if protocol.is_extended])

    @property
    def dialect_router(self) -> DialectRouter:
        """The known facts about the router for which payloads are built."""
        return self.routers.get(self.router_dialect, DialectRouter())._replace(address=self.router)

    @property
    def book_registry(self) -> str | None:
        """The contract that lists the tokens of order books outside the EVM, such as HyperCore's; None if there is
        none."""
        return next((each.addresses[_BOOK_ROLE] for each in self.deployments if _BOOK_ROLE in each.addresses), None)

    @property
    def router_registry(self) -> str | None:
        """The registry that lists the router; None if the router's address is known or there is no registry."""
        return None if self.router else self.dialect_router.registry

    @property
    def read_registry(self) -> str | None:
        """The registry to read together with the state of each block; None if no router depends on a registry.

        The registry names the network's router, or a router that quotes may choose.
        """
        return self.routers.get(self._registered_dialect, DialectRouter()).registry

    @property
    def _registered_dialect(self) -> str:
        """The dialect whose router a registry names, among the dialects that quotes choose from."""
        if not self.chooses_router:
            return self.router_dialect
        return next((name for name, each in self.routers.items() if each.registry), self.router_dialect)

    def with_registered_router(self, address: str | None) -> Network:
        """Return the network with the router that a registry names, or with no router if `address` is None."""
        dialect = self._registered_dialect
        known = self.dialect_router if dialect == self.router_dialect else self.routers[dialect]
        routers = {**self.routers, dialect: known._replace(address=address, is_paused=address is None)}
        router = address if dialect == self.router_dialect else self.router
        return self._replace(router=router, routers=routers)

    def for_dialect(self, dialect: str) -> Network:
        """Return the network with the router of `dialect` as the only router. The router's address may be unknown."""
        if dialect == self.router_dialect:
            return self._replace(chooses_router=False) if self.chooses_router else self
        routers = {**self.routers, self.router_dialect: self.dialect_router}
        router = routers.get(dialect, DialectRouter()).address
        return self._replace(router_dialect=dialect, chooses_router=False, router=router, routers=routers)

    @property
    def wrapped_native_address(self) -> str | None:
        """Return the address of the wrapped native token; None if the network has none."""
        return self.wrapped_native.address if self.wrapped_native else None

    def to_wrapped(self, address: str) -> str:
        """Return the address by which pools trade a token: the wrapped native token for the zero address.

        Every other address is returned unchanged, and so is the zero address on a network without a wrapped native
        token.
        """
        return self.wrapped_native.address if self.wrapped_native and address == ZERO_ADDRESS else address

    def wraps(self, order: Order) -> bool:
        """Return whether an order exchanges the native token and its wrapped form."""
        return {order.token_in.address, order.token_out.address} == {ZERO_ADDRESS, self.wrapped_native_address}

    def to_wrapped_token(self, token: Token) -> Token:
        """Return the wrapped native token for the native token; every other token is returned unchanged."""
        return self.wrapped_native if self.wrapped_native and token.address == ZERO_ADDRESS else token

    def is_gas_token(self, token: Token) -> bool:
        """Return whether a token is the native token, which pays for gas, or its wrapped form."""
        return self.to_wrapped_token(token).address == self.to_wrapped_token(self.native).address
