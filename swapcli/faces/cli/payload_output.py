"""The output of `calldata` and `execute`: warnings, and the transaction in each format."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from swapcli.core.model.finding import Finding
from swapcli.core.model.network import Network
from swapcli.core.model.quote_figures import QuoteFigures
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.transaction import UnsignedTransaction
from swapcli.core.records import NamedTuple
from swapcli.faces.cli.account_options import name_fields
from swapcli.faces.cli.options import PayloadOptions, option_name
from swapcli.faces.cli.output import COMMON_FORMATS, OutputFormat
from swapcli.faces.cli.render.payload_json import simulation_field, transactions_field
from swapcli.faces.cli.session import Session
from swapcli.payload.checks.payload_findings import payload_findings
from swapcli.payload.transactions_to_send import RenderedTransaction, missing_fields, render_transactions
from swapcli.quoting.review.presign_checker import has_own_router

if TYPE_CHECKING:
    from swapcli.payload.checks.presign_checks import PayloadCheck
    from swapcli.payload.payloads_by_variant import RoutePayloads
    from swapcli.payload.verdict.verdict import Verdict


def parse_deadline(options: PayloadOptions, signature: str | None = None) -> tuple[int | None, int | None]:
    """Return the Unix time of --deadline, and the seconds until then if it is a duration; None without one.

    --permit and --signature need it, and count from this machine's clock.

    Raises `InvalidOption`, and `InvalidDeadline` if it has passed.
    """
    if options.deadline is None and not options.permit and signature is None:
        return None, None
    from swapcli.faces.cli.permits import parse_permit_deadline
    from swapcli.payload.signing.deadlines import parse_duration_s

    deadline_s = parse_permit_deadline(options, signature)
    is_signed = options.permit or signature is not None
    return deadline_s, None if is_signed or options.deadline is None else parse_duration_s(options.deadline)


class PreparedPayload(NamedTuple):
    """A transaction with the results of its checks and its warnings, and how it is built for other variants."""

    payload: UnsignedTransaction
    network: Network
    checked: PayloadCheck | None
    warnings: tuple[Finding, ...] = ()
    variants: RoutePayloads | None = None
    verdict: Verdict | None = None


def add_warnings(
    session: Session, prepared: PreparedPayload, on_quote: tuple[Finding, ...], *, with_approval: bool
) -> PreparedPayload:
    """Return the transaction with the warnings on its quote, its router and its checks.

    Raises `VerdictBlocks` if the verdict says so.
    """
    payload, network, checked, _, variants, verdict = prepared
    settings = session.settings
    if verdict:
        verdict.settle(option_name)
    is_own = has_own_router(settings, network)
    warnings = payload_findings(
        on_quote, payload, network, checked, variants, has_own_router=is_own, with_approval=with_approval
    )
    return prepared._replace(warnings=warnings)


def print_payload(
    session: Session,
    prepared: PreparedPayload,
    figures: QuoteFigures,
    options: PayloadOptions,
    build_document: Callable[[RenderedTransaction], dict[str, Any]],
    print_view: Callable[[list[RenderedTransaction]], None],
) -> None:
    """Print a transaction in the requested format: for another tool, as JSON, or as a table or plain text."""
    output = session.output
    payload, network, checked, warnings, _, verdict = prepared
    transactions = render_transactions(payload, network, checked)
    swap = transactions[-1]
    output.warn((*warnings, *(verdict.findings if verdict else ())))
    if output.format not in COMMON_FORMATS:
        from swapcli.faces.cli.render.transaction_formats import PayloadParts, format_transactions

        output.end_waiting()
        print(format_transactions(output.format, PayloadParts(transactions, network, figures)))
        return
    if output.format is not OutputFormat.JSON:
        if _is_allowance_unchecked(prepared) and not options.with_approval:
            output.note("the router must be approved first: --with-approval adds the approval transaction")
        print_view(transactions if options.with_approval else [swap])
        return
    document = build_document(swap) | name_fields(session)
    document["transactions"] = transactions_field(transactions)
    if swap.request is not None:
        document["missing"] = missing_fields(transactions)
    if checked and checked.simulation:
        document["simulation"] = simulation_field(checked.simulation, network)
    if verdict:
        document["verdict"] = verdict.document()
    output.print_document(document)


def _is_allowance_unchecked(prepared: PreparedPayload) -> bool:
    """Return whether the swap needs an allowance that was not checked on a node."""
    is_native = prepared.payload.call.route.swap_type is SwapType.NATIVE_TO_TOKEN
    return not is_native and (prepared.checked is None or prepared.checked.holdings is None)


def shows_full_calldata(session: Session, options: PayloadOptions) -> bool:
    """Return whether calldata is printed in full. Only a table on a terminal shortens it."""
    import sys

    return options.full or session.output.format is not OutputFormat.TABLE or not sys.stdout.isatty()
