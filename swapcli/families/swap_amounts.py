"""The amounts that the events of swaps have, in the forms that several kinds of contracts share."""

from __future__ import annotations

from swapcli.core.encoding.abi import to_signed
from swapcli.families.row import Event, SwapAmounts


def read_words(log: Event, count: int, name: str = "Swap") -> tuple[int, ...]:
    """Return the first words of the data. Raises `InvalidUpstreamResponse` if they are fewer."""
    from swapcli.families.reading.call_encoding import read_words as read

    return read(log.data, count, name)


def read_address(word: int, name: str = "Swap") -> str:
    """Return the address in a word. Raises `InvalidUpstreamResponse` if it is longer."""
    from swapcli.families.reading.call_encoding import to_address

    return to_address(word, name)


def two_sided(in0: int, in1: int, out0: int, out1: int) -> SwapAmounts:
    """Return the amounts of inputs and outputs of both tokens."""
    forward = in0 > 0
    is_plain = bool(in0) != bool(in1) and bool(out0) != bool(out1) and bool(in0) == bool(out1)
    problem = "" if is_plain else "it moves a token both ways, as a flash swap does"
    return SwapAmounts(
        *((0, 1, in0, out1) if forward else (1, 0, in1, out0)),
        problem=problem,
    )


def of_signs(amount0: int, amount1: int) -> SwapAmounts:
    """Return the amounts from the pool's view: what it receives is positive."""
    return two_sided(max(amount0, 0), max(amount1, 0), max(-amount0, 0), max(-amount1, 0))._replace(
        problem="" if amount0 * amount1 < 0 else "it pays nothing for what it takes, or takes nothing"
    )


def pair(log: Event) -> SwapAmounts:
    """Read inputs and outputs of both tokens; a flash swap has more than one of each."""
    in0, in1, out0, out1 = read_words(log, 4)
    return two_sided(in0, in1, out0, out1)


def concentrated(log: Event) -> SwapAmounts:
    """Read the amounts from the pool's view: what it receives is positive."""
    return _signed(log, 5)


def concentrated_in_manager(log: Event) -> SwapAmounts:
    """Read the amounts from the swapper's view, and the whole fee."""
    amounts = _signed(log, 6, view=-1)
    return amounts._replace(fee_ppm=read_words(log, 6)[5])


def _signed(log: Event, count: int, view: int = 1) -> SwapAmounts:
    words = read_words(log, count)
    amount0, amount1, tick = view * to_signed(words[0]), view * to_signed(words[1]), to_signed(words[4])
    return of_signs(amount0, amount1)._replace(
        state_after={"sqrt_price_x96": words[2], "liquidity": words[3], "tick": tick}
    )


def by_number(log: Event) -> SwapAmounts:
    """Read the positions of the tokens, each followed by its amount."""
    sold, amount_in, bought, amount_out = read_words(log, 4, "TokenExchange")
    return SwapAmounts(sold, bought, amount_in, amount_out)


def addresses_in_topics(log: Event, first: int) -> tuple[str, str]:
    """Return the tokens sold and bought from two topics. Raises `IndexError` if the event has fewer."""
    return read_address(int(log.topics[first], 16)), read_address(int(log.topics[first + 1], 16))


def by_address_in_vault(log: Event) -> SwapAmounts:
    """Read the tokens from the topics after the pool's."""
    sold, bought = addresses_in_topics(log, 2)
    amount_in, amount_out = read_words(log, 2)
    return SwapAmounts(sold, bought, amount_in, amount_out)
