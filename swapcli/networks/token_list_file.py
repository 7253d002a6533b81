"""Lists of tokens: JSON in the format of tokenlists.org, which Uniswap defined, or text with one token a line."""

from __future__ import annotations

from swapcli.encoding.strict_json import InvalidJson, parse_json_file
from swapcli.encoding.text import truncate
from swapcli.errors import InvalidAddress, InvalidInput
from swapcli.model.network import Network
from swapcli.networks.address import is_native, parse_address
from swapcli.records import NamedTuple
from swapcli.validation.field_reader import FieldReader
from swapcli.validation.values import InvalidValue, parse_json_integer, parse_object, parse_text

MAX_TOKENS = 10_000
"""Entries of a list: the limit of the format."""
_MAX_DECIMALS = 255
_MAX_NAME = 100
"""Characters of a line that names a token. Addresses have 42, and symbols are shorter."""
_COMMENT = "#"
_JSON_BEGINS = ("{", "[")


class TokenListEntry(NamedTuple):
    """A token of a list: its address or symbol, its place for errors, and its decimals if the list has them."""

    name: str
    place: str
    decimals: int | None = None


class _ListFields(FieldReader):
    """Fields of a token list. Raises `InvalidInput`."""

    __slots__ = ()

    @classmethod
    def error(cls, path: str, invalid: InvalidValue) -> InvalidInput:
        """Return the error for the value at `path`."""
        return InvalidInput(f"{path or 'the document'}: {invalid.problem}", details={"field": path})


def parse_token_list(document: bytes, network: Network, source: str) -> tuple[TokenListEntry, ...]:
    """Return the tokens of a list that are on this network; `source` names the list in errors.

    Entries of other chains are ignored. Symbols and names of JSON lists are ignored, too: anybody can write any. Raises
    `InvalidInput`, also if no token is on the network.
    """
    try:
        tokens = _parse(document, network, source)
    except InvalidInput as error:
        error.place = error.place or source
        raise
    if not tokens:
        raise InvalidInput(f"{source} has no token of {network.name} (chain {network.chain_id})")
    return tokens


def _parse(document: bytes, network: Network, source: str) -> tuple[TokenListEntry, ...]:
    try:
        text = document.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"is not text in UTF-8, at byte {error.start}") from None
    return _parse_json(text, network, source) if text.lstrip().startswith(_JSON_BEGINS) else _parse_lines(text, source)


def _parse_json(text: str, network: Network, source: str) -> tuple[TokenListEntry, ...]:
    try:
        fields = _ListFields(parse_json_file(text))
    except InvalidJson as error:
        raise InvalidInput(f"the token list {error.problem}") from None
    tokens: dict[str, TokenListEntry] = {}
    for path, entry in fields.items("tokens", max_entries=MAX_TOKENS):
        if _ListFields.parse(path, entry, parse_object).get("chainId") == network.chain_id:
            token = _parse_entry(_ListFields(entry, path), network, source)
            tokens[token.name] = token
        else:
            _ListFields(entry, path).read("chainId", parse_json_integer, 1, 2**256 - 1)
    return tuple(tokens.values())


def _parse_entry(fields: _ListFields, network: Network, source: str) -> TokenListEntry:
    fields.read("symbol", parse_text)
    fields.read("name", parse_text)
    decimals = fields.read("decimals", parse_json_integer, 0, _MAX_DECIMALS)
    written, place = fields.text("address"), f"{source}: {fields.path_of('address')}"
    try:
        if is_native(written, network.kind):
            native = network.native
            return TokenListEntry(network.to_wrapped(native.address), place, decimals)
        return TokenListEntry(parse_address(written, network.kind), place, decimals)
    except InvalidAddress as error:
        error.place = place
        raise


def _parse_lines(text: str, source: str) -> tuple[TokenListEntry, ...]:
    tokens = []
    for number, line in enumerate(text.splitlines(), 1):
        name = line.partition(_COMMENT)[0].strip()
        if len(name) > _MAX_NAME or not name.isprintable():
            shown = truncate(name, _MAX_NAME // 2) if name.isprintable() else "a line with control characters"
            raise InvalidInput(f"line {number}: expected the symbol or the address of one token, not {shown}")
        if name:
            tokens.append(TokenListEntry(name, f"{source}: line {number}"))
    if len(tokens) > MAX_TOKENS:
        raise InvalidInput(f"has {len(tokens):,} lines, more than {MAX_TOKENS:,}")
    return tuple(tokens)
