"""Open nodes from the command line, the settings or the environment, otherwise public nodes.

`live_choice` defines the precedence, and `swapcli.state.rpc.connect_nodes` opens connections. Long-running commands use
`long_running_nodes`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, cast

from swapcli.core.encoding.secret import Secret
from swapcli.core.encoding.url import is_http_url
from swapcli.core.errors import ConfigError, InvalidOption, UpstreamError
from swapcli.core.model.live_and_check_modes import CheckMode
from swapcli.core.model.network import Network
from swapcli.quoting.config.source_readers import FLAG_ORIGIN
from swapcli.quoting.live_choice import (
    ETH_RPC_URL,
    NamedHosts,
    NodeChoice,
    NodeOrigin,
    NodeRules,
    missing_node_hint,
    no_known_node,
)
from swapcli.quoting.openers.user_setup import UserSetup
from swapcli.state.clock import SYSTEM_CLOCK

if TYPE_CHECKING:
    from swapcli.quoting.sources.token_checks import TokenChecks
    from swapcli.state.rpc.connect_nodes import AnyNode, AnyPublicNode, NodeConnector, PublicRpcNode
    from swapcli.state.rpc.rpc_node import RpcNode
    from swapcli.state.rpc.witness_node import Witnesses, WitnessNode

_NAMED_HOSTS_FILE = "named-hosts.json"
_CHECK_REQUESTS = 4
"""Maximum number of requests that a check sends to a public node: the preparation, the simulation, and one for tokens
that store balances in an unusual way."""


class NodeOpener:
    """The opener of nodes for quotes and for checks of swaps."""

    def __init__(self, setup: UserSetup) -> None:
        self.setup = setup
        self._named_hosts = NamedHosts(setup.data_dir / _NAMED_HOSTS_FILE, SYSTEM_CLOCK.now_s)
        self._public_node: AnyPublicNode | None = None
        self._quoted_node: AnyPublicNode | None = None
        self._skipped_variable = ""
        self._has_no_node = False

    @property
    def rules(self) -> NodeRules:
        """The rules on which nodes to read."""
        return self.setup.node_rules

    @cached_property
    def connector(self) -> NodeConnector:
        """The connector that opens nodes by URL."""
        # Offline orders load no node code.
        from swapcli.state.rpc.connect_nodes import NodeConnector

        setup, settings = self.setup, self.setup.settings
        return NodeConnector(
            setup.data_dir,
            setup.environ,
            setup.warn,
            timeout_s=settings.timeout_s,
            live_timeout_s=settings.live_timeout_s,
            is_required=self.rules.requires_node,
            gas_price_wei=settings.gas_price_wei,
            run_budget=setup.run_budget,
        )

    def node(self, network: Network) -> RpcNode | None:
        """Return the node from which quotes on an EVM network are read, or None if there is none.

        If there are several nodes, each one replaces its predecessor if that fails, with a warning. Raises
        `ConfigError` for an invalid URL or if none is an http URL, `InvalidOption` for a network whose nodes have no
        EVM interface, and `UpstreamError`.
        """
        choices = list(self.rules.quoted_nodes(network))
        if not choices:
            return None
        check_has_eth_nodes(network)
        if choices[0].origin in (NodeOrigin.OPTION, NodeOrigin.SETTINGS):
            return self._connect_named(choices[0], network)
        return cast("RpcNode", self.open_first(choices, network))

    def require_node(self, network: Network) -> RpcNode:
        """Return the node from which quotes on an EVM network are read. Raises the same errors as `node`, and
        `InvalidOption` if there is none."""
        check_has_eth_nodes(network)
        node = self.node_for("this needs a node", network)
        self.name_public_host(network)
        return node

    def node_for(self, need: str, network: Network, purpose: str = "") -> RpcNode:
        """Return the node from which quotes on an EVM network are read.

        Raises the same errors as `node`, and `InvalidOption` if there is none. Its message contains `need`, which says
        what needs the node, and `purpose`.
        """
        node = self.node(network)
        if node is None:
            raise self._no_node(need, network, purpose)
        return node

    def require_quoted_node(self, network: Network) -> AnyNode:
        """Return the node from which quotes on a network of any kind are read. Raises the same errors as
        `require_node`."""
        choices = list(self.rules.quoted_nodes(network))
        if not choices:
            raise self._no_node("this needs a node", network)
        if choices[0].origin in (NodeOrigin.OPTION, NodeOrigin.SETTINGS):
            return self.open_choice(choices[0], network)
        node = self.open_first(choices, network)
        self.name_public_host(network)
        return node

    def _no_node(self, need: str, network: Network, purpose: str = "") -> InvalidOption:
        problem = f"{need} of {network.name}{purpose}, but {self.rules.why_no_node()}"
        return InvalidOption(problem, hint=self.rules.hint_without_node(network))

    def second_node(self, network: Network) -> RpcNode | None:
        """Return a second node, to check the node that `node` returns: the next one in the settings, or None if there
        is none.

        Raises `ConfigError` for an invalid URL.
        """
        first = self.rules.named_nodes(network)
        named = self.rules.named_nodes(network, uses_option=False)
        if first is None or named is None:
            return None
        used = next((url for url in first.urls if is_http_url(url.reveal())), None)
        others = [url for url in named.urls if is_http_url(url.reveal()) and url != used]
        return self.connector.connect_eth(others[:1], network.chain_id, named.headers) if others else None

    def checks_swaps(self, network: Network) -> bool:
        """Return whether swaps are simulated on a node before they are signed.

        Raises `InvalidOption` if that is requested but impossible.
        """
        settings, rules = self.setup.settings, self.rules
        mode = settings.check
        if mode is CheckMode.NEVER:
            return False
        is_possible = network.kind.traits.has_eth_nodes
        if not is_possible or rules.excludes_nodes:
            if mode is CheckMode.ALWAYS and settings.origin("check") == FLAG_ORIGIN:
                why = f"but {rules.why_no_node()}" if is_possible else f"not on {network.name}"
                raise InvalidOption(f"--check needs a node of an EVM network, {why}", hint="remove --check")
            return False
        return mode is CheckMode.ALWAYS or rules.named_nodes(network) is not None

    @contextmanager
    def checking_node(self, network: Network, max_requests: int = _CHECK_REQUESTS) -> Iterator[RpcNode | None]:
        """Yield the node that simulates swaps before they are signed, according to the setting `check`, or None if
        there is none.

        A public node receives at most `max_requests`. If there are several public nodes, it is not the one that the
        quote was read from. Raises the same errors as `checks_swaps`, and `UpstreamError` if no public node responds.
        """
        if not self.checks_swaps(network):
            yield None
            return
        named = self.rules.named_nodes(network)
        if named is not None:
            with closing(self._connect_named(named, network)) as node:
                yield node
            return
        choice = self.rules.public_nodes(network)
        if choice is None:
            raise no_known_node(network)
        read = self._quoted_node or self._public_node
        public = cast("PublicRpcNode", read or self.connector.connect_public(network, choice.urls))
        try:
            with public.checking(max_requests):
                yield public
        finally:
            if public is not read:
                public.close()

    @contextmanager
    def separate_nodes(self, network: Network) -> Iterator[Iterator[WitnessNode] | None]:
        """Yield the public nodes one by one, starting with those that the quote was not read from.

        Yields None if a node that the user has named checks swaps, or if there is only one public node.
        """
        choice = None if self.rules.named_nodes(network) is not None else self.rules.public_nodes(network)
        if choice is None or len(choice.urls) < 2:
            yield None
            return
        public = self._quoted_node or self.connector.connect_public(network, choice.urls)
        with ExitStack() as stack:
            if public is not self._quoted_node:
                stack.callback(public.close)
            found = public.open_witnesses(network.multicall, includes_reader=True)
            yield (_closed_by(stack, each) for each in found)

    def open_choice(self, choice: NodeChoice, network: Network) -> AnyNode:
        """Return the node for a choice. Raises `ConfigError` if none of its URLs is an http URL."""
        return self.connector.connect(http_only(choice.urls, network), network, choice.headers)

    def open_first(self, choices: Iterable[NodeChoice], network: Network) -> AnyNode:
        """Return the node for the first of the choices that belongs to this network. Raises `UpstreamError`."""
        for choice in choices:
            if choice.origin is NodeOrigin.CATALOGUE:
                self._public_node = self.connector.connect_public(network, choice.urls)
                return self._public_node
            node = self._open_variable(choice, network)
            if node is not None:
                return node
        self._has_no_node = True
        raise UpstreamError(f"no node is known for {network.name}", hint=missing_node_hint(network))

    @property
    def reads_named_node(self) -> bool:
        """Whether `open_first` returned a node named by the user, rather than public nodes or none."""
        return self._public_node is None and not self._has_no_node

    def is_named(self, node: AnyNode) -> bool:
        """Return whether the user has named a node. Otherwise it is the quote's public node or the public node opened
        last."""
        return node is not self._public_node and node is not self._quoted_node

    def name_public_host(self, network: Network) -> None:
        """Warn, once a day, that prices come from a public node, and name its host."""
        if self._public_node is not None and self._named_hosts.is_new(host := self._public_node.host):
            self.setup.warn(
                f"prices come from {host}, a public {network.name} node that sees tokens and amounts; --offline "
                "uses no node"
            )

    def token_checks(self, network: Network) -> TokenChecks:
        """Return the checks that compare tokens with their contracts. They use a file of tokens that are already
        confirmed."""
        from swapcli.quoting.sources.token_checks import TokenChecks
        from swapcli.state.confirmed_tokens_file import ConfirmedTokensFile

        return TokenChecks(network, ConfirmedTokensFile(self.setup.stores_folder, network.chain_id))

    def witnesses(self, node: AnyNode, network: Network) -> Witnesses | None:
        """Return the nodes that confirm the reads of `node` before a payload is built on them, or None if there are
        none.

        They are the node in the setting `witness` and, if `node` is public, the other public nodes. Raises
        `ConfigError`.
        """
        named = self.setup.settings.witness
        public = self._public_node if node is self._public_node else None
        self._quoted_node = public
        if named is None and (public is None or len(network.public_nodes) < 2):
            return None
        from swapcli.quoting.openers.witnesses import ChosenWitnesses

        named = None if named is None else http_only([named], network)[0]
        return ChosenWitnesses(self.connector, network, node, public, named)

    def service_witnesses(self, network: Network, *, is_public: bool) -> Witnesses | None:
        """Return the nodes that confirm a service's reads on a network: the node in the setting `witness` and, if
        `is_public`, public nodes.

        Public nodes confirm each other, because the service does not know which of them returned a state.
        """
        named = self.setup.settings.witness
        choice = self.rules.public_nodes(network) if is_public else None
        if choice is None or len(choice.urls) < 2:
            choice = None
        if named is None and choice is None:
            return None
        from swapcli.quoting.openers.witnesses import ServiceWitnesses

        public = None if choice is None else self.connector.connect_public(network, choice.urls)
        named = None if named is None else http_only([named], network)[0]
        return ServiceWitnesses(self.connector, network, public, named)

    def _connect_named(self, choice: NodeChoice, network: Network) -> RpcNode:
        return self.connector.connect_eth(http_only(choice.urls, network), network.chain_id, choice.headers)

    def _open_variable(self, choice: NodeChoice, network: Network) -> AnyNode | None:
        """Return the node of `ETH_RPC_URL`; None, with a note, if it cannot be read; None for a different network."""
        if not any(is_http_url(url.reveal()) for url in choice.urls):
            self._skip_variable("it is not the http or https URL of a node")
            return None
        node = self.open_choice(choice, network)
        try:
            node.read_head()
        except UpstreamError as error:
            node.close()
            if "found" not in error.details:
                self._skip_variable(error.message)
            return None
        self.setup.warn(f"using the node in {ETH_RPC_URL}, {node.redacted_url}")
        return node

    def _skip_variable(self, reason: str) -> None:
        self._skipped_variable = f"{ETH_RPC_URL} is skipped: {reason}"
        self.setup.warn(self._skipped_variable)

    def why_not_live(self, network: Network, error: UpstreamError) -> str:
        """Return why there are no live prices, as a sentence with the last nodes' error and, if a variable was skipped,
        its name."""
        return "; ".join(filter(None, [f"no live prices for {network.name}: {error.message}", self._skipped_variable]))


def _closed_by(stack: ExitStack, node: WitnessNode) -> WitnessNode:
    stack.callback(node.close)
    return node


def check_has_eth_nodes(network: Network) -> None:
    """Raise `InvalidOption` for a network whose nodes have no EVM interface."""
    if not network.kind.traits.has_eth_nodes:
        raise InvalidOption(
            f"{network.name} is not an EVM network: its nodes use a different protocol",
            hint="its nodes serve only quotes, including at past blocks (--block, backtest); use an EVM network",
        )


def http_only(urls: Sequence[Secret], network: Network) -> list[Secret]:
    """Return the http nodes among `urls`. Raises `ConfigError` if there are none."""
    http_urls = [url for url in urls if is_http_url(url.reveal())]
    if urls and not http_urls:
        setting = f"networks.{network.name}.rpc_url"
        raise ConfigError(
            f"{urls[0].redacted} is not an http node: only swapcli sync and swapcli serve use WebSocket and IPC nodes",
            hint=f"set an http or https address as well, as {setting} or in {setting}s",
            details={"key": setting},
        )
    return http_urls
