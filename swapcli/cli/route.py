"""`swapcli route`: the best route for an order, or for a file of orders."""

# Annotations are values here: Typer would read each of them twice from its text, a fiftieth of the whole start.

from typing import Annotated, NamedTuple

from swapcli.cli import exits, options
from swapcli.cli.amounts import parse_amount, parse_raw_amount
from swapcli.cli.files import STDIN, read_lines
from swapcli.cli.options import FormOptions, argument, option, with_form
from swapcli.cli.output import Form
from swapcli.cli.render.json import route_document
from swapcli.cli.session import Session, open_session
from swapcli.cli.tree import GroupedCommand, Misused, new_app
from swapcli.cli.wishes import Asked, Wishes, understand
from swapcli.engine.answer import Answer, Ask
from swapcli.engine.clock import SYSTEM_CLOCK
from swapcli.engine.market_source import MarketSource
from swapcli.engine.sources import QuoteSource
from swapcli.errors import InvalidOption
from swapcli.model.order import DEFAULT_MAX_HOPS, Order
from swapcli.model.terms import MAX_FEE_BPS, MAX_SURPLUS_BPS

ROUTING, ANSWER, INTEGRATOR = "Routing", "Answer", "Integrator (v2 only, needs an API key)"

app = new_app()


@app.command(cls=GroupedCommand)
@with_form
def route(
    form: FormOptions,
    network: options.NetworkName,
    token_in: Annotated[str | None, argument("TOKEN_IN", "Token to sell: symbol or address.")] = None,
    token_out: Annotated[str | None, argument("TOKEN_OUT", "Token to buy: symbol or address.")] = None,
    amount: Annotated[str | None, argument("AMOUNT", "In whole tokens, as in 1.5.")] = None,
    raw: Annotated[bool, option("--raw", "AMOUNT is in the token's smallest units.", ROUTING)] = False,
    reverse: Annotated[bool, option("--reverse", "AMOUNT is what you want to receive.", ROUTING)] = False,
    direct: Annotated[bool, option("--direct", "Only pools that hold both tokens.", ROUTING)] = False,
    max_hops: Annotated[
        str | None, option("--max-hops", f"Most pools in a row.  [default: {DEFAULT_MAX_HOPS}]", ROUTING, "N")
    ] = None,
    exclude_protocols: Annotated[
        list[str] | None,
        option("--exclude-protocols", "Ids or names, with commas; see swapcli protocols.", ROUTING, "LIST"),
    ] = None,
    gas_price: Annotated[
        str | None,
        option(
            "--gas-price",
            "In wei, or as in 0.01gwei; 0 ranks routes by output alone.  [default: the market's]",
            ROUTING,
            "PRICE",
        ),
    ] = None,
    certify: Annotated[
        bool, option("--certify", "Prove how far the best possible route could still be.", ROUTING)
    ] = False,
    slippage: Annotated[
        str | None, option("--slippage", "As in 0.5, 0.5% or 50bps.  [default: 0.5]", ANSWER, "PERCENT")
    ] = None,
    destination: Annotated[str | None, option("--destination", "Who receives the output.", ANSWER, "ADDRESS")] = None,
    api_version: Annotated[
        str | None,
        option("--api-version", "Generation of the JSON.  [default: v2 where the network has it]", ANSWER, "v1|v2"),
    ] = None,
    integrator_address: Annotated[
        str | None, option("--integrator-address", "Wallet that earns.", INTEGRATOR, "ADDRESS")
    ] = None,
    integrator_fee_bps: Annotated[
        str | None, option("--integrator-fee-bps", f"Fee on the output, 0 to {MAX_FEE_BPS}.", INTEGRATOR, "BPS")
    ] = None,
    integrator_surplus_bps: Annotated[
        str | None,
        option("--integrator-surplus-bps", f"Share of the surplus, 0 to {MAX_SURPLUS_BPS}.", INTEGRATOR, "BPS"),
    ] = None,
    market: options.MarketFile = None,
    skip_bad_pools: options.SkipBadPools = False,
    batch: Annotated[
        str | None,
        option("--batch", "Quote the orders of a file, - for stdin, instead of one.", options.MARKET, "FILE"),
    ] = None,
) -> int:
    """Find the best route for a swap.

    \b
    Examples:
      swapcli route base ETH USDC 1.5
      swapcli route base ETH USDC 1.5 --json | jq -r .outputAmount

    A batch has one JSON order a line, {"id", "token_in", "token_out", "amount_in"} with amounts in smallest units; it
    prints {"id", "result"} a line, in order, and ends with the lowest exit status other than 0.
    """
    session = open_session(
        form,
        {
            "max_hops": max_hops,
            "exclude_protocols": exclude_protocols or None,
            "gas_price": gas_price,
            "slippage": slippage,
            "api_version": api_version,
            "integrator.address": integrator_address,
            "integrator.fee_bps": integrator_fee_bps,
            "integrator.surplus_bps": integrator_surplus_bps,
            "market": market,
        },
    )
    asked = Asked(reverse, direct, certify, destination)
    if batch is None:
        order = _order_given(token_in, token_out, amount)
        return _route_one(_open_desk(session, asked, network, skip_bad_pools), *order, raw=raw)
    _check_batch_alone((token_in, token_out, amount), form.plain or form.table, batch, session)
    return _route_batch(_open_desk(session, asked, network, skip_bad_pools), batch)


def _order_given(token_in: str | None, token_out: str | None, amount: str | None) -> tuple[str, str, str]:
    if token_in is None or token_out is None or amount is None:
        raise Misused("TOKEN_IN, TOKEN_OUT and AMOUNT are needed, or --batch")
    return token_in, token_out, amount


def _check_batch_alone(order: tuple[str | None, ...], for_people: bool, batch: str, session: Session) -> None:
    """Orders come from the arguments or from the batch, never from both."""
    if any(value is not None for value in order):
        raise Misused("orders come from the batch, so give NETWORK alone")
    if for_people:
        raise InvalidOption("--batch prints JSON, so --plain and --table do not fit")
    if batch == STDIN == str(session.settings.market):
        raise InvalidOption("--batch and --market cannot both read stdin")


class _Desk(NamedTuple):
    """Where orders of one command line are answered."""

    session: Session
    source: QuoteSource
    wishes: Wishes

    def answer(self, order: Order) -> Answer:
        wishes = self.wishes
        ask = Ask(order, wishes.generation, wishes.terms.integrator, wishes.gas_price_wei, wishes.asked.certify)
        return self.source.quote(ask)

    def document(self, answer: Answer) -> dict[str, object]:
        return route_document(answer)


def _open_desk(session: Session, asked: Asked, network: str, skip_bad_pools: bool) -> _Desk:
    source = MarketSource(session.market(network, skip_bad_pools=skip_bad_pools), SYSTEM_CLOCK)
    return _Desk(session, source, understand(asked, source.network, session.settings, session.api_key))


def _route_one(desk: _Desk, name_in: str, name_out: str, amount: str, *, raw: bool) -> int:
    token_in, token_out = desk.source.token(name_in), desk.source.token(name_out)
    counted = token_out if desk.wishes.asked.reverse else token_in
    units = parse_raw_amount(amount) if raw else parse_amount(amount, counted.decimals, counted.symbol)
    answer = desk.answer(desk.wishes.order(token_in, token_out, units))
    if desk.session.output.form is Form.JSON:
        desk.session.output.document(desk.document(answer))
    else:
        from swapcli.cli.render.view import view_of

        desk.session.output.route(view_of(answer, desk.wishes.terms))
    return exits.OK


def _route_batch(desk: _Desk, batch: str) -> int:
    from swapcli.cli.batch import BatchOrder, run_batch

    def result(entry: BatchOrder) -> dict[str, object]:
        token_in, token_out = desk.source.token(entry.token_in), desk.source.token(entry.token_out)
        return desk.document(desk.answer(desk.wishes.order(token_in, token_out, entry.amount)))

    return run_batch(read_lines(batch), result)
