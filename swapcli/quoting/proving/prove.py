"""Run the stages of `swapcli prove` within limits on time and requests, and write the report."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from swapcli.core.errors import Cancelled, InvalidOption, SwapcliError
from swapcli.core.model.live_and_check_modes import CheckMode, LiveMode
from swapcli.core.model.order import UNOWNED_ADDRESS
from swapcli.core.records import NamedTuple
from swapcli.core.validation.argument_types import checks_arguments
from swapcli.quoting.config import node_url, override_settings
from swapcli.quoting.live_choice import no_known_node
from swapcli.quoting.market import Market
from swapcli.quoting.openers.choose_source import SourceChooser, open_source_chooser
from swapcli.quoting.openers.program_setup import program_setup
from swapcli.quoting.proving.check_nodes import check_nodes
from swapcli.quoting.proving.check_offers import check_offers, open_aggregators
from swapcli.quoting.proving.check_proofs import check_proofs
from swapcli.quoting.proving.check_quotes import check_quotes
from swapcli.quoting.proving.check_swaps import check_swaps
from swapcli.quoting.proving.journal import Journal, json_of, open_journal
from swapcli.quoting.proving.privacy import OWN_NODE, Privacy
from swapcli.quoting.proving.proof_item import ProofItem, ProofStage
from swapcli.quoting.proving.prove_report import ProveReport, StageTime
from swapcli.quoting.proving.report_page import render_page
from swapcli.quoting.proving.run_context import RunContext
from swapcli.quoting.proving.sample_orders import MAX_ORDERS, choose_orders
from swapcli.quoting.sources.quote_source import require_pools
from swapcli.state.clock import SYSTEM_CLOCK, Clock
from swapcli.state.rpc.run_budget import RunBudget

if TYPE_CHECKING:
    from os import PathLike

    from swapcli.core.model.network import Network
    from swapcli.quoting.openers.user_setup import UserSetup

DEFAULT_ORDERS: Final = 20
DEFAULT_RECENT: Final = 2
DEFAULT_TIME_S: Final = 120.0
DEFAULT_REQUESTS: Final = 800
"""Default number of requests. Twenty quotes on public nodes that confirm each other, with their simulations, take about
300 requests. The recent swaps of 30 venues take about 200."""
_OFFER_ORDERS: Final = 2
"""Number of orders sent to public aggregators, which limit anonymous clients to a few requests. Chosen."""
_MAX_RECENT: Final = 50  # a bound against mistakes; chosen

Report = Callable[[ProofItem], object]


class _Share(NamedTuple):
    """A stage's share of requests and of time, as parts of the sums over all stages. Later stages may use the rest."""

    check: Callable[[RunContext], Iterator[ProofItem]]
    requests: float
    time: float


_STAGES: Final = {
    ProofStage.NODES: _Share(check_nodes, 10, 10),
    ProofStage.QUOTES: _Share(check_quotes, 55, 40),
    ProofStage.SWAPS: _Share(check_swaps, 25, 25),
    ProofStage.OFFERS: _Share(check_offers, 10, 12),
    ProofStage.PROOFS: _Share(check_proofs, 0, 13),
}
"""The stages with their shares of the limits. Quotes take most requests, and each stage gets enough to check something.
Chosen."""


@checks_arguments
def prove(
    network: str,
    folder: str | PathLike[str] | None = None,
    *,
    fresh: bool = False,
    orders: int = DEFAULT_ORDERS,
    recent: int = DEFAULT_RECENT,
    aggregators: bool = True,
    time_s: float = DEFAULT_TIME_S,
    max_requests: int = DEFAULT_REQUESTS,
    rpc_url: str | None = None,
    settings: Mapping[str, object] | SourceChooser | None = None,
    report: Report | None = None,
) -> ProveReport:
    """Check quotes, payloads, mined swaps, offers and proofs on `network`, and write a report as HTML and JSON into
    `folder`.

    The default folder is `swapcli-proof-NETWORK`. It keeps finished checks, so a second run makes only the remaining
    ones, unless `fresh` starts over. The run quotes and simulates `orders` sample orders, and verifies the `recent`
    latest swaps of each venue. Unless `aggregators` is False, it requests offers from aggregators that need no key, for
    an address that no one owns. It takes about `time_s` seconds and sends at most `max_requests` requests to nodes:
    `rpc_url`, the nodes in the settings, or public nodes. `report` is called with each item when it is ready.

    An interrupted run still writes the report, with `was_interrupted`. The report's `check` raises if there is a
    difference. Raises `InvalidInput` for a folder that cannot be written and for a damaged journal, `UnknownNetwork`,
    `ConfigError`, and `InvalidOption` if there is no node.
    """
    _check_limits(orders, recent, time_s, max_requests)
    setup = _setup(settings, rpc_url)
    known = open_source_chooser(setup)
    found = known.networks.find(network)
    rules = setup.node_rules
    if rules.excludes_nodes:
        problem = f"prove needs a node of {found.name}, but {rules.why_no_node()}"
        raise InvalidOption(problem, hint=rules.hint_without_node(found))
    if not any(rules.quoted_nodes(found)):
        raise no_known_node(found)
    where = Path(folder) if folder is not None else Path(f"swapcli-proof-{found.name}")
    with open_journal(where, found, fresh=fresh) as journal:
        budget = RunBudget(max_requests, time_s)
        run = _Run(setup, found, journal, budget, SYSTEM_CLOCK, report or _ignore)
        return run.run(orders, recent, _OFFER_ORDERS if aggregators else 0)


class _Run:
    """One run of the stages."""

    def __init__(
        self, setup: UserSetup, network: Network, journal: Journal, budget: RunBudget, clock: Clock, report: Report
    ) -> None:
        self._network, self._journal, self._budget = network, journal, budget
        self._clock, self._report = clock, report
        self._privacy = Privacy(setup, network)
        checks = {"live": LiveMode.REQUIRE.value, "check": CheckMode.NEVER.value}
        self._setup = setup._replace(run_budget=budget)
        self._quoting = self._setup._replace(settings=override_settings(setup.settings, checks))
        self._unfinished: dict[tuple[ProofStage, str], ProofItem] = {}
        self._times: list[StageTime] = []

    def run(self, orders: int, recent: int, offer_orders: int) -> ProveReport:
        """Run the stages and write the report, even if the run is interrupted."""
        started_at_s, started_s = int(self._clock.now_s()), self._clock.monotonic_s()
        resumed = sum(len(self._journal.of(stage)) for stage in ProofStage)
        sources = open_source_chooser(self._setup)
        hosts = self._hosts(sources, bool(offer_orders))
        self._announce(hosts)
        was_interrupted = False
        try:
            quoting = open_source_chooser(self._quoting)
            with Market(quoting.open_live(self._network.name), quoting.nodes, quoting.networks.routers) as market:
                chosen = choose_orders(require_pools(market.source).known().whole(), orders)
                context = RunContext(
                    self._network, market, sources, self._journal, self._budget, self._keep,
                    chosen, recent, offer_orders,
                )  # fmt: skip
                self._run_stages(context)
        except (KeyboardInterrupt, Cancelled):
            was_interrupted = True
        result = ProveReport(
            self._network,
            self._journal.folder,
            tuple(self._items()),
            tuple(self._times),
            hosts,
            started_at_s,
            int(self._clock.now_s()),
            self._budget.sent,
            self._budget.max_requests,
            round(self._clock.monotonic_s() - started_s, 3),
            self._budget.time_s,
            _unchecked(self._network, offer_orders),
            resumed,
            was_interrupted,
            platform.python_version(),
        )
        self._journal.write_report(render_page(result), json_of(result.document()))
        return result

    def _run_stages(self, context: RunContext) -> None:
        left = list(_STAGES)
        for stage, share in _STAGES.items():
            of_requests, of_time = (
                sum(each) for each in zip(*((_STAGES[s].requests, _STAGES[s].time) for s in left), strict=True)
            )
            self._budget.limit(share.requests / of_requests if of_requests else 0.0, share.time / of_time)
            left.remove(stage)
            started_s, sent = self._clock.monotonic_s(), self._budget.sent
            try:
                for item in share.check(context):
                    self._keep(item)
            except Cancelled:
                raise
            except SwapcliError as error:
                self._keep(context.not_checked(stage, stage.value, stage.value, error.message))
            finally:
                time_s = round(self._clock.monotonic_s() - started_s, 3)
                self._times.append(StageTime(stage, time_s, self._budget.sent - sent))

    def _keep(self, item: ProofItem) -> None:
        clean = self._privacy.clean
        facts = {name: clean(value) for name, value in item.facts.items()}
        item = item._replace(
            title=clean(item.title), reason=clean(item.reason), token=clean(item.token), facts=facts,
            checked_at_s=int(self._clock.now_s()),
        )  # fmt: skip
        if item.is_finished:
            self._journal.add(item)
        else:
            self._unfinished[item.stage, item.id] = item
        self._report(item)

    def _items(self) -> Iterator[ProofItem]:
        for stage in ProofStage:
            yield from self._journal.of(stage)
            yield from (item for item in self._unfinished.values() if item.stage is stage)

    def _hosts(self, sources: SourceChooser, asks_aggregators: bool) -> tuple[str, ...]:
        """Return the hosts to contact, without the user's own nodes."""
        rules = sources.nodes.rules
        public = rules.public_nodes(self._network) if rules.named_nodes(self._network) is None else None
        nodes = [url.redacted for url in public.urls] if public else [OWN_NODE]
        hosts = open_aggregators(sources, self._network).hosts.values() if asks_aggregators else ()
        return tuple(dict.fromkeys([*map(self._privacy.clean, nodes), *hosts]))

    def _announce(self, hosts: tuple[str, ...]) -> None:
        self._setup.warn(
            f"the tokens and amounts of the sample orders are sent to {', '.join(hosts)}; their sender, "
            f"{UNOWNED_ADDRESS}, has no owner"
        )


def _setup(settings: Mapping[str, object] | SourceChooser | None, rpc_url: str | None) -> UserSetup:
    if isinstance(settings, SourceChooser):
        return settings.setup
    return program_setup(settings or {}, rpc_url=None if rpc_url is None else node_url("rpc_url", rpc_url))


def _check_limits(orders: int, recent: int, time_s: float, max_requests: int) -> None:
    """Raise `InvalidOption` for limits out of range."""
    for name, value, least, most in (
        ("orders", orders, 0, MAX_ORDERS),
        ("recent", recent, 0, _MAX_RECENT),
        ("time", time_s, 1, 86_400),
        ("max-requests", max_requests, 1, 1_000_000),
    ):
        if not least <= value <= most:
            raise InvalidOption(f"{name} must be from {least:,} to {most:,}", details={name: value})


def _unchecked(network: Network, offer_orders: int) -> tuple[str, ...]:
    """Return sentences on the limits of all checks."""
    sentences = [
        "Only the sample orders, at the listed blocks, were checked.",
        "A simulation runs on the state that a node reports, so it trusts that node.",
        "A proof covers only the pools it lists and the routes in its scope, which docs/proof.md defines.",
    ]
    unknown = [each.display_name for each in network.protocols if not each.family]
    if unknown:
        sentences.append(f"Protocols that swapcli does not compute were not checked: {', '.join(unknown)}.")
    if not offer_orders:
        sentences.append("No aggregator was contacted.")
    return tuple(sentences)


def _ignore(item: ProofItem) -> None:
    del item
