"""The context in which one command line's orders are quoted: market, options and settings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from swapcli import InvalidAmount, Order, UnknownNetwork
from swapcli.core.encoding.text import printable, truncate
from swapcli.core.model.written_amount import WrittenAmount
from swapcli.core.records import NamedTuple
from swapcli.faces.cli.account_options import RECIPIENT, parse_account_option
from swapcli.faces.cli.command_app import UsageError
from swapcli.faces.cli.files import check_folder
from swapcli.faces.cli.options import OrderOptions
from swapcli.faces.cli.session import Session
from swapcli.interface.quote_parameters import PARAMETERS, QUOTE_PARAMETERS
from swapcli.interface.value_types import FLAG
from swapcli.quoting.amounts import read_amount
from swapcli.quoting.config.source_readers import FLAG_ORIGIN
from swapcli.quoting.quote_options import QuoteOptions, resolve_options
from swapcli.quoting.quote_results import QuoteResult

if TYPE_CHECKING:
    from swapcli import Market, Network, SwapQuote, SwapTerms, UnsignedTransaction
    from swapcli.quoting.config import Settings
    from swapcli.quoting.review.presign_checker import AnyChecker

T = TypeVar("T")


class OrderWords(NamedTuple):
    """The words of an order: its tokens by symbol or address, and its amount as written."""

    token_in: str
    token_out: str
    amount: WrittenAmount


class QuoteContext(NamedTuple):
    """A market with the options of the command line."""

    session: Session
    market: Market
    options: QuoteOptions

    @property
    def network(self) -> Network:
        """The network of the orders."""
        return self.market.network

    def build_order(self, words: OrderWords) -> Order:
        """Return the order on the command line, and print a note on the meaning of an amount such as "2k".

        Raises `InvalidInput`, also for a share of a balance. An amount in dollars can raise the same errors as `quote`.
        """
        order = self.find_tokens(words.token_in, words.token_out)
        return order._replace(amount=self.resolve_amount(order, words.amount))

    def answer_order(
        self,
        words: OrderWords,
        request_quote: Callable[[Order], T],
        quote_of: Callable[[T], QuoteResult],
        open_sender: Callable[[], AnyChecker | None],
    ) -> T:
        """Build an order and return the result of `request_quote`. The amount may be a share of the sender's balance.

        Raises `InvalidInput`, and the errors of `request_quote`.
        """
        if not words.amount.is_balance_part:
            return request_quote(self.build_order(words))
        from swapcli.faces.cli.balance_amounts import answer_balance_part

        order = self.find_tokens(words.token_in, words.token_out)
        return answer_balance_part(self.session, words.amount, order, open_sender, request_quote, quote_of)

    def find_tokens(self, token_in: str, token_out: str) -> Order:
        """Return the order without its amount. Raises `InvalidInput`."""
        return self.options.build_order(self.market.token(token_in), self.market.token(token_out), 0)

    def resolve_amount(self, order: Order, written: WrittenAmount) -> int:
        """Return an amount of the order in base units, and print a note on notation such as "2k". Raises the same
        errors as `build_order`."""
        amount, note = self.market.resolve_amount(written, order, self.options)
        if note:
            self.session.output.note(printable(note))
        return amount

    def quote(self, order: Order) -> SwapQuote:
        """Quote an order. Raises the errors of `Market.quote`."""
        return self.market.quote_order(order, self.options)

    def quote_and_build(self, order: Order, terms: SwapTerms) -> tuple[SwapQuote, UnsignedTransaction]:
        """Quote an order and build its payload on the same state. Raises the same errors as
        `Market.quote_and_build`."""
        return self.market.quote_and_build(order, self.options, terms)


def open_quote_context(session: Session, network: str, order: OrderOptions) -> QuoteContext:
    """Open the market of a network. Raises `InvalidInput`, `IntegratorError`, `InputOutputError`."""
    if order.proof is not None:
        check_folder("--proof", order.proof)
    market = session.open_market(network)
    found = market.network
    recipient = None
    if order.destination is not None:
        recipient = parse_account_option(order.destination, found, session, RECIPIENT)
    options = resolve_options(
        session.settings,
        found,
        session.setup.api_key,
        recipient=recipient,
        **{name: _parse(name, value) for name, value in order._asdict().items() if name in _OWN_OPTIONS},
    )
    return QuoteContext(session, market, options)


def given_options(settings: Settings, order: OrderOptions, names: Iterable[str]) -> dict[str, object]:
    """Return the values of the quote options with these names that the command line has."""
    own = {name: _parse(name, value) for name, value in order._asdict().items() if name in _OWN_OPTIONS}
    values = {name: own[name] if name in own else getattr(settings, name) for name in names}
    return {
        name: value
        for name, value in values.items()
        if (value not in (None, False) if name in own else settings.origin(name) == FLAG_ORIGIN)
    }


def limit_quotes(context: QuoteContext, order: OrderOptions, limits: Mapping[str, object]) -> QuoteContext:
    """Return the context with `limits` in place of the options with these names."""
    own = {name: _parse(name, value) for name, value in order._asdict().items() if name in _OWN_OPTIONS}
    session = context.session
    options = resolve_options(
        session.settings,
        context.network,
        session.setup.api_key,
        recipient=context.options.terms.recipient,
        **{**own, **limits},
    )
    return context._replace(options=options)


def _parse(name: str, value: object) -> object:
    """Return the value of a quote option; for an option that names an output file, whether it was given."""
    parameter = PARAMETERS[name]
    if parameter.value_type is FLAG:
        return value is not None and value is not False
    return parameter.parse_option(value) if isinstance(value, str) else value


def open_local_context(session: Session, network: str, *, certify: bool = False, proof: bool = False) -> QuoteContext:
    """Open the market that quotes in this process, even if the settings name a service. Raises `InvalidInput`."""
    market = session.open_local_market(network)
    options = resolve_options(session.settings, market.network, session.setup.api_key, certify=certify, proof=proof)
    return QuoteContext(session, market, options)


def split_words(session: Session, words: Sequence[str | None], *, has_amount: bool = True) -> tuple[str, list[str]]:
    """Return the network and the other words of NETWORK TOKEN_IN TOKEN_OUT AMOUNT. The network may be omitted.

    The first word is the network if it is a network's name or chain id, or if there are one or four words: a market
    file may define its own network. Otherwise the network in the settings is used. Raises `UsageError` if there is
    none.
    """
    present = [word for word in words if word is not None]
    if len(present) in (1, 4) or (present and _is_network(session, present[0])):
        return present[0], _in_order(session, present[1:], present[0]) if has_amount else present[1:]
    if session.settings.network is None:
        example = "swapcli route base ETH USDC 1"
        raise UsageError(f"no network given: write it first, as in {example}, or run swapcli config set network base")
    return session.settings.network, _in_order(session, present) if has_amount else present


def _in_order(session: Session, words: list[str], network: str | None = None) -> list[str]:
    """Return an order's words as TOKEN_IN TOKEN_OUT AMOUNT, with a note on how they were read if that changes them.

    There is no note if one of them is a network and the first word, `network`, is none: an error corrects that.

    People also write the amount first (`1.5 ETH USDC`, `1.5ETH USDC`) and pairs (`ETH/USDC 1.5`, `ETH-USDC 1.5`). A
    word is split only if one is missing, because symbols may contain such characters themselves: a pair next to an
    amount, or an amount with its token next to another token.
    """
    found = _split(*words) if len(words) == 2 else words
    if len(found) != 3:
        return words
    found = with_amount_last(found)
    is_misplaced = found != words and network is not None and not _is_network(session, network)
    if found != words and not (is_misplaced and any(_is_network(session, word) for word in words)):
        session.output.note(printable(f"read as {' '.join(found)}; next time, write TOKEN_IN TOKEN_OUT AMOUNT"))
    return found


def with_amount_last(words: Sequence[str]) -> list[str]:
    """Return the three words of an order with its amount last, if exactly one of them looks like an amount.

    This is for words on a command line only: named values are never moved, as each name says what its value is.
    """
    amounts = [word for word in words if _AMOUNT_WORD.fullmatch(word)]
    if len(amounts) != 1 or words[2] == amounts[0]:
        return [*words]
    return [*(word for word in words if word != amounts[0]), amounts[0]]


def _split(first: str, second: str) -> list[str]:
    """Return the three words that two words stand for, or the two unchanged."""
    has_amount = [_AMOUNT_WORD.fullmatch(word) is not None for word in (first, second)]
    if has_amount == [False, True] and (pair := _PAIR.fullmatch(first)):
        return [pair[1], pair[2], second]
    if has_amount == [True, False] and (pair := _PAIR.fullmatch(second)):
        return [first, pair[1], pair[2]]
    joined = _AMOUNT_AND_TOKEN.fullmatch(first)
    if joined and not any(has_amount) and first.lower() not in _SYMBOLS_WITH_DIGITS:
        return [joined[1], joined[2], second]
    return [first, second]


_OWN_OPTIONS = frozenset(each.name for each in QUOTE_PARAMETERS if each.field and not each.setting)
"""The quote options that are not settings."""
_AMOUNT_WORD = re.compile(r"\$?[\d.,_]+(e\+?\d+)?([kmb%]|bn|usd)?|all|max", re.IGNORECASE)
_BEGINS_LIKE_AMOUNT = re.compile(r"(?!0x|1inch)[$\d]", re.IGNORECASE)
_AMOUNT_AND_TOKEN = re.compile(r"(?!0x)(\d[\d.,_]*)([A-Za-z]\S*)")
_SYMBOLS_WITH_DIGITS = ("1inch",)
"""Token symbols that look like an amount with a symbol."""
_PAIR = re.compile(r"([^/-]+)[/-]([^/-]+)")


def split_network(session: Session, words: Sequence[str | None]) -> tuple[str, list[str]]:
    """Return the network and the tokens of NETWORK TOKEN... The network may be omitted if the settings name one.

    Raises `InvalidOption` if there is no network.
    """
    present = [word for word in words if word is not None]
    if not present or (session.settings.network is not None and not _is_network(session, present[0])):
        return session.network_name(None), present
    return present[0], present[1:]


def missing_words(session: Session, network: str, problem: str, example: str) -> UsageError:
    """Return the error for a command with no words after NETWORK. The word in NETWORK's place may itself be a token."""
    if session.settings.market is None and not _is_network(session, network):
        problem = f'"{printable(truncate(network, 60))}" is not a network; write the network first'
    return UsageError(f"{problem}, as in {example}")


def read_order(words: Sequence[str], command: str, network: str, *, raw: bool, hint: str = "") -> OrderWords:
    """Return the tokens and the amount of a `command`'s order on `network`. With `raw`, the amount is in base units.

    Raises `UsageError`, with `hint` in it, if a word is missing, and `InvalidAmount`. Both errors show in which order
    to write the words.
    """
    if len(words) > 3:
        required = f"TOKEN_IN, TOKEN_OUT and AMOUNT are required{hint}"
        raise UsageError(f"{required}, but {len(words)} words were given")
    example = f"the amount comes last: {show_example(words, command, network)}"
    if len(words) != 3:
        raise UsageError(f"TOKEN_IN, TOKEN_OUT and AMOUNT are required{hint}; {example}")
    token_in, token_out, amount = words
    try:
        written = read_amount(amount, raw=raw)
    except InvalidAmount as error:
        if not _BEGINS_LIKE_AMOUNT.match(amount) and any(map(_BEGINS_LIKE_AMOUNT.match, (token_in, token_out))):
            error.hint = example
        raise
    return OrderWords(token_in, token_out, written)


def show_example(words: Sequence[str], command: str, network: str, amount: str = "1.5") -> str:
    """Return an example of a command's order, made from the words given. If they have no amount, it uses `amount`."""
    amounts = [word for word in words if _AMOUNT_WORD.fullmatch(word)]
    unclear = [word for word in words if word not in amounts and _BEGINS_LIKE_AMOUNT.match(word)]
    tokens = [word for word in words if word not in amounts and word not in unclear] or ["ETH"]
    tokens.append("ETH" if tokens[0].upper() == "USDC" else "USDC")
    shown = " ".join(["swapcli", command, network, *tokens[:2], amounts[0] if amounts else amount]).rstrip()
    return printable(truncate(shown, 120))


def _is_network(session: Session, word: str) -> bool:
    try:
        session.networks.find(word)
    except UnknownNetwork:
        return False
    return True
