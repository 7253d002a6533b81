"""`swapcli plan`: sell a large order in parts over time, and build the part that is due."""

# No `from __future__ import annotations`: see `swapcli.startup`.

from typing import TYPE_CHECKING, Annotated

from swapcli import InvalidOption
from swapcli.core.records import NamedTuple
from swapcli.faces.cli import exit_codes, options
from swapcli.faces.cli.command_app import CommandApp, UsageError
from swapcli.faces.cli.files import write_text_file
from swapcli.faces.cli.options import (
    OUTPUT,
    OrderOptions,
    OutputOptions,
    PayloadOptions,
    SourceOptions,
    option,
    option_name,
    settings_of,
)
from swapcli.faces.cli.output import COMMON_FORMATS, TRANSACTION_FORMATS, OutputFormat
from swapcli.faces.cli.quote_context import open_quote_context, read_order, show_example, split_words
from swapcli.faces.cli.session import Session, open_session

if TYPE_CHECKING:
    from swapcli import Plan

PUBLIC = ()

_PLAN, _PART = "Plan", "Parts of a saved plan"


class PlanOptions(NamedTuple):
    """Options for how to plan the order."""

    over: Annotated[str | None, option("--over", "Duration of the whole sale: 4h or 2d.", _PLAN, "DURATION")] = None
    parts: Annotated[str | None, option("--parts", "Number of parts, or auto.  [default: auto]", _PLAN, "N")] = None
    risk: Annotated[
        str | None,
        option("--risk", "Weight of the price risk.  [default: none]", _PLAN, "none|low|medium|high"),
    ] = None
    start: Annotated[str | None, option("--start", "Start time: 20m, +1200 or Unix seconds.", _PLAN, "TIME")] = None
    band: Annotated[
        str | None,
        option("--band", "Maximum price difference from the plan.", _PLAN, "PERCENT"),
    ] = None


class PlanOutputs(NamedTuple):
    """Options for the files that receive a plan."""

    save: Annotated[str | None, option("--save", "Also write the plan to this new file.", OUTPUT, "FILE")] = None
    orders: Annotated[
        str | None, option("--orders", "Also write the parts as orders for route --batch.", OUTPUT, "FILE")
    ] = None


class PartOptions(NamedTuple):
    """Options for continuing a saved plan."""

    next_part: Annotated[str | None, option("--next", "Build this plan's due part.", _PART, "FILE")] = None
    done: Annotated[str | None, option("--done", "Mark this plan's built part as executed.", _PART, "FILE")] = None


app = CommandApp()


@app.command(formats=(*TRANSACTION_FORMATS, OutputFormat.SVG))
def plan(
    network: options.NetworkNameOrDefault = None,
    token_in: options.TokenIn = None,
    token_out: options.TokenOut = None,
    amount: options.Amount = None,
    *,
    planning: PlanOptions,
    part: PartOptions,
    order: OrderOptions,
    payload: PayloadOptions,
    source: SourceOptions,
    outputs: PlanOutputs,
    output: OutputOptions,
) -> int:
    """Sell a large order in parts over time.

    \b
    Examples:
      swapcli plan base ETH USDC 2000 --over 4h --save plan.json
      swapcli plan base ETH USDC 500 --over 1h --parts 4 --offline

    The plan has the time and the amount of each part. --next builds the due part, like swapcli calldata. After you have
    executed it, --done moves on to the next part. Nothing is signed or sent.

    See also: swapcli help plan.
    """
    words = (network, token_in, token_out, amount)
    saved = [name for name, value in (("--next", part.next_part), ("--done", part.done)) if value is not None]
    if saved:
        _check_saved(saved, words, planning, outputs)
        if part.done is not None:
            return _mark_done(part.done, output)
        from swapcli.faces.cli.commands.plan.next_part import build_next_part

        assert part.next_part is not None
        return build_next_part(part.next_part, network, order, payload, source, output)
    return _make_plan(words, planning, order, payload, source, outputs, output)


def _check_saved(saved: list[str], words: tuple[str | None, ...], planning: PlanOptions, outputs: PlanOutputs) -> None:
    """Raise an error for words and options that a saved plan already contains."""
    if len(saved) > 1:
        raise InvalidOption("--next and --done cannot be combined", hint="use only one of them")
    given = [*words[1:], *planning, *outputs]
    if any(value is not None for value in given):
        raise UsageError(f"{saved[0]} takes the order from the plan file: remove the order and its options")


def _mark_done(name: str, output: OutputOptions) -> int:
    from swapcli import mark_part_done

    session = open_session(output)
    result = mark_part_done(name)
    if session.output.format is OutputFormat.JSON:
        session.output.print_document(result)
    else:
        from swapcli.faces.cli.commands.plan.view import build_progress_details

        session.output.print_details(build_progress_details(result))
    return exit_codes.OK


def _make_plan(
    words: tuple[str | None, ...],
    planning: PlanOptions,
    order: OrderOptions,
    payload: PayloadOptions,
    source: SourceOptions,
    outputs: PlanOutputs,
    output: OutputOptions,
) -> int:
    from swapcli.quoting.planning.plan import check_new_file
    from swapcli.quoting.planning.plan_terms import parse_plan_terms
    from swapcli.state.clock import SYSTEM_CLOCK

    values = {**planning._asdict(), "max_impact": payload.max_impact}
    terms = parse_plan_terms(values, SYSTEM_CLOCK.now_s(), option_name)
    if order.proof is not None:
        raise InvalidOption("--proof cannot be combined with a plan", hint="remove it")
    if outputs.save is not None:
        check_new_file(outputs.save)
    flags = settings_of(order, source)
    session = open_session(
        output, flags, rpc_url=source.rpc_url, offline=source.offline, formats=(*COMMON_FORMATS, OutputFormat.SVG)
    )
    network, found = split_words(session, words)
    if len(found) != 3:
        raise UsageError(f"TOKEN_IN, TOKEN_OUT and AMOUNT are required, as in {_example(found, network)}")
    written = read_order(found, "plan", network, raw=order.raw)
    context = open_quote_context(session, network, order)
    if context.options.reverse:
        raise InvalidOption("--reverse cannot be combined with a plan", hint="remove it")
    from swapcli.faces.garbage_collection import enable_garbage_collection

    enable_garbage_collection()
    made = context.market.plan_order(context.build_order(written), context.options, terms)
    if outputs.save is not None:
        made.write(outputs.save)
    if outputs.orders is not None:
        write_text_file(outputs.orders, made.orders())
        if made.limits.options():
            session.output.note(f"route --batch needs the plan's limits: {' '.join(made.limits.options())}")
    _print(session, made)
    return exit_codes.OK


def _example(words: list[str], network: str) -> str:
    return f"{show_example(words, 'plan', network, '2000')} --over 4h"


def _print(session: Session, made: "Plan") -> None:
    output = session.output
    if output.format is OutputFormat.JSON:
        output.print_document(made)
        return
    output.warn(made.warnings, is_labelled=output.is_for_people)
    if output.format is OutputFormat.SVG:
        output.print_picture(made.svg())
        return
    from swapcli.faces.cli.commands.plan.view import build_plan_details

    output.print_details(build_plan_details(made))
