"""`--simulate` and `--from`: check a transaction on a node before it is printed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from swapcli.cli.account_options import SENDER, parse_account_option
from swapcli.cli.options import PayloadOptions
from swapcli.cli.session import Session
from swapcli.engine.live_choice import missing_node_hint
from swapcli.engine.payload_checker import PayloadChecker, new_checker
from swapcli.errors import InvalidOption
from swapcli.model.network import Kind, Network
from swapcli.records import NamedTuple

if TYPE_CHECKING:
    from swapcli.api.route_result import RouteResult
    from swapcli.engine.sources.quote_source import QuoteSource
    from swapcli.model.pool import Pool
    from swapcli.model.state_source import StateSource
    from swapcli.model.token import Token
    from swapcli.model.transaction import UnsignedTransaction
    from swapcli.payload.verdict import Verdict


class BuiltSwap(NamedTuple):
    """A payload with its route on `pools` (by key), None where they are unknown, the tokens that it trades, and the
    source of its quote.

    `network` has the reading of the router that the payload is built for.
    """

    payload: UnsignedTransaction
    result: RouteResult
    pools: Mapping[str, Pool] | None
    network: Network
    ends: tuple[Token, Token]
    origin: StateSource
    source: QuoteSource


def judge_built(session: Session, built: BuiltSwap, sender: str | None) -> Verdict | None:
    """Return the verdict on a payload, None if the settings name no node for it. Raises `InvalidOption`."""
    if not session.checks_swaps(built.network):
        return None
    from swapcli.engine.presign_checks import TradedTokens
    from swapcli.engine.swap_rehearsal import JudgedSwap
    from swapcli.engine.verdict import judge

    payload, result, pools, network, ends, origin, source = built
    tokens = TradedTokens(*ends, network.native)
    known = source.known_pools({payload.call.route.token_in, payload.call.route.token_out}) or {}
    return judge(session, JudgedSwap(payload, result, pools, network, tokens, origin), sender, known)


def open_checker(session: Session, network: Network, options: PayloadOptions) -> PayloadChecker | None:
    """Return the checker, or None without the options. Raises `InvalidOption` without a node, `InvalidAddress`."""
    if not options.simulate and options.sender is None:
        return None
    flag = "--simulate" if options.simulate else "--from"
    if network.kind is not Kind.EVM:
        raise InvalidOption(f"{flag} works on EVM networks only, not on {network.name}")
    sender = None if options.sender is None else parse_account_option(options.sender, network, session, SENDER)
    node = session.node(network)
    if node is None:
        problem = session.node_rules.why_none()
        raise InvalidOption(f"{flag} needs a node of {network.name}, but {problem}", hint=missing_node_hint(network))
    from swapcli.engine.presign_checks import CheckOptions

    max_fee_usd = session.settings.max_fee_usd
    requested = CheckOptions(options.simulate, sender, max_fee_usd, allows_fees=options.allow_fees)
    return new_checker(session, network, node, requested)
