"""The options and the output of `calldata` and `execute`: checks on a node, and the transaction in each format."""

from __future__ import annotations

from collections.abc import Callable

from swapcli import Network, PreparedRoute, PreparedSwap
from swapcli.core.model.swap_terms import HANDOFF_LIFETIME_S
from swapcli.faces.cli.account_options import SENDER, name_fields, parse_account_option
from swapcli.faces.cli.options import PayloadOptions, option_name
from swapcli.faces.cli.output import COMMON_FORMATS, HANDOFF_FORMATS, Output, OutputFormat
from swapcli.faces.cli.session import Session
from swapcli.payload.transactions_to_send import RenderedTransaction
from swapcli.quoting.review.presign_checker import AnyChecker, new_checker
from swapcli.quoting.swap_builder import RequestedChecks


def open_checker(session: Session, network: Network, options: PayloadOptions) -> AnyChecker | None:
    """Return the checker for --simulate or --from, or None without these options. Raises `InvalidOption` without a
    node, and `InvalidAddress`."""
    if not options.simulate and options.sender is None:
        return None
    flag = "--simulate" if options.simulate else "--from"
    sender = None if options.sender is None else parse_account_option(options.sender, network, session, SENDER)
    from swapcli.payload.checks.presign_checks import CheckOptions

    max_fee_usd = session.settings.max_fee_usd
    requested = CheckOptions(options.simulate, sender, max_fee_usd, allows_fees=options.allow_fees)
    if not network.kind.traits.has_eth_nodes:
        from swapcli.quoting.review.account_checker import new_account_checker

        return new_account_checker(session.nodes, network, requested, "--simulate")
    node = session.nodes.node_for(f"{flag} needs a node", network)
    return new_checker(session.nodes, session.routers, network, node, requested)


def requested_checks(session: Session, checker: AnyChecker | None, options: PayloadOptions) -> RequestedChecks:
    """Return the checks requested on the command line, with errors that name its options."""
    return RequestedChecks(checker, _shows_approvals(session.output, options), option_name)


def _shows_approvals(output: Output, options: PayloadOptions) -> bool:
    """Return whether the output has the approvals: text only on request, documents always, single fields possibly."""
    is_text = output.format in (OutputFormat.PLAIN, OutputFormat.TABLE)
    return options.with_approval or not (is_text or output.fields)


def parse_deadline(options: PayloadOptions, signature: str | None = None) -> tuple[int | None, int | None]:
    """Return the Unix time of --deadline, and the seconds until then if it is a duration. Both are None if it is
    missing.

    --permit and --signature need a deadline, and count it from this machine's clock.

    Raises `InvalidOption`, and `InvalidDeadline` if it has passed.
    """
    if options.deadline is None and not options.permit and signature is None:
        return None, None
    from swapcli.faces.cli.permits import parse_permit_deadline
    from swapcli.payload.signing.deadlines import parse_duration_s

    deadline_s = parse_permit_deadline(options, signature)
    is_signed = options.permit or signature is not None
    return deadline_s, None if is_signed or options.deadline is None else parse_duration_s(options.deadline)


def required_lifetime_s(session: Session) -> int:
    """Return how many seconds the transaction must stay valid in the output's format, or 0 if it does not matter."""
    return HANDOFF_LIFETIME_S if session.output.format in HANDOFF_FORMATS else 0


def print_payload(
    session: Session,
    prepared: PreparedSwap | PreparedRoute,
    options: PayloadOptions,
    print_view: Callable[[list[RenderedTransaction]], None],
) -> None:
    """Print a transaction in the requested format: for another tool, as JSON, or as a table or plain text."""
    output, built = session.output, prepared.built
    findings = (*prepared.warnings, *(prepared.verdict.findings if prepared.verdict else ()))
    if output.format is OutputFormat.JSON:
        output.warn(findings)
        output.print_document(prepared._replace(account_names=name_fields(session)))
        return
    transactions = built.transactions()
    if output.format not in COMMON_FORMATS:
        from swapcli.faces.cli.render.transaction_formats import format_transactions

        output.end_waiting()
        output.warn(findings)
        print(format_transactions(output.format, prepared), flush=True)
        return
    # Before the view, so that a closed pipe does not hide them; they are printed after it.
    output.warn(findings, is_labelled=True, is_explained=True)
    print_view(transactions if options.with_approval else transactions[-1:])
    if built.is_allowance_unchecked and not options.with_approval:
        output.note("approve the router first: --with-approval adds the approval transaction")


def shows_full_calldata(session: Session, options: PayloadOptions) -> bool:
    """Return whether calldata is printed in full. Only a table on a terminal shortens it."""
    import sys

    return options.verbose or session.output.format is not OutputFormat.TABLE or not sys.stdout.isatty()
