"""Read transactions from shell text: `cast send` commands, and the assignments that `swapcli calldata` prints.

A shell executes such text, so everything outside `shell_grammar` is dangerous, even if the transaction is right. The
reader reports each such place, and still reads everything else.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from swapcli.core.encoding.strict_json import parse_json
from swapcli.core.encoding.text import SHOWN_CHARACTERS, printable, truncate
from swapcli.core.errors import InvalidInput
from swapcli.core.records import NamedTuple
from swapcli.payload.decode import shell_grammar as grammar
from swapcli.payload.decode.given_transaction import GivenTransaction, parse_calldata, shorten_places
from swapcli.payload.decode.quantities import parse_quantity

_CAST: Final = re.compile(r"\bcast\s+send\b")
_VARIABLE: Final = re.compile(r"(?:^|[\s;&|])SWAP_[A-Z0-9_]+=")
_ASSIGNMENT: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=")
_EXPORT: Final = "export"
_TOKEN: Final = re.compile(
    rf"(?P<bare>[{re.escape(grammar.BARE_CHARACTERS)}]+)|(?P<quoted>'[^']*'|\"[^\"]*\")|(?P<blank>[ \t]+)|(?P<end>\n)"
    r"|(?P<separator>[;|&()<>]|\\\n)|(?P<other>.)",
    re.DOTALL,
)
"""A token of a shell text. Only the first four kinds are in the grammar; an unclosed quote is `other`."""
_COMMAND_ENDS: Final = frozenset(";|&")
_HEX: Final = re.compile(r"0x[0-9a-fA-F]+")
_ADDRESS_CHARACTERS: Final = 42  # 0x and 40 digits
_DECIMAL: Final = re.compile(r"[0-9]{1,78}")
_FIELDS: Final[Mapping[str, str]] = {
    grammar.CHAIN_OPTION: "chain",
    grammar.VALUE_OPTION: "value",
    grammar.ACCESS_LIST_OPTION: "access list",
    **{option: field for field, option in grammar.CAST_OPTIONS.items()},
}


class ShellForm(NamedTuple):
    """The transactions in a shell text, and everything else in it.

    `document` describes the swap. `oddities` are sentences about content that `calldata` never prints.
    """

    transactions: tuple[GivenTransaction, ...]
    network: str | None
    document: Mapping[str, object]
    oddities: tuple[str, ...]


class _Word(NamedTuple):
    """A word as the shell sees it; line and column count from 1."""

    text: str
    line: int
    column: int

    @property
    def place(self) -> str:
        return f"line {self.line}, column {self.column}"


def is_shell(text: str) -> bool:
    """Return whether a text contains `cast send` commands, or the assignments of `--format sh`."""
    return _CAST.search(text) is not None or _VARIABLE.search(text) is not None


def parse_shell(text: str) -> ShellForm:
    """Parse `cast send` commands, or the assignments of `--format sh`.

    Raises `InvalidInput` for a text within the grammar that still cannot be read.
    """
    return _Reader(text.replace("\r\n", "\n")).read()


class _Reader:
    def __init__(self, text: str) -> None:
        self._oddities: list[str] = []
        self._lines = [0]
        self._commands = list(self._split(text))

    def read(self) -> ShellForm:
        """Read all commands."""
        sent = [found for words in self._commands if (found := self._cast_words(words)) is not None]
        try:
            if sent:
                transactions, networks = zip(*map(self._parse_command, sent), strict=True)
                self._variables(is_alone=False)
                names = {each for each in networks if each is not None}
                if len(names) > 1:
                    raise InvalidInput("the cast send commands are for several networks")
                return self._form(transactions, next(iter(names), None), {})
            return self._form(*_read_variables(self._variables(is_alone=True)))
        except InvalidInput:
            if not self._oddities:
                raise
        return self._form([_find_transaction(words) for words in sent or [self._swap_words()]], None, {})

    def _form(
        self, transactions: Sequence[GivenTransaction], network: str | None, document: Mapping[str, object]
    ) -> ShellForm:
        oddities = tuple(dict.fromkeys(self._oddities))
        if oddities:  # a shell may change these words, so only plain addresses are kept
            transactions = [
                each._replace(to=_address_or_none(each.to), sender=_address_or_none(each.sender))
                for each in transactions
            ]
        return ShellForm(tuple(transactions), network, document, shorten_places(oddities))

    # --- words

    def _split(self, text: str) -> Iterator[list[_Word]]:
        """Yield the words of each command, and record each character that the grammar does not allow in its place."""
        self._lines = [0, *(found.end() for found in re.finditer("\n", text))]
        words: list[_Word] = []
        is_open = False
        for token in _TOKEN.finditer(text):
            found, shown = token.group(), token.lastgroup
            if shown in ("other", "separator"):
                self._note(found[0], token.start(), "outside quotes")
            if shown in ("blank", "separator", "end"):
                is_open = False
                if words and (shown == "end" or found in _COMMAND_ENDS):
                    yield words
                    words = []
                continue
            if shown == "quoted":
                self._check_quoted(found, token.start())
                found = found[1:-1]
            if is_open:
                words[-1] = words[-1]._replace(text=words[-1].text + found)
            else:
                words.append(_Word(found, *self._position(token.start())))
            is_open = True
        if words:
            yield words

    def _check_quoted(self, quoted: str, start: int) -> None:
        is_double = quoted[0] == '"'
        for at, character in enumerate(quoted[1:-1], start=start + 1):
            if not character.isprintable():
                self._note(character, at, "inside quotes")
            elif is_double and character in grammar.ACTIVE_IN_DOUBLE_QUOTES:
                self._note(character, at, "inside double quotes")

    def _position(self, offset: int) -> tuple[int, int]:
        """Return the line and the column of a character."""
        line = bisect_right(self._lines, offset)
        return line, offset - self._lines[line - 1] + 1

    def _note(self, character: str, offset: int, where: str) -> None:
        line, column = self._position(offset)
        shown = {"\n": "a line break", "\\": "a backslash"}.get(character)
        if shown is None:
            shown = character if character.isprintable() else f"U+{ord(character):04X}"
        self._oddities.append(f"a shell would interpret {shown} {where} at line {line}, column {column}")

    def _add(self, sentence: str) -> None:
        self._oddities.append(f"{sentence}, and swapcli calldata never prints that")

    # --- cast

    def _cast_words(self, words: Sequence[_Word]) -> Sequence[_Word] | None:
        """Return the words after `cast send`, or None if this is a different command."""
        at = _find_cast(words)
        if at is None:
            return None
        self._add_words(words[:at])
        return words[at + len(grammar.CAST_COMMAND) :]

    def _add_words(self, words: Sequence[_Word]) -> None:
        for word in words:
            assigned = _ASSIGNMENT.match(word.text)
            found = f"an assignment to {_shown(assigned[1])}" if assigned else f"the word {_shown(word.text)}"
            self._add(f"the text has {found} at {word.place}")

    def _parse_command(self, words: Sequence[_Word]) -> tuple[GivenTransaction, str | None]:
        options: dict[str, str] = {}
        positional: list[str] = []
        reader = iter(words)
        for word in reader:
            name, separator, attached = word.text.partition("=")
            field = _FIELDS.get(name)
            if field is not None:
                following = None if separator else next(reader, None)
                argument = attached if separator else following.text if following else None
                if argument is None or field in options:
                    raise InvalidInput(f"cast send: {name} needs one argument, once")
                options[field] = argument
            elif word.text.startswith("-"):
                self._add(f"cast send has the option {_shown(name)} at {word.place}")
            else:
                positional.append(word.text)
        if "access list" in options and not _is_access_list(options["access list"]):
            self._add(f"cast send has an {grammar.ACCESS_LIST_OPTION} that is not a list of storage slots")
        if not 1 <= len(positional) <= 2:
            raise InvalidInput("cast send: expected an address and calldata in hex", hint="encode the arguments first")
        chain = options.get("chain")
        is_number = chain is not None and chain.isdecimal()

        def quantity(field: str) -> int | None:
            return _parse_decimal(options[field], f"cast send: {field}") if field in options else None

        transaction = GivenTransaction(
            parse_calldata(positional[1]) if len(positional) > 1 else "0x",
            to=positional[0],
            sender=options.get("from"),
            chain_id=parse_quantity(chain, grammar.CHAIN_OPTION) if is_number else None,
            value=quantity("value") or 0,
            nonce=quantity("nonce"),
            gas=quantity("gas"),
            max_fee_wei=quantity("maxFeePerGas"),
            max_priority_fee_wei=quantity("maxPriorityFeePerGas"),
            is_whole=True,
        )
        return transaction, None if is_number else chain

    # --- assignments

    def _variables(self, *, is_alone: bool) -> dict[str, str]:
        """Return the variables, and record words that `calldata` never prints: all of them, if there are cast
        commands."""
        variables: dict[str, str] = {}
        for words in self._commands:
            if _find_cast(words) is not None:
                continue
            for number, word in enumerate(words):
                if number == 0 and word.text == _EXPORT:
                    continue
                name, separator, value = word.text.partition("=")
                if not separator or not is_alone or not grammar.is_variable(name):
                    self._add_words([word])
                elif name in variables:
                    raise InvalidInput(f"{name} is assigned twice")
                else:
                    variables[name] = value
                    if not grammar.is_variable_value(name, value):
                        self._add(f"{name} has the value {_shown(value)} at {word.place}")
        return variables

    def _swap_words(self) -> list[_Word]:
        """Return the words that assign the swap."""
        names = (f"{grammar.TO}=", f"{grammar.CALLDATA}=")
        return [word for words in self._commands for word in words if word.text.startswith(names)]


def _find_cast(words: Sequence[_Word]) -> int | None:
    """Return the position of `cast send` in a command, or None if it is a different one."""
    texts = tuple(word.text for word in words)
    return next((k for k in range(len(texts)) if texts[k : k + 2] == grammar.CAST_COMMAND), None)


def _read_variables(variables: Mapping[str, str]) -> tuple[list[GivenTransaction], str | None, Mapping[str, object]]:
    count = parse_quantity(variables.get(grammar.APPROVALS, "0"), grammar.APPROVALS)
    named = {name for name in variables if grammar.APPROVAL_VARIABLE.fullmatch(name) and name.endswith("_TO")}
    if len(named) != count:
        raise InvalidInput(f"{grammar.APPROVALS} is {count}, but there are {len(named)} approvals")
    chain = variables.get(grammar.CHAIN_ID)
    chain_id = None if chain is None else parse_quantity(chain, grammar.CHAIN_ID)
    listed = [
        GivenTransaction(
            parse_calldata(_variable(variables, grammar.approval_variable(number, "CALLDATA"))),
            to=_variable(variables, grammar.approval_variable(number, "TO")),
            value=0,
            chain_id=chain_id,
        )
        for number in range(1, count + 1)
    ]
    swap = GivenTransaction(
        parse_calldata(_variable(variables, grammar.CALLDATA)),
        to=_variable(variables, grammar.TO),
        value=parse_quantity(_variable(variables, grammar.VALUE), grammar.VALUE),
        chain_id=chain_id,
    )
    minimum = variables.get(grammar.MIN_RECEIVED)
    document: dict[str, object] = {} if minimum is None else {"minReceived": minimum}
    return [*listed, swap], variables.get(grammar.NETWORK), document


def _variable(variables: Mapping[str, str], name: str) -> str:
    if name not in variables:
        raise InvalidInput(f"{name} is not assigned")
    return variables[name]


def _address_or_none(text: str | None) -> str | None:
    return text if text and _HEX.fullmatch(text) and len(text) == _ADDRESS_CHARACTERS else None


def _find_transaction(words: Sequence[_Word]) -> GivenTransaction:
    """Return the address and the calldata in a command outside the grammar."""
    found = [match[0] for word in words if (match := _HEX.match(word.text.rpartition("=")[2]))]
    addresses = [each for each in found if len(each) == _ADDRESS_CHARACTERS]
    calls = [each for each in found if len(each) > _ADDRESS_CHARACTERS and len(each) % 2 == 0]
    return GivenTransaction(
        parse_calldata(calls[-1]) if calls else "0x", to=addresses[-1] if addresses else None, is_whole=True
    )


def _is_access_list(text: str) -> bool:
    try:
        entries = parse_json(text.encode(errors="replace"), "the access list")
    except InvalidInput:
        return False
    return isinstance(entries, list) and all(map(_is_access_entry, entries))


def _is_access_entry(entry: object) -> bool:
    if not isinstance(entry, Mapping) or entry.keys() != {"address", "storageKeys"}:
        return False
    slots = entry["storageKeys"]
    return _is_hex(entry["address"]) and isinstance(slots, list) and all(map(_is_hex, slots))


def _is_hex(value: object) -> bool:
    return isinstance(value, str) and _HEX.fullmatch(value) is not None


def _parse_decimal(text: str, name: str) -> int:
    if not _DECIMAL.fullmatch(text):
        raise InvalidInput(f"{name}: expected a decimal number, not {_shown(text)}")
    return parse_quantity(text, name)


def _shown(text: str) -> str:
    return printable(truncate(text, SHOWN_CHARACTERS))
