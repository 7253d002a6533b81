"""`swapcli allowance`: what a spender may take of an account's token."""

# No `from __future__ import annotations`: see `swapcli.startup`.

from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

from swapcli.core.encoding.text import printable, truncate
from swapcli.core.errors import InvalidOption
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.router_dialect import PermitKind
from swapcli.core.model.token import Token, whole_tokens
from swapcli.core.networks.address import display_address
from swapcli.core.networks.permit2 import AMOUNT_BITS
from swapcli.faces.cli import options
from swapcli.faces.cli.account_options import parse_account_option
from swapcli.faces.cli.command_app import CommandApp, UsageError
from swapcli.faces.cli.options import OutputOptions, argument, settings_of
from swapcli.faces.cli.output import OutputFormat
from swapcli.faces.cli.quote_context import split_network
from swapcli.faces.cli.session import open_session

if TYPE_CHECKING:
    from swapcli.faces.cli.render.quote_facts import Fact
    from swapcli.quoting.account_holdings import Allowance

EXAMPLE_OWNER = "0x2222222222222222222222222222222222222222"

app = CommandApp()

UNLIMITED = 2**255
"""From half of all numbers on, as wallets write allowances without a limit."""


@app.command()
def allowance(
    network: options.NetworkNameOrDefault = None,
    owner: Annotated[str | None, argument("OWNER", "Account that owns the token.")] = None,
    token: Annotated[str | None, argument("TOKEN", "Token: symbol or address.")] = None,
    spender: Annotated[
        str | None, argument("[SPENDER]", "Account that may take it.  [default: the network's router]")
    ] = None,
    *,
    rpc_url: options.RpcUrl = None,
    timeout: options.Timeout = None,
    output: OutputOptions,
) -> None:
    """Show what a router may take of an account's token.

    \b
    Example:
      swapcli allowance base 0x2222222222222222222222222222222222222222 USDC

    It is read on the newest block of a node. A router that takes tokens through Permit2 needs two allowances: Permit2's
    of the token, and the router's in Permit2, which ends at a time.
    """
    session = open_session(output, settings_of(timeout=timeout), rpc_url=rpc_url)
    name, words = split_network(session, [network, owner, token, spender])
    if len(words) not in (2, 3):
        raise UsageError(f"OWNER and TOKEN are required, as in {_example(name, words)}")
    from swapcli.faces.cli.render.detail_view import DetailView
    from swapcli.faces.cli.render.quote_facts import Fact
    from swapcli.faces.cli.render.state_wording import describe_newest
    from swapcli.payload.dialects import router_dialect
    from swapcli.quoting.account_holdings import read_allowance

    market = session.open_local_market(name)
    where = market.network
    holder = parse_account_option(words[0], where, session, "OWNER")
    sold = market.token(words[1])
    taker = parse_account_option(words[2], where, session, "SPENDER") if len(words) == 3 else where.router
    if taker is None:
        raise InvalidOption(f"{where.name} has no router in the catalogue", hint="name the spender after the token")
    if sold.address == ZERO_ADDRESS:
        raise InvalidOption(f"{sold.symbol} needs no allowance: a transaction sends it along")
    through_permit2 = taker == where.router and router_dialect(where).permit_kind is PermitKind.PERMIT2
    with closing(session.nodes.require_node(where)) as node:
        found = read_allowance(node, holder, sold, taker, through_permit2=through_permit2)
    shown_owner, shown_spender = (display_address(each, where.kind) for each in (holder, taker))
    if session.output.format is OutputFormat.JSON:
        permit2 = found.permit2
        session.output.print_document(
            {
                "network": where.name,
                "address": shown_owner,
                "token": {"symbol": sold.symbol, "address": display_address(sold.address, where.kind)},
                "spender": shown_spender,
                "allowance": str(found.amount),
                "permit2": permit2
                and {
                    "allowance": str(permit2.permit2_amount),
                    "spenderAllowance": str(permit2.amount),
                    "expiration": permit2.expiration_s,
                },
                "block": found.block.number,
                "timestamp": found.block.timestamp,
            }
        )
        return
    facts = (*_facts(found, sold), Fact("Block", *describe_newest(found.block)))
    parties = (("Owner", shown_owner), ("Spender", shown_spender))
    session.output.print_details(DetailView(f"{printable(sold.symbol)} on {where.name}", facts, copyable=parties))


def _example(network: str, words: Sequence[str]) -> str:
    """Return how the command could be written, with the words that are there."""
    owner = next((word for word in words if word.startswith("0x") or "." in word), EXAMPLE_OWNER)
    token = next((word for word in words if word != owner), "USDC")
    return printable(truncate(f"swapcli allowance {network} {owner} {token}", 160))


def _facts(found: "Allowance", token: Token) -> Iterator["Fact"]:
    """Yield the allowances with their names; one in Permit2 that has ended at the block allows nothing."""
    from swapcli.faces.cli.render.quote_facts import Fact

    yield Fact("Allowance", _amount(found.amount, token), "")
    if found.permit2 is None:
        return
    until = datetime.fromtimestamp(found.permit2.expiration_s, UTC).strftime("%Y-%m-%d %H:%M UTC")
    has_ended = found.permit2.expiration_s < found.block.timestamp
    end = "" if not found.permit2.amount else f"ended {until}" if has_ended else f"until {until}"
    yield Fact("To Permit2", _amount(found.permit2.permit2_amount, token), "")
    yield Fact("In Permit2", _amount(found.permit2.amount, token), end)


def _amount(amount: int, token: Token) -> str:
    # Permit2 counts in 160 bits, of which all are set where nothing is limited.
    is_unlimited = amount >= UNLIMITED or amount == 2**AMOUNT_BITS - 1
    return f"{'unlimited' if is_unlimited else whole_tokens(amount, token.decimals)} {printable(token.symbol)}"
