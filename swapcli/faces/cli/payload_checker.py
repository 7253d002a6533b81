"""`--simulate` and `--from`: check a transaction on a node before it is printed."""

from __future__ import annotations

from swapcli import InvalidOption, Network
from swapcli.faces.cli.account_options import SENDER, parse_account_option
from swapcli.faces.cli.options import PayloadOptions, option_name
from swapcli.faces.cli.session import Session
from swapcli.quoting.review.presign_checker import PayloadChecker, new_checker
from swapcli.quoting.swap_builder import RequestedChecks


def open_checker(session: Session, network: Network, options: PayloadOptions) -> PayloadChecker | None:
    """Return the checker, or None without the options. Raises `InvalidOption` without a node, `InvalidAddress`."""
    if not options.simulate and options.sender is None:
        return None
    flag = "--simulate" if options.simulate else "--from"
    if not network.kind.traits.has_eth_nodes:
        raise InvalidOption(f"{flag} works on EVM networks only, not on {network.name}")
    sender = None if options.sender is None else parse_account_option(options.sender, network, session, SENDER)
    node = session.nodes.node_for(f"{flag} needs a node", network)
    from swapcli.payload.checks.presign_checks import CheckOptions

    max_fee_usd = session.settings.max_fee_usd
    requested = CheckOptions(options.simulate, sender, max_fee_usd, allows_fees=options.allow_fees)
    return new_checker(session.nodes, session.routers, network, node, requested)


def requested_checks(checker: PayloadChecker | None, options: PayloadOptions) -> RequestedChecks:
    """Return the checks of the command line, whose errors name its options."""
    return RequestedChecks(checker, options.with_approval, option_name)
