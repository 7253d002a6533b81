"""The output of `calldata` and `execute`: warnings, and the transaction in each format."""

from __future__ import annotations

from collections.abc import Callable

from swapcli import PreparedRoute, PreparedSwap
from swapcli.faces.cli.account_options import name_fields
from swapcli.faces.cli.options import PayloadOptions
from swapcli.faces.cli.output import COMMON_FORMATS, OutputFormat
from swapcli.faces.cli.session import Session
from swapcli.payload.transactions_to_send import RenderedTransaction


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


def print_payload(
    session: Session,
    prepared: PreparedSwap | PreparedRoute,
    options: PayloadOptions,
    print_view: Callable[[list[RenderedTransaction]], None],
) -> None:
    """Print a transaction in the requested format: for another tool, as JSON, or as a table or plain text."""
    output, built = session.output, prepared.built
    output.warn((*prepared.warnings, *(prepared.verdict.findings if prepared.verdict else ())))
    if output.format is OutputFormat.JSON:
        output.print_document(prepared._replace(account_names=name_fields(session)))
        return
    transactions = built.transactions()
    if output.format not in COMMON_FORMATS:
        from swapcli.faces.cli.render.transaction_formats import PayloadParts, format_transactions

        output.end_waiting()
        print(format_transactions(output.format, PayloadParts(transactions, prepared.network, prepared.figures)))
        return
    if built.is_allowance_unchecked and not options.with_approval:
        output.note("the router must be approved first: --with-approval adds the approval transaction")
    print_view(transactions if options.with_approval else transactions[-1:])


def shows_full_calldata(session: Session, options: PayloadOptions) -> bool:
    """Return whether calldata is printed in full. Only a table on a terminal shortens it."""
    import sys

    return options.full or session.output.format is not OutputFormat.TABLE or not sys.stdout.isatty()
