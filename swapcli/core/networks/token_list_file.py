"""Token lists: JSON in the format of tokenlists.org, which Uniswap defined, or text with one token per line."""

from __future__ import annotations

from swapcli.core.encoding.strict_json import InvalidJson, parse_json_file
from swapcli.core.encoding.text import truncate
from swapcli.core.errors import InvalidAddress, InvalidInput
from swapcli.core.model.network import Network
from swapcli.core.networks.address import is_native, parse_address
from swapcli.core.records import NamedTuple
from swapcli.core.validation.field_reader import FieldReader
from swapcli.core.validation.values import InvalidValue, parse_json_integer

MAX_TOKENS = 10_000
"""The maximum number of entries in a list: the limit of the format."""
_MAX_DECIMALS = 255  # `decimals()` returns a uint8
_MAX_NAME = 100
"""The maximum number of characters in a line that names a token. Addresses have 42, and symbols are shorter."""
_COMMENT = "#"
_JSON_BEGINS = ("{", "[")


class TokenListEntry(NamedTuple):
    """A token in a list: its address or symbol, its place in the list for error messages, and its decimals if the list
    has them."""

    name: str
    place: str
    decimals: int | None = None


class TokenListFile(NamedTuple):
    """The tokens of a list that are on a network, and the errors of the omitted entries."""

    tokens: tuple[TokenListEntry, ...]
    bad_entries: tuple[InvalidInput, ...] = ()


class _ListFields(FieldReader):
    """The fields of a token list. Raises `InvalidInput`."""

    __slots__ = ()

    @classmethod
    def error(cls, path: str, invalid: InvalidValue) -> InvalidInput:
        """Return the error for the value at `path`."""
        return InvalidInput(f"{path or 'the document'}: {invalid.problem}", details={"field": path})


def parse_token_list(document: bytes, network: Network, source: str) -> TokenListFile:
    """Return the tokens of a list that are on this network; `source` names the list in errors.

    Entries for other chains are ignored, and so are the symbols and names in JSON lists, which anyone can choose
    freely. Invalid entries are omitted. Raises `InvalidInput` for a list that cannot be read or has no token on the
    network. If such a list has an invalid entry, the error is that of the first invalid entry.
    """
    try:
        found = _parse(document, network, source)
    except InvalidInput as error:
        error.place = error.place or source
        raise
    if found.tokens:
        return found
    raise next(
        iter(found.bad_entries),
        InvalidInput(f"{source} has no token on {network.name} (chain {network.chain_id})"),
    )


def _parse(document: bytes, network: Network, source: str) -> TokenListFile:
    try:
        text = document.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"is not text in UTF-8, at byte {error.start}") from None
    return (
        _parse_token_list(text, network, source)
        if text.lstrip().startswith(_JSON_BEGINS)
        else _parse_lines(text, source)
    )


def _parse_token_list(text: str, network: Network, source: str) -> TokenListFile:
    try:
        fields = _ListFields(parse_json_file(text))
    except InvalidJson as error:
        raise InvalidInput(f"the token list {error.problem}") from None
    tokens: dict[str, TokenListEntry] = {}
    bad_entries = []
    for path, entry in fields.items("tokens", max_entries=MAX_TOKENS):
        try:
            token = _parse_entry(_ListFields(entry, path), network, source)
        except InvalidInput as error:
            error.place = error.place or source
            bad_entries.append(error)
            continue
        if token is not None:
            tokens[token.name] = token
    return TokenListFile(tuple(tokens.values()), tuple(bad_entries))


def _parse_entry(fields: _ListFields, network: Network, source: str) -> TokenListEntry | None:
    """Parse an entry; None if it is for a different chain."""
    if not _is_chain_id(fields.read("chainId", _parse_chain_id), network):
        return None
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


def _parse_chain_id(value: object) -> int | str:
    if isinstance(value, bool) or not isinstance(value, int | str) or value == "":
        raise InvalidValue("a chain ID", value)
    return value


def _is_chain_id(value: int | str, network: Network) -> bool:
    """Return whether a chain ID is the network's: a number, or text as lists for several ecosystems have it.

    Text is decimal, hex with 0x, or on Starknet the ASCII name that its number encodes. JavaScript rounds that number.
    """
    chain_id = network.chain_id
    if isinstance(value, int):
        return value in (chain_id, int(float(chain_id)))
    name = chain_id.to_bytes((chain_id.bit_length() + 7) // 8)
    return value.encode() == name or value.lower() in (str(chain_id), hex(chain_id))


def _parse_lines(text: str, source: str) -> TokenListFile:
    tokens, bad_entries = [], []
    for number, line in enumerate(text.splitlines(), 1):
        name = line.partition(_COMMENT)[0].strip()
        place = f"{source}: line {number}"
        if len(name) > _MAX_NAME or not name.isprintable():
            shown = truncate(name, _MAX_NAME // 2) if name.isprintable() else "a line with control characters"
            error = InvalidInput(f"expected the symbol or the address of one token, not {shown}")
            error.place = place
            bad_entries.append(error)
        elif name:
            tokens.append(TokenListEntry(name, place))
    if len(tokens) > MAX_TOKENS:
        raise InvalidInput(f"has {len(tokens):,} lines, more than {MAX_TOKENS:,}")
    return TokenListFile(tuple(tokens), tuple(bad_entries))
