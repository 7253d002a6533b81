"""A plan as a table or plain text: its parts, its costs compared with a single swap, and how the pools refill."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from swapcli import Plan, PlanProgress, Token
from swapcli.core.encoding.text import printable, printable_lines
from swapcli.core.execution.schedule import CostForecast
from swapcli.core.model.number_format import (
    ROUGH_DIGITS,
    SHORT_DIGITS,
    format_duration,
    format_percentage,
    format_short_amount,
    format_significant,
    format_time,
)
from swapcli.core.model.token import in_tokens, whole_tokens
from swapcli.faces.cli.render.detail_view import DetailView
from swapcli.faces.cli.render.list_view import Column, ListView
from swapcli.faces.cli.render.quote_facts import Fact, symbol
from swapcli.faces.cli.render.state_wording import describe_origin, unreal_label

_HOUR_S = 3_600


def build_plan_details(plan: Plan) -> DetailView:
    """Build the view of a plan."""
    sold, count = in_tokens(plan.amount_in, plan.token_in), len(plan.schedule.parts)
    parts = f"{count} part{'s' if count != 1 else ''} over {format_duration(plan.terms.horizon_s)}"
    title = f"{sold} → {_bought(plan)} in {parts} on {plan.network.name}"
    lists = (_part_list(plan), _cost_list(plan))
    return DetailView(
        printable(title), tuple(_facts(plan)), lists=lists, footer=_footer(plan), label=unreal_label(plan.state)
    )


def build_progress_details(progress: PlanProgress) -> DetailView:
    """Build the view of a saved plan after a part was done."""
    sold = symbol(progress.token_in)
    done = f"Part {progress.done.number} of {len(progress.parts)} is done"
    title = f"{done}: {sold} → {symbol(progress.token_out)} on {progress.network_name}"
    waiting = [part for part in progress.parts if part.status != "done"]
    remaining = in_tokens(sum(part.amount_in for part in waiting), progress.token_in)
    following = f"part {waiting[0].number} at {format_time(waiting[0].time_s)}" if waiting else "none: all are done"
    facts = (Fact("Next", following), Fact("Remaining", remaining))
    rows = tuple(
        (
            str(part.number),
            format_time(part.time_s),
            whole_tokens(part.amount_in, progress.token_in.decimals),
            part.status,
        )
        for part in progress.parts
    )
    return DetailView(printable(title), facts, lists=(ListView(progress_columns(sold), rows),))


def part_columns(sold: str, bought: str) -> tuple[Column, ...]:
    """Return the columns of the table of parts. `sold` and `bought` are the tokens' symbols."""
    return (
        Column("part", is_whole=True),
        Column("time", is_whole=True),
        Column(sold, is_symbol=True),
        Column(f"expected {bought}"),
        Column("impact", is_whole=True, drop_order=1),
    )


def progress_columns(sold: str) -> tuple[Column, ...]:
    """Return the columns of the table of a saved plan's parts. `sold` is the sold token's symbol."""
    return (
        Column("part", is_whole=True),
        Column("time", is_whole=True),
        Column(sold, is_symbol=True),
        Column("status", is_whole=True),
    )


def cost_columns(bought: str) -> tuple[Column, ...]:
    """Return the columns of the table of forecasts. `bought` is the bought token's symbol."""
    return (
        Column("forecast", readable_width=18),
        Column(f"expected {bought}"),
        Column(f"cost {bought}"),
        Column(f"impact {bought}", drop_order=2),
        Column(f"gas {bought}", drop_order=1),
        Column("90% of costs", readable_width=20, drop_order=3),
        Column("price risk", drop_order=4),
    )


def _facts(plan: Plan) -> Iterator[Fact]:
    if not unreal_label(plan.state):
        yield Fact("State", describe_origin(plan.state))
    yield from _measured_facts(plan)
    yield _gain(plan)
    bought = symbol(plan.token_out)
    pair = f"{bought} per {symbol(plan.token_in)}"
    low, high = (format_significant(Decimal(float(price)), SHORT_DIGITS) for price in plan.band)
    yield Fact("Price band", f"{low} to {high}", f"{pair}; parts at other prices are rejected")


def _gain(plan: Plan) -> Fact:
    schedule, token = plan.schedule, plan.token_out
    if schedule.extremes is not None:
        gains = [schedule.one_shot.cost - forecast.cost for forecast in schedule.extremes]
        shown = " to ".join(_estimate(gain, token) for gain in gains)
        return Fact(
            "Gain", f"{shown} {symbol(token)}", "compared with a single swap now, without refill and with full refill"
        )
    if not schedule.waiting_gains:
        return Fact("Gain", "none", "waiting gains nothing here: sell in a single swap")
    gain = schedule.one_shot.cost - schedule.forecast.cost
    share = format_percentage(gain / schedule.one_shot.payout)
    return Fact("Gain", f"{_estimate(gain, token)} {symbol(token)}", f"{share} more than a single swap now")


def _measured_facts(plan: Plan) -> Iterator[Fact]:
    """Yield the measurements and their blocks, or why there are none."""
    measured = plan.measured.document()
    refill, volatility = measured["refill"], measured["volatility"]
    blocks = f"{format_time(measured['firstTime'] or 0)} to {format_time(measured['lastTime'] or 0)}"
    if measured["firstBlock"] is not None:
        blocks = f"blocks {measured['firstBlock']:,} to {measured['lastBlock']:,}"
    if refill is None:
        yield Fact("Refill", "unknown", f"{measured['refillUnknown']}; the parts are shown without refill")
    else:
        swaps = f"measured on {refill['swaps']} swaps, {blocks}"
        if plan.schedule.extremes is not None:
            swaps += ", which is inconclusive; the parts are shown without refill"
        half_life_s = refill["halfLifeS"]
        yield Fact("Refill", "none" if half_life_s is None else f"half of it in {half_life_s:,.0f} s", swaps)
    if volatility is None:
        reason = measured["volatilityUnknown"] or ""
        yield Fact("Volatility", "unknown", "" if reason == measured["refillUnknown"] else reason)
    else:
        hourly = volatility["perSqrtS"] * _HOUR_S**0.5
        yield Fact("Volatility", f"{hourly:.2%} per hour", f"measured on {volatility['intervals']} intervals")


def _footer(plan: Plan) -> str:
    return printable_lines("\n\n".join(filter(None, (_band_note(plan), _twap_note(plan)))))


def _band_note(plan: Plan) -> str:
    """Return the consequence if the pools do not refill and parts thus leave the price band; empty if none does."""
    outside = plan.parts_outside_band
    if not outside:
        return ""
    is_range = len(outside) > 1 and outside[-1] - outside[0] == len(outside) - 1
    numbers = f"{outside[0]} to {outside[-1]}" if is_range else ", ".join(map(str, outside))
    parts, them = (f"part {numbers}", "it") if len(outside) == 1 else (f"parts {numbers}", "them")
    return (
        f"Unless the pools refill, {parts} will be outside the price band: --next will reject {them}. In that case"
        " make a new plan."
    )


def _twap_note(plan: Plan) -> str:
    twap = plan.cow_twap
    if twap is None:
        return ""
    sold = symbol(plan.network.to_wrapped_token(plan.token_in))
    bought = symbol(plan.network.to_wrapped_token(plan.token_out))
    part = whole_tokens(int(twap["partSellAmount"]), plan.token_in.decimals)
    limit = whole_tokens(int(twap["minPartLimit"]), plan.token_out.decimals)
    return (
        f"The same as a TWAP order in CoW Protocol's app, which needs a Safe: {twap['n']} parts of {part} {sold} every"
        f" {format_duration(twap['t'])}, each for at least {limit} {bought}. It enforces only that limit, not the sizes"
        " or the price band of this plan."
    )


def _part_list(plan: Plan) -> ListView:
    rows = tuple(
        (
            str(number),
            format_time(plan.start_s + round(part.start_s)),
            format_short_amount(part.amount_in, plan.token_in.decimals),
            format_short_amount(part.payout, plan.token_out.decimals),
            format_percentage(part.price_impact),
        )
        for number, part in enumerate(plan.schedule.parts, start=1)
    )
    return ListView(part_columns(symbol(plan.token_in), symbol(plan.token_out)), rows)


def _cost_list(plan: Plan) -> ListView:
    schedule = plan.schedule
    forecasts = {"single swap now": schedule.one_shot}
    if schedule.extremes is None:
        forecasts["this plan"] = schedule.forecast
    else:
        forecasts["plan, no refill"], forecasts["plan, full refill"] = schedule.extremes
    rows = tuple(_cost_row(name, forecast, plan.token_out) for name, forecast in forecasts.items())
    return ListView(cost_columns(symbol(plan.token_out)), rows)


def _bought(plan: Plan) -> str:
    """Return the forecast of what the parts pay in all; two amounts without and with refill, if that is unknown."""
    schedule, token = plan.schedule, plan.token_out
    forecasts = (schedule.forecast,) if schedule.extremes is None else schedule.extremes
    return f"about {' to '.join(dict.fromkeys(_estimate(each.payout, token) for each in forecasts))} {symbol(token)}"


def _cost_row(name: str, forecast: CostForecast, token: Token) -> tuple[str, ...]:
    amounts = (forecast.cost, forecast.impact, forecast.gas)
    is_spread = forecast.low < forecast.high
    band = f"{_estimate(forecast.low, token)} to {_estimate(forecast.high, token)}" if is_spread else ""
    risk = "unknown" if forecast.risk is None else _estimate(forecast.risk, token)
    payout = format_short_amount(round(forecast.payout), token.decimals)
    return name, payout, *(_estimate(amount, token) for amount in amounts), band, risk


def _estimate(amount: float, token: Token) -> str:
    return format_significant(Decimal(round(amount)).scaleb(-token.decimals), ROUGH_DIGITS)
