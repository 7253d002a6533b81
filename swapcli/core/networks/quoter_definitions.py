"""Parse the quote functions of protocols: the key `quoters` in a network's definition.

`docs/network-keys.md` describes each key.

A contract or an argument is an address, a number, or the name of a value after `$`; `{packed: [[value, bytes], ...]}`
means bytes without padding.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from swapcli.core.encoding.abi import ADDRESS_BYTES
from swapcli.core.encoding.abi_arguments import argument_types
from swapcli.core.errors import InvalidAddress, InvalidInput
from swapcli.core.model.network import Kind, Network
from swapcli.core.model.quoter import (
    POOL_VALUES,
    QUOTE_VALUES,
    Argument,
    ContractFunction,
    CreationEvent,
    PackedArgument,
    PoolEnumeration,
    QuoteFunction,
    Quoter,
    ReadValue,
)
from swapcli.core.networks.address import parse_address
from swapcli.core.networks.definition_fields import DefinitionFields
from swapcli.core.validation.values import (
    parse_boolean,
    parse_hex,
    parse_integer,
    parse_list,
    parse_number_text,
    parse_printable,
)

QUOTER_KEYS = (
    "protocols", "quote", "as_transaction", "values", "holder", "list", "created", "pools", "reads", "constants",
    "pool_ids", "check", "source",
)  # fmt: skip
FUNCTION_KEYS = ("contract", "call", "arguments")
QUOTE_KEYS = (*FUNCTION_KEYS, "output", "negative", "leftover", "taken")
READ_KEYS = (*FUNCTION_KEYS, "name", "word")
LIST_KEYS = (*FUNCTION_KEYS, "entry", "length", "nested", "pairwise")
CREATED_KEYS = ("contract", "event", "entry")
_INDEX = "index"
_SKIPPED = "-"
"""The name for a word that is not used."""
_MAX_WORD = 255  # a bound against mistakes; chosen
_MAX_PACKED_BYTES = 32  # a packed value is part of a word
_TOKENS_OF_POOL = ("token0", "token1")


def quoted_protocols(network: Network) -> tuple[str, ...]:
    """Return the protocols of a network whose pools can be sampled, in the definition's order. Quoters are not
    parsed."""
    items = [item for item in network.quoters if isinstance(item, dict) and item.get("check") is not True]
    names = (name for item in items for name in item.get("protocols") or () if isinstance(name, str))
    return tuple(dict.fromkeys(names))


def checked_protocols(network: Network) -> frozenset[str]:
    """Return the protocols of a network whose pools are computed and then checked by quotes. Quoters are not parsed."""
    items = (item for item in network.quoters if isinstance(item, dict) and item.get("check") is True)
    return frozenset(name for item in items for name in item.get("protocols") or () if isinstance(name, str))


def parse_quoters(network: Network, where: str = "") -> dict[str, Quoter]:
    """Return the quoters of a network's sampled pools by protocol; the first quoter of a protocol counts.

    Raises `ConfigError`, which names the key below `where`; the default is the network's name.
    """
    return {name: quoter for name, quoter in _parse_all(network, where).items() if not quoter.is_check}


def parse_checks(network: Network) -> dict[str, Quoter]:
    """Return the quoters that check computed pools, by protocol. Raises the same errors as `parse_quoters`."""
    return {name: quoter for name, quoter in _parse_all(network).items() if quoter.is_check}


def _parse_all(network: Network, where: str = "") -> dict[str, Quoter]:
    path = f"{where}.quoters" if where else f"{network.name}: quoters"
    quoters: dict[str, Quoter] = {}
    for number, item in enumerate(network.quoters):
        fields = DefinitionFields.of_keys(item, f"{path}[{number}]", QUOTER_KEYS)
        quoter = _parse_quoter(fields)
        if not quoter.protocols:
            raise fields.failure(fields.path_of("protocols"), "expected the name of a protocol")
        for protocol in quoter.protocols:
            if network.protocol(protocol) is None:
                fields.refuse(fields.path_of("protocols"), f"an amm_name of {network.name}", protocol)
            quoters.setdefault(protocol, quoter)
    return quoters


def _parse_quoter(fields: DefinitionFields) -> Quoter:
    enumeration, listed = _parse_list(fields)
    pools = tuple(tuple(_parse_pool(where, item)) for where, item in fields.optional_items("pools"))
    created = _parse_created(fields)
    announced = _named(created.entry) if created else ()
    names = {*listed, *announced, *(name for pool in pools for name, _ in pool)}
    reads = tuple(parse_reads(fields, "reads", names))
    constants = fields.texts("constants")
    values = tuple(parse_reads(fields, "values", quote_names := {*POOL_VALUES, *QUOTE_VALUES, *constants}))
    holder = fields.optional_text("holder")
    if holder is not None:
        check_value(fields, fields.path_of("holder"), holder, quote_names)
    return Quoter(
        protocols=fields.texts("protocols"),
        quotes=_parse_quotes(fields, quote_names),
        is_sent_as_transaction=fields.boolean("as_transaction"),
        values=values,
        holder=holder,
        enumeration=enumeration,
        created=created,
        pools=pools,
        reads=reads,
        constants=constants,
        has_pool_ids=fields.boolean("pool_ids"),
        source=fields.text("source", ""),
        is_check=fields.boolean("check"),
    )


def _parse_list(fields: DefinitionFields) -> tuple[PoolEnumeration | None, tuple[str, ...]]:
    if not fields.has("list"):
        return None, ()
    where = fields.path_of("list")
    listing = fields.of_keys(fields.values["list"], where, LIST_KEYS)
    length = None
    if listing.has("length"):
        at = listing.path_of("length")
        length = _parse_function(listing.of_keys(listing.values["length"], at, FUNCTION_KEYS), ())
    entry = listing.texts("entry")
    function = _parse_function(listing, (_INDEX,) if length else ())
    lists_tokens_of_pairs = listing.boolean("pairwise")
    names = _TOKENS_OF_POOL if lists_tokens_of_pairs else _named(entry)
    return PoolEnumeration(function, entry, length, listing.boolean("nested"), lists_tokens_of_pairs), names


def _named(entry: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in entry if name != _SKIPPED)


def _parse_created(fields: DefinitionFields) -> CreationEvent | None:
    if not fields.has("created"):
        return None
    created = fields.of_keys(fields.values["created"], fields.path_of("created"), CREATED_KEYS)
    contract, signature, entry = created.text("contract"), created.text("event"), created.texts("entry")
    try:
        address = parse_address(contract, Kind.EVM)
    except InvalidAddress as error:
        raise created.failure(created.path_of("contract"), error.message) from None
    _check_count(created, "event", signature, "entry", len(entry))
    return CreationEvent(address, signature, entry)


def _parse_pool(where: str, item: object) -> Iterator[tuple[str, int]]:
    pool = DefinitionFields(item, where)
    for name in pool.values:
        if name in _TOKENS_OF_POOL:
            pool.read(name, parse_hex, ADDRESS_BYTES)
        yield name, pool.read(name, parse_number_text)


def parse_reads(fields: DefinitionFields, key: str, names: set[str]) -> Iterator[ReadValue]:
    """Yield the reads in a list. Each adds its name to `names`, so that later reads may refer to it."""
    for where, item in fields.optional_items(key):
        read = fields.of_keys(item, where, READ_KEYS)
        name = read.text("name")
        yield ReadValue(name, _parse_function(read, names), read.whole("word", 0, _MAX_WORD, default=0))
        names.add(name)


def _parse_quotes(fields: DefinitionFields, names: Collection[str]) -> tuple[QuoteFunction, QuoteFunction]:
    value, where = fields.values.get("quote"), fields.path_of("quote")
    if isinstance(value, list):
        first, second = fields.parse(where, value, parse_list, 2, 2)
        return _parse_quote(fields, first, f"{where}[0]", names), _parse_quote(fields, second, f"{where}[1]", names)
    quote = _parse_quote(fields, value, where, names)
    return quote, quote


def _parse_quote(fields: DefinitionFields, value: object, where: str, names: Collection[str]) -> QuoteFunction:
    quote = fields.of_keys(value, where, QUOTE_KEYS)
    return QuoteFunction(
        _parse_function(quote, names),
        quote.whole("output", 0, _MAX_WORD, default=0),
        quote.boolean("negative"),
        quote.read_optional("leftover", parse_integer, 0, _MAX_WORD),
        quote.read_optional("taken", parse_integer, 0, _MAX_WORD),
    )


def _parse_function(fields: DefinitionFields, names: Collection[str]) -> ContractFunction:
    contract, signature = fields.text("contract"), fields.text("call")
    check_value(fields, fields.path_of("contract"), contract, names)
    if not contract.startswith("$"):
        fields.read("contract", parse_hex, ADDRESS_BYTES)
    arguments = tuple(_parse_argument(fields, where, item, names) for where, item in fields.optional_items("arguments"))
    _check_count(fields, "call", signature, "arguments", len(arguments))
    return ContractFunction(contract, signature, arguments)


def _check_count(fields: DefinitionFields, signature_key: str, signature: str, key: str, count: int) -> None:
    """Reject an invalid signature, or one with a different number of arguments."""
    try:
        types = argument_types(signature)
    except InvalidInput as error:
        raise fields.failure(fields.path_of(signature_key), error.message) from None
    if len(types) != count:
        raise fields.failure(fields.path_of(key), f"{signature} takes {len(types)} arguments, not {count}")


def _parse_argument(fields: DefinitionFields, where: str, value: object, names: Collection[str]) -> Argument:
    if isinstance(value, list):
        return tuple(_parse_argument(fields, f"{where}[{k}]", each, names) for k, each in enumerate(value))
    if isinstance(value, dict):
        packed = fields.of_keys(value, where, ("packed",))
        return PackedArgument(
            tuple(_parse_part(packed, at, item, names) for at, item in packed.optional_items("packed"))
        )
    if isinstance(value, bool):
        return int(fields.parse(where, value, parse_boolean))
    if isinstance(value, int):
        return value
    text = fields.parse(where, value, parse_printable)
    check_value(fields, where, text, names)
    return text


def _parse_part(fields: DefinitionFields, where: str, item: object, names: Collection[str]) -> tuple[int | str, int]:
    value, length = fields.parse(where, item, parse_list, 2, 2)
    part = _parse_argument(fields, where, value, names)
    if not isinstance(part, int | str):
        fields.refuse(where, "a value and its length in bytes", item)
    return part, fields.parse(where, length, parse_integer, 1, _MAX_PACKED_BYTES)


def check_value(fields: DefinitionFields, where: str, text: str, names: Collection[str]) -> None:
    """Reject text that is neither hex nor the name of a known value."""
    if text.startswith("$") and text[1:] in names:
        return
    digits = text.removeprefix("0x")
    if digits == text or not all(character in "0123456789abcdefABCDEF" for character in digits):
        fields.refuse(where, f"hex with 0x or one of {', '.join(f'${name}' for name in sorted(names))}", text)
