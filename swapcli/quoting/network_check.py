"""Compare a network's definition with its chain: contracts, tokens, factories, init code hashes and routers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from enum import StrEnum
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

from swapcli.core.encoding.text import shorten_id
from swapcli.core.errors import ConfigError, InvalidAddress, UnhealthyError, UpstreamError
from swapcli.core.model.network import Deployment, Kind, Network
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.networks.address import display_address, parse_address
from swapcli.core.records import NamedTuple
from swapcli.core.validation.argument_types import checks_arguments
from swapcli.interface.own_document import own_document
from swapcli.quoting.config import Settings
from swapcli.quoting.openers.program_setup import open_program_sources, sources_with_node

if TYPE_CHECKING:
    from swapcli.families.reading.factory_contract import Factory
    from swapcli.families.reading.pool_ref import PoolRef
    from swapcli.interface.document_types import CheckedFactJson, NetworkCheckJson
    from swapcli.quoting.openers.choose_source import SourceChooser
    from swapcli.state.discovery.pair_lookup import PairQuery
    from swapcli.state.rpc.multicall import MulticallReader
    from swapcli.state.rpc.node import Node

_HUBS: Final = 4  # tokens whose pools are looked up: those with the most pools; chosen
_CONTRACT_KEYS: Final = ("contract", "holder")
"""The keys of quote functions and hook rules whose addresses are contracts."""


_SINGLE_ADDRESSES: Final = ("router", "multicall", "l1_fee_oracle", "l1_gas_oracle")
_LISTED_ADDRESSES: Final = ("stablecoins", "share_tokens", "revoke_first_tokens", "blocked_tokens")


class FactOutcome(StrEnum):
    """The result of comparing a fact in a definition with the chain."""

    CONFIRMED = "confirmed"
    CONTRADICTED = "contradicted"
    UNKNOWN = "unknown"
    """The chain cannot tell, or the node does not return it."""


class CheckedFact(NamedTuple):
    """A fact in a definition: its `key`, a description of the fact, and the chain's value.

    `address` is the contract in question, or empty. `place` is the file and line of the fact, as in `FILE:LINE`; empty
    for definitions that come with the program.
    """

    key: str
    fact: str
    outcome: FactOutcome
    found: str
    address: str = ""
    place: str = ""

    @property
    def contradiction(self) -> str:
        """The contradiction between the definition and the chain, as a sentence."""
        return ": ".join(filter(None, (self.place, self.key, f"{self.fact}, but {self.found}")))


class NetworkCheck(NamedTuple):
    """The result of comparing a network's definition with its chain, read from `node`. `block` is None if the node
    belongs to another chain."""

    network: str
    node: str
    block: int | None
    facts: tuple[CheckedFact, ...]

    def count(self, outcome: FactOutcome) -> int:
        """Return the number of facts with `outcome`."""
        return sum(each.outcome is outcome for each in self.facts)

    @property
    def contradictions(self) -> tuple[CheckedFact, ...]:
        """The facts in the definition that the chain contradicts."""
        return tuple(each for each in self.facts if each.outcome is FactOutcome.CONTRADICTED)

    @own_document
    def document(self) -> NetworkCheckJson:
        """Return the JSON that `swapcli networks check` prints."""
        return {
            "network": self.network,
            "node": self.node,
            "block": self.block,
            "confirmed": self.count(FactOutcome.CONFIRMED),
            "contradicted": self.count(FactOutcome.CONTRADICTED),
            "unknown": self.count(FactOutcome.UNKNOWN),
            "facts": [_fact_document(each) for each in self.facts],
        }

    def check(self) -> None:
        """Raise `UnhealthyError` if the chain contradicts the definition."""
        if self.contradictions:
            raise UnhealthyError(_sentence(self.contradictions), details={"networks": [self.network]})


class DefinitionFile(NamedTuple):
    """A network file: its name, its text, and its parsed content."""

    name: str
    text: str
    content: Mapping[str, Any]


@checks_arguments
def check_network(
    network: str, *, rpc_url: str | None = None, settings: Mapping[str, object] | SourceChooser | None = None
) -> NetworkCheck:
    """Compare a network's definition with its chain, at the latest block of the node at `rpc_url`. The default is the
    node that quotes read.

    A contradiction does not raise an error; call `NetworkCheck.check` to raise it. Raises `UnknownNetwork`,
    `ConfigError`, `InvalidOption` if there is no node, and `UpstreamError` if the node fails.
    """
    from swapcli.quoting.config.networks import described_network
    from swapcli.quoting.network_definition import definition_of

    sources = sources_with_node(open_program_sources(settings), rpc_url)
    own = sources.setup.settings
    found = described_network(own, network)
    return compare_with_chain(sources, found, definition_of(found), _file_of(found.name, own))


def require_confirmed(sources: SourceChooser, network: Network, file: DefinitionFile | None) -> NetworkCheck:
    """Check the definition of a network that a file adds, with the node from the command line, and return the check.

    Only the facts in `file` are checked, or the program's whole definition if there is no file. If the chain
    contradicts a fact, raises `ConfigError`, whose message begins with the file and the line. Also raises the same
    errors as `check_network`.
    """
    from swapcli.quoting.network_definition import definition_of

    content = dict(file.content) if file else definition_of(network)
    checked = compare_with_chain(sources, network, content, file)
    if checked.contradictions:
        raise ConfigError(
            _sentence(checked.contradictions),
            hint="nothing was stored",
            details={"contradictions": [each.key for each in checked.contradictions]},
        )
    return checked


def compare_with_chain(
    sources: SourceChooser, network: Network, content: Mapping[str, Any], file: DefinitionFile | None = None
) -> NetworkCheck:
    """Compare the definition `content`, from which `network` was built, with the chain. `file` is used to name the line
    of each fact."""
    node = sources.nodes.require_quoted_node(network)
    with closing(node):
        try:
            block = node.read_head().block
        except UpstreamError as error:
            if "found" not in error.details:
                raise
            found = f"{node.redacted_url} is a node of chain {error.details['found']}"
            wrong = _fact("chain_id", f"the chain id is {network.chain_id}", found, is_right=False)
            return NetworkCheck(network.name, node.redacted_url, None, tuple(_placed([wrong], file, network.kind)))
        from swapcli.state.rpc.multicall import MulticallReader

        reader = MulticallReader(node, block, network.multicall)
        facts = list(_Checks(network, content, node, reader).run())
    return NetworkCheck(network.name, node.redacted_url, block.number, tuple(_placed(facts, file, network.kind)))


class _Checks:
    """The checks of a definition's content at one block."""

    def __init__(self, network: Network, content: Mapping[str, Any], node: Node, reader: MulticallReader) -> None:
        self._network, self._content = network, content
        self._node, self._reader = node, reader
        self._keys = {address: key for key, address in reversed(list(addresses_in(content, network.kind)))}
        self._codeless: set[str] = set()

    def run(self) -> Iterator[CheckedFact]:
        yield _fact("chain_id", f"the chain id is {self._network.chain_id}", "the node reports the same", is_right=True)
        yield from self._codes()
        yield from self._tokens()
        yield from self._factories()
        yield from self._registries()

    def _codes(self) -> Iterator[CheckedFact]:
        """Yield, for every address in the definition, whether it has code."""
        from swapcli.state.rpc.code_sizes import read_code_sizes

        keys = {address: key for address, key in self._keys.items() if address != ZERO_ADDRESS}
        sizes = read_code_sizes(self._node, list(keys), self._reader.at) if keys else []
        for (address, key), size in zip(keys.items(), sizes, strict=True):
            shown = self._shown(address)
            if int(address, 16) < self._network.kind.traits.system_addresses:
                found, outcome = "a system address needs no code", FactOutcome.UNKNOWN
            elif size is None:
                found, outcome = "the node does not return it", FactOutcome.UNKNOWN
            elif size:
                found, outcome = f"{size:,} bytes of code", FactOutcome.CONFIRMED
            else:
                found, outcome = "it has no code on this chain", FactOutcome.CONTRADICTED
                self._codeless.add(address)
            yield CheckedFact(key, f"{shown} is a contract", outcome, found, address)

    def _tokens(self) -> Iterator[CheckedFact]:
        """Yield, for every listed token, whether its symbol and decimals match its contract."""
        from swapcli.core.networks.token_facts import names_same_token
        from swapcli.families.reading.lockstep_reads import SkippedItem
        from swapcli.state.tokens import load_tokens

        listed = {token.address: token for token in self._network.tokens}
        keys = {address: key for key, address in _listed_tokens(self._content, self._network.kind)}
        named = [address for address in keys if address in listed and address not in self._codeless]
        for address, found in zip(named, load_tokens(self._reader, named), strict=True):
            token, key = listed[address], keys[address]
            fact = f"{token.symbol} has {token.decimals} decimals"
            if isinstance(found, SkippedItem):
                yield CheckedFact(f"{key}.decimals", fact, FactOutcome.UNKNOWN, found.reason, address)
                continue
            says = f"the contract returns {found.decimals}"
            yield _fact(f"{key}.decimals", fact, says, is_right=found.decimals == token.decimals, address=address)
            fact = f"{self._shown(address)} is called {token.symbol}"
            if found.symbol == shorten_id(address):
                says = "the contract returns no symbol"
                yield CheckedFact(f"{key}.symbol", fact, FactOutcome.UNKNOWN, says, address)
                continue
            is_right = names_same_token(token.symbol, found.symbol)
            says = f"the contract returns {found.symbol}"
            yield _fact(f"{key}.symbol", fact, says, is_right=is_right, address=address)

    def _factories(self) -> Iterator[CheckedFact]:
        """Yield the responses of the definition's factories, and whether their pools' addresses follow from its
        hash."""
        from swapcli.state.discovery.pool_discovery import find_factories

        found, _ = find_factories(self._network)
        factories = [each for each in found if each.address in self._keys and each.address not in self._codeless]
        pools: dict[str, list[PoolRef]] = {}
        problems: dict[str, str] = {}
        lengths = self._read_lists(factories, pools, problems)
        self._look_up(factories, pools, problems)
        for factory in factories:
            yield self._factory_fact(factory, lengths, pools, problems)
        for number, _ in enumerate(self._content.get("deployments") or ()):
            yield from self._init_code_fact(number, factories, pools)

    def _read_lists(
        self, factories: Sequence[Factory], pools: dict[str, list[PoolRef]], problems: dict[str, str]
    ) -> dict[str, int]:
        """Return the lengths of the lists that factories keep, and add the first pool of each, or the reason why there
        is none."""
        from swapcli.families.reading.lockstep_reads import SkippedItem, run_batched
        from swapcli.state.discovery.pool_discovery import FactoryPools, read_list_entry, read_pool_lists

        listings: list[FactoryPools] = []
        for listing in read_pool_lists(self._reader, [each for each in factories if each.is_enumerable]):
            if isinstance(listing, SkippedItem):
                problems[listing.key] = listing.reason
            else:
                listings.append(listing)
        reads = [(each.factory.address, read_list_entry(each, 0)) for each in listings if each.length]
        for (address, _), ref in zip(reads, run_batched(reads, self._reader.call), strict=True):
            if not isinstance(ref, SkippedItem):
                pools.setdefault(address, []).append(ref)
        return {each.factory.address: each.length for each in listings}

    def _look_up(self, factories: Sequence[Factory], pools: dict[str, list[PoolRef]], problems: dict[str, str]) -> None:
        """Add the pools of hub tokens that factories find, or the reason why one finds none."""
        from swapcli.families.reading.lockstep_reads import SkippedItem, run_batched
        from swapcli.state.discovery.pair_lookup import can_be_queried, currencies_of, pair_reads, read_queries

        network = self._network
        known = (network.wrapped_native_address, *network.stablecoins, *(token.address for token in network.tokens))
        hubs = [each for each in dict.fromkeys(known) if each and each not in self._codeless][:_HUBS]
        pairs = list(combinations(sorted(hubs), 2))
        if not pairs:
            return
        queried = [(each.address, read_queries(each, pairs[0])) for each in factories if can_be_queried(each)]
        queries: list[PairQuery] = []
        for found in run_batched(queried, self._reader.call):
            if isinstance(found, SkippedItem):
                problems[found.key] = found.reason
            else:
                queries += found
        currencies = list(currencies_of(pairs, network.wrapped_native_address))
        reads = list(pair_reads(queries, currencies))
        for (name, _), refs in zip(reads, run_batched(reads, self._reader.call), strict=True):
            if not isinstance(refs, SkippedItem):
                pools.setdefault(name.partition(" ")[0], []).extend(refs)

    def _factory_fact(
        self,
        factory: Factory,
        lengths: Mapping[str, int],
        pools: Mapping[str, Sequence[PoolRef]],
        problems: Mapping[str, str],
    ) -> CheckedFact:
        address = factory.address
        names = ", ".join(protocol.display_name for protocol in factory.all_protocols)
        fact = f"{self._shown(address)} has the pools of {names}"
        key = self._keys[address]
        if pools.get(address) or lengths.get(address):
            listed = f"it lists {lengths[address]:,}" if address in lengths else ""
            first = next(iter(pools.get(address, ())), None)
            example = f"one is {first.key}" if first else ""
            found = "; ".join(filter(None, [listed, example]))
            return CheckedFact(key, fact, FactOutcome.CONFIRMED, found, address)
        if address in problems:
            return CheckedFact(key, fact, FactOutcome.CONTRADICTED, problems[address], address)
        found = "it has no pool with the network's main tokens, or announces pools only in events"
        return CheckedFact(key, fact, FactOutcome.UNKNOWN, found, address)

    def _init_code_fact(
        self, number: int, factories: Sequence[Factory], pools: Mapping[str, Sequence[PoolRef]]
    ) -> Iterator[CheckedFact]:
        """Yield whether the addresses of a deployment's pools follow from its init code hash."""
        deployment = self._deployment(number)
        if deployment is None or deployment.init_code_hash is None:
            return
        key, fact = (
            f"deployments[{number}].init_code_hash",
            f"the pools of {deployment.name} are created with this code",
        )
        of_deployment = [each for each in factories if each.address in deployment.addresses.values()]
        refs = [ref for factory in of_deployment for ref in pools.get(factory.address, ())]
        for ref in refs:
            derived = self._derived_address(deployment, ref)
            if derived is not None:
                is_right = derived == ref.address
                found = f"{ref.address} {'has' if is_right else 'does not have'} the address computed from it"
                yield _fact(key, fact, found, is_right=is_right, address=of_deployment[0].address)
                return
        yield CheckedFact(key, fact, FactOutcome.UNKNOWN, "its factory has no pool to compare")

    def _deployment(self, number: int) -> Deployment | None:
        """Return the parsed form of an entry of the content's deployments, which are the last ones of the network."""
        deployments, count = self._network.deployments, len(self._content["deployments"])
        return deployments[len(deployments) - count + number] if count <= len(deployments) else None

    def _derived_address(self, deployment: Deployment, ref: PoolRef) -> str | None:
        from swapcli.core.networks.pool_addresses import pool_address
        from swapcli.families.row import TickConstants

        protocol = self._network.protocol(ref.protocol)
        if len(ref.tokens) != 2 or protocol is None or ref.protocol not in deployment.protocols:
            return None
        spacing = ref.constants.tick_spacing if isinstance(ref.constants, TickConstants) else 0
        tier = spacing if protocol.tier_key == "tickSpacing" else ref.fee_ppm
        only = self._network._replace(deployments=(deployment,))
        return pool_address(only, ref.protocol, *ref.tokens, tier)

    def _registries(self) -> Iterator[CheckedFact]:
        """Yield the routers that the definition's registries name."""
        from swapcli.families.reading.lockstep_reads import SkippedItem, run_batched
        from swapcli.state.settler_registry import read_registered_router

        routers = self._content.get("routers") or {}
        named = {
            dialect: router.registry
            for dialect, router in self._network.routers.items()
            if router.registry and dialect in routers and router.registry not in self._codeless
        }
        reads = [(registry, read_registered_router(registry)) for registry in named.values()]
        for (dialect, registry), found in zip(named.items(), run_batched(reads, self._reader.call), strict=True):
            key, fact = f"routers.{dialect}.registry", f"{self._shown(registry)} is the router registry of {dialect}"
            if isinstance(found, SkippedItem):
                yield _fact(key, fact, found.reason, is_right=False, address=registry)
            else:
                says = self._shown(found.address) if found.address else "no router at present: swaps are paused"
                yield CheckedFact(key, fact, FactOutcome.CONFIRMED, f"it names {says}", registry)

    def _shown(self, address: str) -> str:
        return display_address(address, self._network.kind)


def addresses_in(content: Mapping[str, Any], kind: Kind) -> Iterator[tuple[str, str]]:
    """Yield the key and the canonical address of every contract in a definition."""
    for key, value in _address_values(content):
        try:
            yield key, parse_address(str(value).rpartition(":")[2], kind)
        except InvalidAddress:
            continue  # the parser accepts another value only if a quoter computes it


def _address_values(content: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    for key, token in _entries(content, "tokens"):
        yield f"{key}.address", token.get("address")
    wrapped = content.get("wrapped_native")
    yield "wrapped_native", wrapped.get("address") if isinstance(wrapped, Mapping) else wrapped
    yield from ((name, content.get(name)) for name in _SINGLE_ADDRESSES)
    for dialect, router in (content.get("routers") or {}).items():
        yield from ((f"routers.{dialect}.{name}", router.get(name)) for name in ("address", "registry", "spender"))
    for key, deployment in _entries(content, "deployments"):
        yield from _members_of(deployment, "addresses", key)
        yield from _contracts_in(deployment.get("hooks"), f"{key}.hooks")
    for name in _LISTED_ADDRESSES:
        yield from _contracts_in(content.get(name), name)
    yield from ((f"transfer_fees_ppm.{token}", token) for token in content.get("transfer_fees_ppm") or ())
    yield from _members_of(content, "price_feeds", "")
    for name in ("quoters", "hook_rules"):
        for key, entry in _entries(content, name):
            yield from _contracts_in(entry.get("hooks"), f"{key}.hooks")
            yield from _members_of(entry, "contracts", key)
            yield from _called_in(entry, key)


def _members_of(entry: Mapping[str, Any], name: str, key: str) -> Iterator[tuple[str, object]]:
    around = f"{key}.{name}" if key else name
    return ((f"{around}.{member}", value) for member, value in (entry.get(name) or {}).items())


def _contracts_in(value: object, key: str) -> Iterator[tuple[str, object]]:
    """Yield all texts in lists and mappings, including nested ones."""
    members = value.items() if isinstance(value, Mapping) else ()
    for name, each in members:
        yield from _contracts_in(each, f"{key}.{name}")
    for k, each in enumerate(value if isinstance(value, list) else ()):
        yield from _contracts_in(each, f"{key}[{k}]")
    if isinstance(value, str):
        yield key, value


def _called_in(value: object, key: str) -> Iterator[tuple[str, object]]:
    """Yield the contracts that a quote function or a rule calls."""
    for name, each in value.items() if isinstance(value, Mapping) else ():
        if name in _CONTRACT_KEYS:
            yield f"{key}.{name}", each
        else:
            yield from _called_in(each, f"{key}.{name}")
    for k, each in enumerate(value if isinstance(value, list) else ()):
        yield from _called_in(each, f"{key}[{k}]")


def _entries(content: Mapping[str, Any], name: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    return ((f"{name}[{k}]", each) for k, each in enumerate(content.get(name) or ()))


def _listed_tokens(content: Mapping[str, Any], kind: Kind) -> Iterator[tuple[str, str]]:
    for key, address in addresses_in({"tokens": content.get("tokens")}, kind):
        yield key.removesuffix(".address"), address


def _fact(key: str, fact: str, found: str, *, is_right: bool, address: str = "") -> CheckedFact:
    return CheckedFact(key, fact, FactOutcome.CONFIRMED if is_right else FactOutcome.CONTRADICTED, found, address)


def _file_of(name: str, settings: Settings) -> DefinitionFile | None:
    """Return the user's file of a network; None if there is none."""
    from swapcli.quoting.config.network_files import parse_network_file, read_network_text

    path = settings.network_folder.files.get(name)
    if path is None:
        return None
    text = read_network_text(path)
    content = parse_network_file(text, str(path))
    return DefinitionFile(str(path), text, content if isinstance(content, Mapping) else {})


def _placed(facts: Sequence[CheckedFact], file: DefinitionFile | None, kind: Kind) -> Iterator[CheckedFact]:
    """Yield the facts with the file and line of each."""
    if file is None:
        yield from facts
        return
    from swapcli.quoting.config.file_lines import find_line
    from swapcli.quoting.config.network_files import lines_of

    lines: dict[str, int] = {}
    keys: dict[str, str] = {}
    for key, address in addresses_in(file.content, kind):
        keys.setdefault(address, key)
    for fact in facts:
        stated = keys.get(fact.address, "") if fact.address else fact.key if fact.key in file.content else ""
        if not stated:
            yield fact
            continue
        lines = lines or lines_of(file.text, file.name)
        own = fact.key if fact.key in lines else stated
        yield fact._replace(place=f"{file.name}:{find_line(lines, own)}")


def _sentence(contradictions: Sequence[CheckedFact]) -> str:
    first, *others = contradictions
    more = f" (and {len(others)} more)" if others else ""
    return first.contradiction + more


def _fact_document(fact: CheckedFact) -> CheckedFactJson:
    return {
        "key": fact.key,
        "fact": fact.fact,
        "outcome": fact.outcome.value,
        "found": fact.found,
        "place": fact.place or None,
    }
