"""The comparison of ways to fill an order, as text, JSON and CSV."""

from __future__ import annotations

from collections.abc import Iterator

from swapcli import Alternative, AlternativeKind, Comparison, NoRoute, SimulationOutcome
from swapcli.core.encoding.text import printable
from swapcli.core.model.number_format import format_short_amount, format_usd
from swapcli.core.model.token import in_tokens
from swapcli.core.networks.address import display_address
from swapcli.faces.cli.render.csv_order import order_columns
from swapcli.faces.cli.render.detail_view import DetailView
from swapcli.faces.cli.render.list_view import Column, ListView
from swapcli.faces.cli.render.quote_facts import Fact, certificate_facts, short_amount, symbol
from swapcli.faces.cli.render.state_wording import describe_block, describe_origin, state_columns, unreal_label
from swapcli.quoting.alternatives import REMOTE_KINDS

_NAMES = {
    AlternativeKind.SPLIT: "split",
    AlternativeKind.SINGLE_PATH: "single path",
    AlternativeKind.DIRECT: "direct",
}
_OUTCOMES = {
    SimulationOutcome.PAID: "simulated",
    SimulationOutcome.REPLAYED: "replayed",
    SimulationOutcome.FAILED: "fails",
    SimulationOutcome.NOT_SIMULATED: "not simulated",
}
_UNKNOWN = "unknown"


def build_comparison_details(found: Comparison) -> DetailView:
    """Build the view of a comparison: a row for each alternative with an amount, and the reasons why others have
    none."""
    order = found.order
    best, _ = found.alternatives[0].shown_amounts
    bought = symbol(order.token_out) if best is None else short_amount(best, order.token_out)
    title = f"{in_tokens(order.amount, order.token_in)} → {bought} on {found.network.name}"
    shown = [each for each in found.alternatives if each.amount_out is not None]
    rows = [_row(found, each) for each in shown]
    columns = comparison_columns(symbol(order.token_out), is_simulated=found.is_simulated)
    listing = ListView(columns, tuple(rows))
    label = unreal_label(found.figures.state) if found.figures else ""
    footer = "\n".join(_footer(found))
    return DetailView(printable(title), tuple(_facts(found)), lists=(listing,) * bool(rows), footer=footer, label=label)


def comparison_columns(bought: str, *, is_simulated: bool = False) -> tuple[Column, ...]:
    """Return the columns of the comparison. `bought` is the symbol of the bought token.

    With simulations, the simulated amount comes before the quoted one.
    """
    return (
        Column("way"),
        *(
            (Column(f"pays {bought}"), Column("quotes", drop_order=3))
            if is_simulated
            else (Column(bought, is_symbol=True),)
        ),
        Column("vs split"),
        Column("gas", drop_order=4 if is_simulated else 3),
        Column("after gas", drop_order=2),
        Column("time", is_whole=True, drop_order=1),
        Column("note"),
    )


def _footer(found: Comparison) -> Iterator[str]:
    """Yield why alternatives have no amount or fail in a simulation, and how many protocols have no route on their
    own."""
    for each in found.alternatives:
        if each.amount_out is None and not _is_quiet(each):
            message = printable(each.error.message) if each.error else "no response"
            yield f"{_way(each)}: {', '.join(filter(None, [message, _package_note(each)]))}"
        elif each.simulation and each.simulation.reason:
            yield f"{_way(each)}: {printable(each.simulation.reason)}"
    count = sum(map(_is_quiet, found.alternatives))
    if count:
        more = f"{count} more protocol{'s' if count > 1 else ''} cannot fill the order alone"
        yield f"{more}; --json and --format csv list {'them' if count > 1 else 'it'}."


def csv_documents(found: Comparison) -> tuple[dict[str, object], ...]:
    """Return the alternatives as CSV rows, each with the order, the state's kind and the source of the gas value.

    The warnings are those of the split route, and apply to all rows quoted on this machine.
    """
    own, warnings = (found.figures.state, found.figures.warnings) if found.figures else (None, ())
    is_own = [each.kind not in REMOTE_KINDS for each in found.alternatives]
    states = [each.state or (own if here else None) for each, here in zip(found.alternatives, is_own, strict=True)]
    rows = zip(found.rows(), states, is_own, strict=True)
    order, source = found.order, {"gasValueSource": found.gas_value_source}
    first = {**order_columns(found.network, order.token_in, order.token_out), "inputAmount": str(order.amount)}
    return tuple(
        {**first, **row, **source, **state_columns(state, warnings if here else ())} for row, state, here in rows
    )


def _facts(found: Comparison) -> Iterator[Fact]:
    if found.figures:
        if not unreal_label(found.figures.state):
            yield Fact("State", describe_origin(found.figures.state), "except services and aggregators")
        yield Fact("Best", _way(found.alternatives[0]), _gain(found))
        yield from certificate_facts(found.figures)
    if found.sender is not None:
        block = next((each.simulation.block for each in found.alternatives if each.simulation), None)
        shown = "no payload" if block is None else f"payloads at block {block:,}"
        yield Fact("Simulated", shown, f"sender {display_address(found.sender, found.network.kind)}")


def _is_quiet(each: Alternative) -> bool:
    return each.kind is AlternativeKind.PROTOCOL and isinstance(each.error, NoRoute)


def _row(found: Comparison, each: Alternative) -> tuple[str, ...]:
    decimals = found.order.token_out.decimals
    says = _whole(each.amount_out, decimals)
    return (
        _way(each),
        *(("" if _is_unproven(each) else _whole(each.amount_paid, decimals), says) if found.is_simulated else (says,)),
        _bps(found.versus_split_bps(each)),
        _gas(each),
        _whole(each.paid_after_gas, decimals),
        "" if each.time_s is None else f"{each.time_s * 1000:,.0f} ms",
        _note(each),
    )


def _is_unproven(each: Alternative) -> bool:
    """Return whether nothing proves an alternative's output, or it pays nothing."""
    is_said = each.simulation is None or each.simulation.outcome is SimulationOutcome.NOT_SIMULATED
    return is_said or each.amount_paid is None


def _whole(amount: int | None, decimals: int) -> str:
    return _UNKNOWN if amount is None else format_short_amount(amount, decimals)


def _way(each: Alternative) -> str:
    return _NAMES.get(each.kind) or printable(each.name)


def _gain(found: Comparison) -> str:
    """Say how much more the best alternative pays than the next one, both after gas."""
    second = found.versus_best_bps(found.alternatives[1]) if len(found.alternatives) > 1 else None
    if second is None:
        return ""
    shown = f"{abs(second):,.2f}"
    return "the next is equal, after gas" if shown == "0.00" else f"{shown} bps more than the next, after gas"


def _note(each: Alternative) -> str:
    """Return a note on an alternative's simulation, a service's state, or an aggregator's package."""
    return ", ".join(filter(None, [_simulation_note(each), _state_note(each), _package_note(each)]))


def _package_note(each: Alternative) -> str:
    return printable(f"added by {each.package}") if each.package else ""


def _simulation_note(each: Alternative) -> str:
    return "" if each.simulation is None else _OUTCOMES[each.simulation.outcome]


def _state_note(each: Alternative) -> str:
    if each.kind is not AlternativeKind.SERVICE or each.state is None or each.state.kind is None:
        return ""
    return ", ".join(filter(None, [each.state.kind, describe_block(each.state)]))


def _gas(each: Alternative) -> str:
    units, usd = each.gas_paid
    if usd is not None:
        return format_usd(usd)
    return _UNKNOWN if units is None else f"{units:,} units"


def _bps(difference: float | None) -> str:
    return _UNKNOWN if difference is None else f"{difference:+,.2f} bps" if difference else "0"
