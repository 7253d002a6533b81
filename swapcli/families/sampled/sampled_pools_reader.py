"""Read pools that a protocol quotes itself: samples of both directions, and the quotes for given amounts.

The network's definition has the quote functions; see `core.model.quoter`. Their results are untrusted: a sale that
reverts ends the samples of that direction, and results that no honest pool returns raise an error, which skips the
pool.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeAlias

from swapcli.core.encoding.abi import WORD, to_signed
from swapcli.core.encoding.abi_arguments import AbiValue, encode_arguments
from swapcli.core.encoding.keccak import keccak256
from swapcli.core.model.pool import Pool
from swapcli.core.model.quoter import (
    Argument,
    ContractFunction,
    PackedArgument,
    QuoteFunction,
    Quoter,
    ReadValue,
    Sale,
)
from swapcli.core.validation.values import parse_number_text
from swapcli.families.reading.call_encoding import encode_call, invalid_response, read_word, read_words, to_address
from swapcli.families.reading.calls import CallContext, ContractCall, ReturnData
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.sampled.sampled import Sampled
from swapcli.families.sampled.sampled_curve import QuotedSale

_POWERS: Final = range(-7, 8)
"""The powers of ten of a whole token to sample: from dust to more than any order."""
_FINE_POWERS: Final = range(-2, 6)
"""The powers after which there is another sample before the next power, at about the geometric mean."""
_BALANCE_PARTS: Final = (1, 5, 25, 50, 100, 200, 300, 500, 700, 900, 990)
"""The parts, in thousandths, of the sold token's balance to sample if it is known: a pool's depth is of that order."""
_MAX_AMOUNT: Final = (1 << 127) - 1
"""The largest amount, which fits every type that quote functions take."""
_BALANCE_OF: Final = "balanceOf(address)"

PoolValues: TypeAlias = Mapping[str, int]
"""The values of a pool that a definition names: addresses, IDs and amounts, as numbers."""


def read_samples(pool: Sampled, quoter: Quoter, context: CallContext) -> BatchRead[Sampled]:
    """Return the pool with samples of both directions.

    This takes one round, or more if values have to be read first.
    """
    values = yield from _read_values(pool, quoter)
    sales = [
        Sale(is_forward, amount)
        for is_forward, decimals in zip((True, False), pool.decimals, strict=True)
        for amount in _amounts_to_sample(decimals, pool.balances[not is_forward] if pool.balances else None)
    ]
    # The largest come last, because they may use up all gas.
    sales.sort(key=lambda sale: sale.amount_in / 10 ** pool.decimals[not sale.is_forward])
    holder = _contract(quoter.holder, values) if quoter.holder else None
    balances = [ContractCall(token, encode_call(_BALANCE_OF, holder)) for token in pool.tokens] if holder else []
    answers = yield [*balances, *_quote_calls(pool, quoter, sales, values, context)]
    state: dict[str, object] = dict(pool.state())
    if balances:
        state["balances"] = [read_word(answer, _BALANCE_OF) for answer in answers[: len(balances)]]
    forward: list[QuotedSale] = []
    backward: list[QuotedSale] = []
    ended: set[bool] = set()
    for sale, answer in zip(sales, answers[len(balances) :], strict=True):
        samples = forward if sale.is_forward else backward
        amount_out = _read_output(quoter, sale, answer)
        if not amount_out and samples:
            ended.add(sale.is_forward)
        if amount_out and sale.is_forward not in ended:
            samples.append(QuotedSale(sale.amount_in, amount_out))
    if not forward and not backward:
        raise invalid_response(
            quoter.quotes[0].function.signature, "the protocol does not quote any amount for this pool"
        )
    state["samples"] = [list(map(list, forward)), list(map(list, backward))]
    return Sampled.from_state(pool.identity, state)


def read_quotes(pool: Sampled, quoter: Quoter, sales: Sequence[Sale], context: CallContext) -> BatchRead[Sampled]:
    """Return the pool with samples for exactly the given `sales`, in as many rounds as `read_samples`."""
    values = yield from _read_values(pool, quoter)
    answers = yield _quote_calls(pool, quoter, sales, values, context)
    for sale, answer in zip(sales, answers, strict=True):
        amount_out = _read_output(quoter, sale, answer)
        balance = pool.balances[sale.is_forward] if pool.balances else None
        if not amount_out:
            raise invalid_response(pool.key, f"the protocol does not quote {sale.amount_in}")
        if balance is not None and amount_out > balance:
            raise invalid_response(pool.key, f"the output {amount_out} is above the balance {balance}")
        tokens = pool.tokens if sale.is_forward else pool.tokens[::-1]
        pool = pool.with_sample(tokens[0], tokens[1], QuotedSale(sale.amount_in, amount_out))
    return pool


def read_check(pool: Pool, quoter: Quoter, sale: Sale, context: CallContext) -> BatchRead[int]:
    """Return a computed pool's quote from its protocol for a sale; 0 if there is none. It takes one round, or two."""
    known = pool.api_extra_data()
    constants = tuple((name, str(known[name])) for name in quoter.constants if name in known)
    named = Sampled(*pool.identity, constants=constants, pool_id=pool.pool_id)
    values = yield from _read_values(named, quoter)
    (answer,) = yield _quote_calls(named, quoter, [sale], values, context)
    return _read_output(quoter, sale, answer)


def _amounts_to_sample(decimals: int, balance: int | None) -> list[int]:
    """Return the amounts of a token to sample, in base units."""
    amounts = {10 ** (decimals + power) for power in _POWERS if decimals + power >= 0}
    if balance:
        amounts.update(balance * part // 1_000 for part in _BALANCE_PARTS)
    else:
        amounts.update(3 * 10 ** (decimals + power) for power in _FINE_POWERS if decimals + power >= 0)
    return sorted(amount for amount in amounts if 0 < amount <= _MAX_AMOUNT)


def _read_values(pool: Sampled, quoter: Quoter) -> BatchRead[PoolValues]:
    """Return the values of a pool, with those that are read before every quote."""
    named = {"pool": pool.address, "token0": pool.tokens[0], "token1": pool.tokens[1], **dict(pool.constants)}
    named |= {"pool_id": pool.pool_id} if pool.pool_id else {}
    values: PoolValues = {name: parse_number_text(text) for name, text in named.items()}
    return (yield from read_values(values, quoter.values, pool.protocol))


def read_values(values: PoolValues, reads: Sequence[ReadValue], subject: str) -> BatchRead[PoolValues]:
    """Return `values` with the values of `reads` added, in as many rounds of calls as the dependencies of `reads` need.

    `subject` is what the definition describes, for errors.
    """
    pending = list(reads)
    while pending:
        ready = [read for read in pending if _names(read.function) <= values.keys()]
        if not ready:
            raise invalid_response(subject, "the definition does not have all values that its calls need")
        answers = yield [function_call(read.function, values) for read in ready]
        values = {
            **values,
            **{read.name: _returned_word(read, answer) for read, answer in zip(ready, answers, strict=True)},
        }
        pending = [read for read in pending if read not in ready]
    return values


def _names(function: ContractFunction) -> set[str]:
    """Return the names of the values that a call needs."""
    names: set[str] = set()
    arguments: list[Argument] = [function.contract, *function.arguments]
    while arguments:
        argument = arguments.pop()
        if isinstance(argument, PackedArgument):
            arguments.extend(part for part, _ in argument.parts)
        elif isinstance(argument, tuple):
            arguments.extend(argument)
        elif isinstance(argument, str) and argument.startswith("$"):
            names.add(argument[1:])
    return names


def _returned_word(read: ReadValue, answer: ReturnData) -> int:
    return read_words(answer, read.word + 1, read.function.signature)[read.word]


def with_value(values: PoolValues, read: ReadValue) -> BatchRead[PoolValues]:
    """Return `values` with the value of `read` added, which takes one round of calls."""
    (answer,) = yield [function_call(read.function, values)]
    return {**values, read.name: _returned_word(read, answer)}


def _quote_calls(
    pool: Sampled, quoter: Quoter, sales: Iterable[Sale], values: PoolValues, context: CallContext
) -> list[ContractCall]:
    calls = []
    for is_forward, amount in sales:
        token_in, token_out = ("token0", "token1") if is_forward else ("token1", "token0")
        of_sale = {
            "token_in": values[token_in],
            "token_out": values[token_out],
            "amount": amount,
            "is_forward": int(is_forward),
        }
        call = function_call(_quote_of(quoter, is_forward=is_forward).function, {**values, **of_sale})
        own_context = context if quoter.is_sent_as_transaction else None
        calls.append(call._replace(may_revert=True, group=pool.key, context=own_context))
    return calls


def _quote_of(quoter: Quoter, *, is_forward: bool) -> QuoteFunction:
    return quoter.quotes[0 if is_forward else 1]


def _read_output(quoter: Quoter, sale: Sale, answer: ReturnData) -> int:
    """Return the quoted output; 0 if the call reverts or does not take the whole input."""
    quote = _quote_of(quoter, is_forward=sale.is_forward)
    if answer is None:
        return 0
    name = quote.function.signature
    words = read_words(answer, max(quote.output, quote.leftover or 0, quote.taken or 0) + 1, name)
    if quote.leftover is not None and words[quote.leftover]:
        return 0
    if quote.taken is not None and words[quote.taken] != sale.amount_in:
        return 0
    amount_out = -to_signed(words[quote.output]) if quote.is_negative else words[quote.output]
    if not 0 <= amount_out <= _MAX_AMOUNT:
        raise invalid_response(name, f"an output of {amount_out}")
    return amount_out


def function_call(function: ContractFunction, values: PoolValues) -> ContractCall:
    arguments = [_resolve(argument, values) for argument in function.arguments]
    selector = keccak256(function.signature.encode())[:4]
    return ContractCall(
        _contract(function.contract, values), selector + encode_arguments(function.signature, arguments)
    )


def _contract(name: str, values: PoolValues) -> str:
    return to_address(resolve_number(name, values), name)


def _resolve(argument: Argument, values: PoolValues) -> AbiValue:
    if isinstance(argument, PackedArgument):
        return b"".join(resolve_number(part, values).to_bytes(length) for part, length in argument.parts)
    if isinstance(argument, tuple):
        return [_resolve(each, values) for each in argument]
    if isinstance(argument, str) and not argument.startswith("$"):
        is_word = len(argument) % 2 == 0 and argument != "0x" and len(argument) <= 2 + 2 * WORD
        return int(argument, 16) if is_word else bytes.fromhex(argument[2:])
    return resolve_number(argument, values)


def resolve_number(argument: int | str, values: PoolValues) -> int:
    """Return the number that an argument stands for: an integer, hex, or the name of a value after `$`."""
    if isinstance(argument, int):
        return argument
    if not argument.startswith("$"):
        return int(argument, 16)
    value = values.get(argument[1:])
    if value is None:
        raise invalid_response(argument, "the definition has no such value for this pool")
    return value
