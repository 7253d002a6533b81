"""What `calldata` and `execute` share: who receives, what is warned of, and how a payload is printed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from swapcli.cli.options import PayloadOptions
from swapcli.cli.output import OutputFormat
from swapcli.cli.render.payload_json import select_field, simulation_field, transactions_field
from swapcli.cli.render.transactions import RenderedTransaction, render_swap, render_transactions
from swapcli.cli.session import Session
from swapcli.cli.simulation_options import check_warnings
from swapcli.engine.warnings import payload_warnings
from swapcli.errors import InvalidAddress, InvalidOption
from swapcli.model.network import Network
from swapcli.model.swap_terms import SwapTerms
from swapcli.model.transaction import SwapType, UnsignedTransaction
from swapcli.model.warning import QuoteWarning
from swapcli.networks.address import is_native


def swap_terms(recipient: str | None, slippage_ppm: int, network: Network) -> SwapTerms:
    """How the swap is to be carried out. Raises `InvalidOption`, `InvalidAddress` where nobody can receive."""
    if recipient is None:
        raise InvalidOption("a payload needs to know who receives the output", hint="add --destination ADDRESS")
    if is_native(recipient, network.kind):
        raise InvalidAddress(
            "--destination: what the native token's placeholder receives is lost", hint="give your wallet's address"
        )
    return SwapTerms(slippage_ppm, recipient)


if TYPE_CHECKING:
    from swapcli.engine.payload_checks import Checked


class PreparedPayload(NamedTuple):
    """A payload, what was found of it where it was checked, and all that it is warned of."""

    payload: UnsignedTransaction
    network: Network
    checked: Checked | None
    warnings: tuple[QuoteWarning, ...] = ()


def add_warnings(
    session: Session, ready: PreparedPayload, of_quote: tuple[QuoteWarning, ...], *, with_approval: bool
) -> PreparedPayload:
    """Return the payload with its warnings: those of its quote, of its router, and of what was found."""
    payload, network, checked, _ = ready
    own = session.settings.networks.get(network.name)
    warnings = payload_warnings(
        of_quote,
        payload,
        network,
        is_router_own=own is not None and own.router is not None,
        is_simulated=checked is not None and checked.simulation is not None,
    )
    found = check_warnings(checked, payload, with_approval=with_approval) if checked else ()
    return ready._replace(warnings=(*warnings, *found))


def print_payload(
    session: Session,
    ready: PreparedPayload,
    options: PayloadOptions,
    document: Callable[[RenderedTransaction], dict[str, Any]],
    people: Callable[[list[RenderedTransaction]], None],
) -> None:
    """The payload in the form that is asked for: one field, the JSON `print_document`, or what `people` read."""
    output, (payload, network, checked, warnings) = session.output, ready
    swap = render_swap(payload, network)
    sendings = (
        render_transactions(payload, network, (checked and checked.allowance) or 0) if options.with_approval else [swap]
    )
    output.warn(warnings)
    if options.get is None and output.format is not OutputFormat.JSON:
        if _is_allowance_unchecked(ready) and not options.with_approval:
            output.note("the router needs an allowance first: --with-approval adds its transaction")
        people(sendings)
        return
    told = document(swap)
    if options.with_approval:
        told["transactions"] = transactions_field(sendings)
    if checked and checked.simulation:
        told["simulation"] = simulation_field(checked.simulation, network)
    if options.get is None:
        output.print_document(told)
    else:
        print(select_field(told, options.get))
        output.flush_notes()


def _is_allowance_unchecked(ready: PreparedPayload) -> bool:
    """Nobody has looked, and it takes one."""
    is_native = ready.payload.call.route.swap_type is SwapType.NATIVE_TO_TOKEN
    return not is_native and (ready.checked is None or ready.checked.holdings is None)


def shows_full_calldata(session: Session, options: PayloadOptions) -> bool:
    """Is calldata told whole? Only a table on a terminal leaves its middle out."""
    import sys

    return options.full or session.output.format is not OutputFormat.TABLE or not sys.stdout.isatty()
