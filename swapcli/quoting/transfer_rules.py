"""Decide which pools routes may use, and which tokens routes may begin and end with, depending on how tokens transfer.

A fee-on-transfer token delivers less than the quote; how much less depends on the contract's rounding and exemptions.
So routes never use these tokens. A token that stores balances as shares loses a unit or two with each transfer, which
the router tolerates in pools that do not require exact payment. A token that rejected a trial transfer may only be the
first or the last token of a route. A token that the settings block (`networks.X.blocked_tokens`) is never used in a
route.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set

from swapcli.core.errors import FeeOnTransfer, InvalidRoute, TokenBlocked
from swapcli.core.model.finding import Finding, FindingCode
from swapcli.core.model.market import MarketState, Provenance
from swapcli.core.model.network import Network
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote import Step
from swapcli.core.model.route_result import RouteResult
from swapcli.core.model.token import Token
from swapcli.core.model.transfer_behaviour import MAX_ROUNDING, ShareRounding, TransferBehaviour, TransferKind
from swapcli.quoting.quote_results import LocalQuote


def routable_market(market: MarketState, end_tokens: Set[str] = frozenset()) -> MarketState:
    """Return the market without the pools that routes may not use, or the same market if there are no such pools.

    `end_tokens` are the addresses of the tokens with which routes begin or end.
    """
    unroutable, shares = _limiting_tokens(market, end_tokens)
    if not (unroutable or shares):
        return market
    pools = {key: pool for key, pool in market.pools.items() if _is_routable(pool, unroutable, shares)}
    return market if len(pools) == len(market.pools) else market._replace(pools=pools)


def unroutable_reason(market: MarketState) -> Callable[[Pool], str]:
    """Return a function that gives the reason why routes may not use a pool. The reason is empty if they may.

    A pool with a token that rejected a trial transfer may still be used by routes that begin or end with that token.
    """
    unroutable, shares = _limiting_tokens(market, frozenset())

    def reason_of(pool: Pool) -> str:
        if _is_routable(pool, unroutable, shares):
            return ""
        address = next((token for token in pool.tokens if token in unroutable), None)
        if address is None:
            address = next(token for token in pool.tokens if token in shares)
        token, behaviour = market.tokens.get(address), market.transfers_of(address)
        if address in market.network.blocked_tokens:
            return f"{token.symbol if token else address} is blocked in the settings"
        symbol = token.symbol if token else address
        reason = f"{symbol} {behaviour.described()}"
        if behaviour.kind is TransferKind.REFUSED:
            return f"{reason}: only routes that sell or buy {symbol} use the pool"
        return reason if address in unroutable else f"{reason}, and the pool requires exact payment"

    return reason_of


def _limiting_tokens(market: MarketState, end_tokens: Set[str]) -> tuple[set[str], set[str]]:
    """Return the tokens that routes may not use, and those that store shares."""
    behaviours = {**market.transfers, **market.network.transfers}
    unroutable = set(market.network.blocked_tokens)
    unroutable |= {
        address
        for address, each in behaviours.items()
        if not (each.is_passable or (each.is_routable and address in end_tokens))
    }
    return unroutable, {address for address, each in behaviours.items() if each.kind is TransferKind.SHARES}


def _is_routable(pool: Pool, unroutable: set[str], shares: set[str]) -> bool:
    if not unroutable.isdisjoint(pool.tokens):
        return False
    return not pool.requires_exact_payment or shares.isdisjoint(pool.tokens)


def check_not_blocked(tokens: Iterable[Token], network: Network) -> None:
    """Raise `TokenBlocked` for a token that the settings block. The native token is blocked together with its wrapped
    form."""
    for token in tokens:
        if network.to_wrapped(token.address) in network.blocked_tokens:
            raise TokenBlocked(
                f"{token.symbol} is blocked in the settings",
                hint=f"to trade it, remove it from networks.{network.name}.blocked_tokens",
                details={"token": token.address},
            )


def check_token(token: Token, market: MarketState) -> None:
    """Raise `TokenBlocked` for a blocked token, and `FeeOnTransfer` for a token whose transfers deliver a different
    amount than requested."""
    check_not_blocked([token], market.network)
    behaviour = market.transfers_of(token.address)
    if behaviour.is_routable:
        return
    raise FeeOnTransfer(
        f"{token.symbol} {behaviour.described()}, so its amount cannot be guaranteed",
        hint="routes never use tokens with a fee on transfers; trade it on its own exchange if you must",
        details={"token": token.address, **behaviour._asdict(), "kind": behaviour.kind.value},
    )


def check_route(result: RouteResult, market: MarketState) -> None:
    """Raise `TokenBlocked` for a route with a blocked token, and `InvalidRoute` for a route with a token whose
    transfers deliver a different amount than requested."""
    check_route_not_blocked(result, market.tokens, market.network)
    for address in _tokens_of(result):
        behaviour = market.transfers_of(address)
        if not behaviour.is_routable:
            token = market.tokens.get(address)
            raise InvalidRoute(
                f"the route trades {token.symbol if token else address}, which {behaviour.described()}",
                hint="fetch a fresh route",
                details={"token": address},
            )


def check_route_not_blocked(result: RouteResult, tokens: Mapping[str, Token], network: Network) -> None:
    """Raise `TokenBlocked` for a route that trades a blocked token. `tokens` are the route's tokens by address."""
    for address in _tokens_of(result):
        check_not_blocked([tokens.get(address, Token(address, address, address, 0))], network)


def _tokens_of(result: RouteResult) -> list[str]:
    swaps = (swap for segment in result.segments for hop in segment.hops for swap in hop)
    return list(dict.fromkeys(token for swap in swaps for token in (swap.token_in, swap.token_out)))


def transfers_of_steps(steps: Iterable[Step], market: MarketState) -> Mapping[str, TransferBehaviour]:
    """Return the transfer behaviour of the tokens that a route trades, by address."""
    tokens = dict.fromkeys(token for step in steps for token in (step.token_in, step.token_out))
    return {token: market.transfers_of(token) for token in tokens if token in market.tokens}


def rounding_of(answer: LocalQuote) -> ShareRounding | None:
    """Return how much a quoted route can lose because its tokens store balances as shares; None if none of them
    does."""
    return rounding_of_steps(answer.quote.steps, answer.transfers, answer.tokens)


def rounding_of_steps(
    steps: Sequence[Step], transfers: Mapping[str, TransferBehaviour], tokens: Mapping[str, Token]
) -> ShareRounding | None:
    """Return how much a route's steps, at least one, can lose because its tokens store balances as shares; None if none
    of them does."""
    shares = [address for address, each in transfers.items() if each.kind is TransferKind.SHARES]
    if not shares:
        return None
    # Transfers to and from each pool and, before and after all of them, between the router and the user.
    swaps = [(step.token_in, step.token_out) for step in steps]
    ends = {swaps[0][0], swaps[-1][1]}
    count = sum(token in shares for swap in swaps for token in swap) + sum(token in shares for token in ends)
    symbols = tuple(tokens[address].symbol if address in tokens else address for address in shares)
    return ShareRounding(symbols, MAX_ROUNDING * count)


def share_warning(rounding: ShareRounding) -> Finding:
    """Return the warning about tokens that store balances as shares."""
    keeps = "keeps" if len(rounding.symbols) == 1 else "keep"
    return FindingCode.SHARE_TOKEN.finding(
        f"{_join_symbols(rounding.symbols)} {keeps} balances as shares: each transfer can lose up to {MAX_ROUNDING} "
        f"base units, and the route up to {rounding.units}; allow some slippage",
    )


def transfer_warnings(answer: LocalQuote) -> Iterator[Finding]:
    """Yield the warnings about the tokens in a route.

    Untested tokens cause a warning only if the pools were read from the network. Otherwise, no token has been tested.
    """
    by_kind: dict[TransferKind, list[str]] = {}
    for address, behaviour in answer.transfers.items():
        by_kind.setdefault(behaviour.kind, []).append(answer.tokens[address].symbol)
    if (rounding := rounding_of(answer)) is not None:
        yield share_warning(rounding)
    if refused := by_kind.get(TransferKind.REFUSED):
        yield FindingCode.REFUSED_TOKEN.finding(
            f"{_join_symbols(refused)} rejected a test transfer: the swap or a later sale may fail",
        )
    untried = by_kind.get(TransferKind.UNKNOWN)
    if untried and answer.state_source.provenance in (Provenance.LIVE, Provenance.SYNCED):
        yield FindingCode.UNTRIED_TOKEN.finding(
            f"transfers of {_join_symbols(untried)} were not tested: the quote ignores any fee on them",
        )


def _join_symbols(symbols: Sequence[str]) -> str:
    *first, last = symbols
    return f"{', '.join(first)} and {last}" if first else last
