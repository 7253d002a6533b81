"""`swapcli allowance`: how much of an account's token a spender may take."""

# No `from __future__ import annotations`: see `swapcli.startup`.

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

from swapcli.core.encoding.text import printable, truncate
from swapcli.core.model.number_format import format_time
from swapcli.core.model.token import whole_tokens
from swapcli.faces.cli import options
from swapcli.faces.cli.account_options import parse_account_option
from swapcli.faces.cli.command_app import CommandApp, UsageError
from swapcli.faces.cli.options import OutputOptions, argument, settings_of
from swapcli.faces.cli.output import OutputFormat
from swapcli.faces.cli.quote_context import split_network
from swapcli.faces.cli.session import open_session

if TYPE_CHECKING:
    from swapcli import Allowance
    from swapcli.faces.cli.render.detail_view import DetailView
    from swapcli.faces.cli.render.quote_facts import Fact

EXAMPLE_OWNER = "0x2222222222222222222222222222222222222222"

app = CommandApp()


@app.command()
def allowance(
    network: options.NetworkNameOrDefault = None,
    owner: Annotated[str | None, argument("OWNER", "Account that owns the token.")] = None,
    token: Annotated[str | None, argument("TOKEN", "Token: symbol or address.")] = None,
    spender: Annotated[
        str | None, argument("[SPENDER]", "Account that may spend it.  [default: the network's router]")
    ] = None,
    *,
    rpc_url: options.RpcUrl = None,
    timeout: options.Timeout = None,
    output: OutputOptions,
) -> None:
    """Show how much of a token a router may spend.

    \b
    Example:
      swapcli allowance base 0x2222222222222222222222222222222222222222 USDC

    A router that uses Permit2 needs two allowances: one that lets Permit2 spend the token, and one in Permit2 for the
    router. The second one expires.
    """
    session = open_session(output, settings_of(timeout=timeout), rpc_url=rpc_url)
    name, words = split_network(session, [network, owner, token, spender])
    if len(words) not in (2, 3):
        raise UsageError(f"OWNER and TOKEN are required, for example {_example(name, words)}")
    market = session.open_local_market(name)
    where = market.network
    holder = parse_account_option(words[0], where, session, "OWNER")
    sold = market.token(words[1])
    taker = parse_account_option(words[2], where, session, "SPENDER") if len(words) == 3 else None
    found = market.allowance(holder, sold, taker)
    if session.output.format is OutputFormat.JSON:
        session.output.print_document(found)
    else:
        session.output.print_details(_view(found))


def _view(found: "Allowance") -> "DetailView":
    from swapcli.faces.cli.render.detail_view import DetailView
    from swapcli.faces.cli.render.quote_facts import Fact
    from swapcli.faces.cli.render.state_wording import describe_newest

    facts = (*_facts(found), Fact("State", describe_newest(found.block)))
    document = found.document()
    parties = (("Owner", document["address"]), ("Spender", document["spender"]))
    title = f"Allowance: {_amount(found, found.amount)} on {found.network.name}"
    return DetailView(title, facts, copyable=parties)


def _example(network: str, words: Sequence[str]) -> str:
    """Return how the command could be written, using the words given."""
    owner = next((word for word in words if word.startswith("0x") or "." in word), EXAMPLE_OWNER)
    token = next((word for word in words if word != owner), "USDC")
    return printable(truncate(f"swapcli allowance {network} {owner} {token}", 160))


def _facts(found: "Allowance") -> Iterator["Fact"]:
    """Yield the allowances with their names; a Permit2 allowance that has expired at the block allows nothing."""
    from swapcli.faces.cli.render.quote_facts import Fact

    if found.permit2 is None:
        return
    until = format_time(found.permit2.expiration_s, has_seconds=False)
    has_ended = found.permit2.expiration_s < found.block.timestamp
    end = "" if not found.permit2.amount else f"expired {until}" if has_ended else f"until {until}"
    yield Fact("To Permit2", _amount(found, found.permit2.permit2_amount), "")
    yield Fact("In Permit2", _amount(found, found.permit2.amount), end)


def _amount(found: "Allowance", amount: int) -> str:
    shown = "unlimited" if found.is_unlimited(amount) else whole_tokens(amount, found.token.decimals)
    return f"{shown} {printable(found.token.symbol)}"
