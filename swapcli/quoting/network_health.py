"""Check the health of networks: whether each can be quoted, and which features its node lacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from itertools import repeat
from typing import TYPE_CHECKING

from swapcli.core.errors import InvalidOption, MarketError, MarketUnavailable, UnhealthyError, UpstreamError
from swapcli.core.records import NamedTuple
from swapcli.core.validation.argument_types import checks_arguments
from swapcli.interface.health import UNHEALTHY
from swapcli.interface.own_document import own_document
from swapcli.quoting.config import network_names_from
from swapcli.quoting.health import Health, judge_prices
from swapcli.quoting.network_list import node_document
from swapcli.quoting.openers.choose_source import REMOTE_RETRIES, SourceChooser, open_source_chooser
from swapcli.quoting.openers.markets import STDIN
from swapcli.quoting.openers.program_setup import open_program_sources

if TYPE_CHECKING:
    from swapcli.interface.document_types import HealthDocumentJson
    from swapcli.quoting.openers.user_setup import UserSetup
    from swapcli.state.rpc.node_checks import NodeReport

MAX_CHECKS = 16
"""Networks checked at the same time."""


class HealthReport(NamedTuple):
    """The health of several networks. `nodes` are the checks of their nodes, if nodes were given."""

    networks: tuple[Health, ...]
    nodes: tuple[NodeReport, ...] = ()

    @own_document
    def document(self) -> list[HealthDocumentJson]:
        """Return the JSON that `swapcli health` prints."""
        documents = [each.document() for each in self.networks]
        for document, node in zip(documents, self.nodes, strict=bool(self.nodes)):
            document["node"] = node_document(document["network"], node)
        return documents

    def check(self) -> None:
        """Raise `UnhealthyError` if a network is not healthy, or if its node cannot serve quotes."""
        names = [each.network for each in self.networks]
        missing = [check for node in self.nodes if not node.can_quote for check in node.missing]
        reported = " ".join(each.message for each in self.networks if not each.is_healthy)
        # A node that does not respond lacks nothing: the network's message says why.
        if any(check.problem not in reported for check in missing):
            problems = "; ".join(f"{check.name} ({check.problem})" for check in missing)
            raise UnhealthyError(
                f"the node lacks: {problems}",
                details={"networks": names, "missing": [check.name for check in missing]},
            )
        unhealthy = [each for each in self.networks if not each.is_healthy]
        if unhealthy:
            reasons = "; ".join(
                f"{each.network} ({each.message.removeprefix(f'{each.network}: ')})" for each in unhealthy
            )
            is_live_missing = any(each.prices in ("modelled", "synthetic") for each in unhealthy)
            raise UnhealthyError(
                f"not healthy: {reasons}",
                hint="to check the markets without a node, give --offline" if is_live_missing else None,
                details={"networks": [each.network for each in unhealthy]},
            )


@checks_arguments
def health(
    *networks: str,
    everything: bool = False,
    offline: bool = False,
    retries: int = REMOTE_RETRIES,
    settings: Mapping[str, object] | SourceChooser | None = None,
) -> HealthReport:
    """Check that each of `networks`, by default all of the user's networks, can quote a sample order on real prices.

    With `everything`, the default also includes the other networks that come with the program. Each network is quoted
    from the same source as a quote by the user. With `offline`, only the stored markets are checked. An unhealthy
    network does not raise an error; call `HealthReport.check` to raise it. Raises `UnhealthyError` if a service does
    not list its networks, `UnknownNetwork`, and `MarketError` for a bad market file.
    """
    sources = open_program_sources(settings, offline=offline)
    setup = sources.markets.setup
    names = networks or find_names(sources, retries, everything=everything)
    if setup.rpc_url is not None and len(names) != 1:
        raise InvalidOption("--rpc-url is the node of one network: name exactly one NETWORK")
    checked = _check_all(sources, names, retries)
    if setup.rpc_url is None:
        return HealthReport(checked)
    from swapcli.quoting.openers.check_nodes import check_named_nodes

    return HealthReport(checked, check_named_nodes(sources.nodes, sources.networks.find(names[0])))


def find_names(sources: SourceChooser, retries: int, *, everything: bool = False) -> tuple[str, ...]:
    """Return the names of the networks to check: the service's networks, otherwise the market file's network, otherwise
    the user's networks, or all with `everything`.

    Raises `UnhealthyError` if the service does not list its networks.
    """
    try:
        served = sources.service_networks(retries)
    except UpstreamError as error:
        raise UnhealthyError(f"not healthy: {error.message}", hint=error.hint, details={"networks": []}) from None
    if served is not None:
        return served
    settings = sources.markets.setup.settings
    if sources.service_url is None and str(settings.market) != STDIN:
        market = sources.markets.file_market()
        if market is not None:
            return (market.network.name,)
    return network_names_from(settings, everything=everything)


def _check_all(sources: SourceChooser, names: Sequence[str], retries: int) -> tuple[Health, ...]:
    """Check the networks, in parallel if each of them waits for nodes or a service."""
    setup = sources.markets.setup
    if sources.service_url is None and (sources.nodes.rules.excludes_nodes or setup.settings.market):
        return tuple(_check(setup, name, retries) for name in names)
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(max_workers=min(len(names), MAX_CHECKS)) as pool:
        return tuple(pool.map(_check, repeat(setup), names, repeat(retries)))


def _check(setup: UserSetup, name: str, retries: int) -> Health:
    """Check a network. An invalid market file from the user is an input error, not bad health."""
    sources = open_source_chooser(setup)  # one per network, because it opens the nodes of one
    if _lacks_required_node(sources, name):
        return Health(sources.networks.find(name).name, UNHEALTHY, f"no node is known for {name}", 0.0)
    try:
        with closing(sources.open(name, retries=retries)) as source:
            return judge_prices(source.health(), setup.node_rules.price_request)
    except (MarketError, UpstreamError, MarketUnavailable) as error:
        if setup.settings.market is not None:
            raise
        return Health(sources.networks.find(name).name, UNHEALTHY, error.message, 0.0)


def _lacks_required_node(sources: SourceChooser, name: str) -> bool:
    rules = sources.nodes.rules
    is_local = sources.service_url is None and rules.settings.market is None
    return is_local and rules.requires_node and not any(rules.quoted_nodes(sources.networks.find(name)))
