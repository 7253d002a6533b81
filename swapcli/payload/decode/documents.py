"""Parse a payload: calldata, felts, transactions from wallets and nodes, swapcli's own documents.

A document with several transactions is read completely: the last router call is the payload, and the others are
compared with the transactions that it needs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from swapcli.core.encoding.abi import SELECTOR_CHARACTERS, WORD_CHARACTERS
from swapcli.core.encoding.strict_json import parse_json
from swapcli.core.errors import InvalidInput
from swapcli.core.records import NamedTuple
from swapcli.payload.decode.envelopes import LIST_NAMES, JsonPath, Opened, open_envelopes
from swapcli.payload.decode.foreign_content import find_foreign
from swapcli.payload.decode.given_transaction import HINT, MAX_BYTES, GivenTransaction, parse_calldata
from swapcli.payload.decode.quantities import find_chain_id
from swapcli.payload.decode.raw_transactions import parse_raw
from swapcli.payload.decode.transaction_fields import (
    CALLDATA_NAMES,
    Chains,
    find_chains,
    find_sender,
    named,
    one_of,
    parse_object,
    parse_transaction,
)
from swapcli.payload.evm.decoding.decode import DECODERS
from swapcli.payload.starknet.account_transactions import parse_account_calls
from swapcli.payload.starknet.decode_felts import parse_felts

_MAX_TRANSACTIONS: Final = 256  # a bound against hostile input; chosen
_MAX_TEXT_LEVELS: Final = 2
"""The maximum number of JSON strings that may be nested around the text to decode."""
_HEX: Final = re.compile(r"[0-9a-fA-F]+")
_INVOKE: Final = "INVOKE"
"""The prefix of the type of a Starknet account's transaction."""
_FEE_FIELDS: Final = ("max_fee_wei", "max_priority_fee_wei", "max_total_fee_fri", "max_total_fee_wei")
_EXECUTE: Final = "__execute__"
_PARAMETERS: Final = "swap_parameters"
_HINT_BYTES: Final = "POST the route to /NETWORK/execute (not on hyperevm), or pass it to swapcli execute"


class PayloadInput(NamedTuple):
    """A payload, and the other content of its document.

    `payload` is the transaction to decode, `network` the name or chain ID of its network. `listed` are all transactions
    of a document that lists them, in order, and `position` is the payload's position among them. `document` is the JSON
    object that contains the payload itself; `chain_ids` and `chain_names` are all chain IDs and names in the whole
    document. `oddities` are sentences about content outside the grammar of its form. `messages` are the messages to
    sign that the document has besides its transactions. `written` is the transaction as in the document if the user
    gave a different contract, sender or value; otherwise None.
    """

    payload: GivenTransaction
    network: str | None = None
    listed: tuple[GivenTransaction, ...] = ()
    position: int | None = None
    document: Mapping[str, object] = MappingProxyType({})
    chain_ids: tuple[int, ...] = ()
    chain_names: tuple[str, ...] = ()
    oddities: tuple[str, ...] = ()
    messages: tuple[GivenTransaction, ...] = ()
    written: GivenTransaction | None = None

    def with_own(self, to: str | None, sender: str | None, value: int | None) -> PayloadInput:
        """Return the payload with the contract, sender and value that the user gave; each is None if not given."""
        if to is None and sender is None and value is None:
            return self
        payload = self.payload
        replaced = payload._replace(
            to=to or payload.to, sender=sender or payload.sender, value=payload.value if value is None else value
        )
        return self._replace(payload=replaced, written=payload)


def parse_payload(text: str) -> PayloadInput:
    """Parse the user's input. Raises `InvalidInput`."""
    return _parse_text(text, _MAX_TEXT_LEVELS)


def _parse_text(text: str, levels: int) -> PayloadInput:
    """Parse a text; `levels` is the number of JSON strings that may be nested around it."""
    stripped = text.strip()
    if not stripped:
        raise InvalidInput("no calldata given", hint=HINT)
    if len(stripped) > MAX_BYTES * 4:
        raise InvalidInput("this is more calldata than any transaction can have", hint=HINT)
    from swapcli.payload.decode.shell_forms import is_shell, parse_shell

    if stripped[0] in "{[":
        try:
            documents = _load(stripped)
        except InvalidInput:
            if not is_shell(stripped):
                raise
        else:
            return _parse_json(documents, stripped)
    if stripped[0] == '"' and levels:
        inner = _load_one(stripped)
        return _parse_text(inner if isinstance(inner, str) else "", levels - 1)
    from swapcli.payload.decode.explorer_text import is_explorer_text, parse_explorer_text
    from swapcli.payload.decode.printed_forms import is_printed, parse_printed

    if is_shell(stripped):
        form = parse_shell(stripped)
        found = _from_list(form.transactions, form.network, is_odd=bool(form.oddities))
        return found._replace(document=form.document, oddities=form.oddities)
    if is_explorer_text(stripped):
        calldata, oddities = parse_explorer_text(stripped)
        return PayloadInput(GivenTransaction(calldata), oddities=oddities)
    if is_printed(stripped):
        printed, network, oddities = parse_printed(stripped)
        return _from_list(printed, network)._replace(oddities=oddities)
    unwrapped = _join_lines(stripped)
    if unwrapped is None and (felts := parse_felts(stripped)) is not None:
        return PayloadInput(GivenTransaction(felts=felts))
    return _from_hex(unwrapped or stripped)


def _from_hex(text: str) -> PayloadInput:
    """Parse hex as the bytes of a whole transaction, or as calldata."""
    calldata = parse_calldata(text)
    raw = parse_raw(calldata)
    if raw is None:
        return PayloadInput(GivenTransaction(calldata))
    return PayloadInput(raw, chain_ids=_chain_ids(raw))


def _join_lines(text: str) -> str | None:
    """Return calldata that was wrapped over several lines as one word, or None if the text could also be a list of
    felts."""
    lines = text.split()
    if len(lines) < 2 or "," in text:
        return None
    first = lines[0][2:] if lines[0][:2] in ("0x", "0X") else lines[0]
    if not all(_HEX.fullmatch(line) for line in (first, *lines[1:])):
        return None
    digits = first + "".join(lines[1:])
    begins_with_call = digits[: SELECTOR_CHARACTERS - 2].lower() in DECODERS
    # Felts are short, and only a call begins with 0x and continues without.
    is_long = lines[0] != first and any(len(line) > WORD_CHARACTERS for line in lines)
    return f"0x{digits}" if begins_with_call or is_long else None


# --- JSON


def _parse_json(documents: Sequence[object], text: str) -> PayloadInput:
    if len(documents) > 1:
        return _Document(documents).read_all(documents)
    (document,) = documents
    if isinstance(document, list):
        if not document:
            raise InvalidInput("no calldata given: the list is empty", hint=HINT)
        if all(isinstance(entry, Mapping) for entry in document):
            return _Document(document).read_all(document)
        felts = parse_felts(text)
        if felts is None:
            raise InvalidInput("this is not a list of felts or transactions", hint=HINT)
        return PayloadInput(GivenTransaction(felts=felts))
    found = parse_object(document, "the document")
    inner = open_envelopes(found).content
    message = _parse_message(found) or (_parse_message(inner) if isinstance(inner, Mapping) else None)
    if message is not None:
        return PayloadInput(message, chain_ids=_chain_ids(message))
    return _Document(found).read(found)


def _nested_messages(document: object, path: JsonPath = ()) -> Iterator[tuple[JsonPath, GivenTransaction]]:
    """Yield the messages to sign inside a document, with paths; aggregators put them next to their transaction."""
    entries = (
        document.items() if isinstance(document, Mapping) else enumerate(document if isinstance(document, list) else ())
    )
    for name, value in entries:
        message = _parse_message(value) if isinstance(value, Mapping) else None
        if message is not None:
            yield (*path, name), message
        else:
            yield from _nested_messages(value, (*path, name))


def _parse_message(document: Mapping[str, object]) -> GivenTransaction | None:
    """Return a document's message to sign, or None if it has none."""
    from swapcli.payload.decode.message_requests import find_message

    request = find_message(document)
    if request is None:
        return None
    from swapcli.payload.decode.typed_messages import parse_message

    return parse_message(request)


def _load(text: str) -> Sequence[object]:
    """Return the JSON documents of a text: one, or one per line. Raises `InvalidInput`, including for repeated keys."""
    lines = [line for line in text.splitlines() if line.strip()]
    try:
        if len(lines) > 1 and all(line.strip()[0] == "{" and line.strip()[-1] == "}" for line in lines):
            return [_load_one(line) for line in lines]
        return [_load_one(text)]
    except InvalidInput as error:
        error.hint = HINT
        raise


def _load_one(text: str) -> object:
    return parse_json(text.encode(errors="replace"), "the document")


class _Document:
    """Reads a JSON document, and records which of its objects are transactions."""

    def __init__(self, root: object) -> None:
        self._root = root
        self._read: set[JsonPath] = set()
        self._messages: set[JsonPath] = set()
        self._openings: dict[JsonPath, str] = {}
        self._oddities: list[str] = []

    def read_all(self, entries: Sequence[object]) -> PayloadInput:
        """Read a list of transactions and messages, or of objects with one each.

        A list with one entry is that entry.
        """
        if len(entries) == 1 and _parse_message(entry := parse_object(entries[0], "[0]")) is None:
            return self.read(entry, (0,))
        return self._finish(*self._read_list(entries, (), None))

    def read(self, document: Mapping[str, object], path: JsonPath = ()) -> PayloadInput:
        """Read a document with one transaction or a list of them; `path` is the document's path."""
        opened = self._open(document, path)
        if path:  # the entries of a list are whole transactions
            opened = opened._replace(is_sent=True)
        if isinstance(opened.content, str):
            self._read.add(opened.path)
            found = _from_hex("".join(opened.content.split()))
            self._compare_raw(found.payload, opened)
            return self._finish(found, opened.chains)
        if isinstance(opened.content, list):
            return self._finish(*self._read_list(opened.content, opened.path, None))
        found, chains = self._read_object(opened)
        return self._finish(found, opened.chains | chains)

    def _open(self, document: Mapping[str, object], path: JsonPath) -> Opened:
        opened = open_envelopes(document, path)
        self._openings |= opened.openings
        return opened

    def _finish(self, found: PayloadInput, chains: Chains) -> PayloadInput:
        messages = dict(_nested_messages(self._root))
        foreign = find_foreign(self._root, self._read, self._openings, found.payload.to, messages)
        beside = tuple(each for path, each in messages.items() if path not in self._messages)
        more = (chain_id for each in beside for chain_id in _chain_ids(each))
        return found._replace(
            chain_ids=tuple(dict.fromkeys((*found.chain_ids, *chains.ids, *more))),
            chain_names=chains.names,
            oddities=(*self._oddities, *foreign),
            messages=beside,
        )

    def _read_list(self, entries: Sequence[object], path: JsonPath, name: str | None) -> tuple[PayloadInput, Chains]:
        """Read the transactions of a list; `name` is the list's name, None for a list of whole documents."""
        if not 0 < len(entries) <= _MAX_TRANSACTIONS:
            raise InvalidInput(f"expected a list of 1 to {_MAX_TRANSACTIONS} transactions", hint=HINT)
        listed: list[GivenTransaction] = []
        chains = Chains()
        for number, entry in enumerate(entries):
            place = f"{name or ''}[{number}]"
            parsed = parse_object(entry, place)
            if (message := _parse_message(parsed)) is not None:
                self._messages.add((*path, number))
                listed.append(message)
                continue
            opened = self._open(parsed, (*path, number))
            found, more = self._read_entry(opened, "" if opened.path != (*path, number) else f"{place}.")
            listed += found
            chains |= opened.chains | more
        return _from_list(listed), chains

    def _read_entry(self, opened: Opened, place: str) -> tuple[Sequence[GivenTransaction], Chains]:
        """Read the transactions of one entry of a list."""
        content = opened.content
        if isinstance(content, str):
            self._read.add(opened.path)
            return [_from_hex("".join(content.split())).payload], Chains()
        entry = parse_object(content, place.removesuffix(".") or "the transaction")
        nested = _find_list(entry)
        if nested is not None:  # `find_foreign` reports other content of the entry that could be signed
            found, chains = self._read_list(nested[1], (*opened.path, nested[0]), nested[0])
            sender = find_sender(entry, place)
            self._compare_senders(sender, found.listed)
            listed = [each if each.sender or each.message else each._replace(sender=sender) for each in found.listed]
            return listed, chains | find_chains(entry, place)
        self._read.add(opened.path)
        own = parse_transaction(entry, place, is_sent=True)
        return self._account_calls(own, entry), find_chains(entry, place)

    def _read_object(self, opened: Opened) -> tuple[PayloadInput, Chains]:
        content, path = parse_object(opened.content, "the document"), opened.path
        self._read.add(path)
        document = _with_nested_calldata(content)
        if _lacks_bytes(document):
            raise InvalidInput("the response has swap_parameters, but no calldata", hint=_HINT_BYTES)
        if document is not content:
            path = (*path, "calldata")
            self._read.add(path)
        listed = _find_list(document)
        network, chains = _network(document), find_chains(document, "")
        own = parse_transaction(document, "", is_sent=opened.is_sent and listed is None)
        if listed is None:
            calls = self._account_calls(own, document)
            if calls != [own]:
                return _from_list(calls, network)._replace(document=document), chains
            if not own.has_content and own.to is None:
                raise InvalidInput("the JSON has no calldata or data", hint=HINT)
            return PayloadInput(own, network, document=document), chains
        name, entries = listed
        self._oddities += own.oddities
        found, more = self._read_list(entries, (*path, name), name)
        found = found._replace(network=network, document=document)
        if own.has_content:
            self._compare_senders(own.sender, found.listed)
            return found._replace(payload=own), chains | more
        if own.to is not None or own.value:
            raise InvalidInput(
                f"the document has {name} and also a transaction, but that transaction has no calldata", hint=HINT
            )
        self._compare_senders(own.sender, found.listed)
        sender = found.payload.sender or own.sender or _safe_address(document)
        fees = {
            name: getattr(own, name) for name in _FEE_FIELDS if getattr(found.payload, name) is None
        }  # the list's own
        return found._replace(payload=found.payload._replace(sender=sender, **fees)), chains | more

    def _compare_senders(self, sender: str | None, listed: Sequence[GivenTransaction]) -> None:
        """Compare the sender of a list with those of its transactions, which may repeat it."""
        others = [each.sender for each in listed if each.sender is not None and each.message is None]
        if sender is not None and any(each.lower() != sender.lower() for each in others):
            self._oddities.append("the listed transactions and the list have different senders")

    def _account_calls(self, own: GivenTransaction, document: Mapping[str, object]) -> list[GivenTransaction]:
        """Return the calls inside a Starknet account's transaction; for any other transaction, only itself.

        The account may be a relayer's, so its address is not the expected recipient.
        """
        if own.felts is None or not _is_account_transaction(document):
            return [own]
        own = own._replace(sender=None, nonce=None)
        try:
            calls = parse_account_calls(own.felts or ())
        except InvalidInput as error:
            self._oddities.append(error.message)
            return [own._replace(entrypoint=_EXECUTE)]
        first, *others = [own._replace(to=each.to, felts=each.felts, entrypoint=each.entrypoint) for each in calls]
        return [first, *(each._replace(oddities=()) for each in others)]

    def _compare_raw(self, raw: GivenTransaction, opened: Opened) -> None:
        """Compare the bytes of a signed transaction with its fields, which nodes and libraries include as well."""
        outer, path = self._root, opened.path[:-1]
        for step in path:
            outer = outer[step]  # type: ignore[index]
        shown = outer.get("tx") if isinstance(outer, Mapping) else None
        if not isinstance(shown, Mapping):
            return
        self._read.add((*path, "tx"))
        fields = parse_transaction(shown, "tx.", is_sent=True)
        for name in ("calldata", "to", "value", "sender", "nonce", "gas", "chain_id"):
            mine, theirs = getattr(raw, name), getattr(fields, name)
            if theirs is not None and str(mine).lower() != str(theirs).lower():
                self._oddities.append(f"the signed transaction has a different {name} than the fields beside it")


def _from_list(listed: Sequence[GivenTransaction], network: str | None = None, *, is_odd: bool = False) -> PayloadInput:
    """Return a list of transactions with its payload: the last router call, or otherwise the last transaction.

    A list that `is_odd` may have no content to decode.
    """
    if not listed:
        raise InvalidInput("the document lists no transactions", hint=HINT)
    position = max((k for k, each in enumerate(listed) if each.calls_router), default=len(listed) - 1)
    if len(listed) == 1 and not listed[0].has_content and listed[0].to is None and not is_odd:
        raise InvalidInput("the transaction has no calldata or data", hint=HINT)
    # The payload's own chain comes first: it is the network, and a message for another chain differs from it.
    chain_ids = tuple(dict.fromkeys(chain_id for each in (listed[position], *listed) for chain_id in _chain_ids(each)))
    return PayloadInput(listed[position], network, tuple(listed), position, chain_ids=chain_ids)


def _chain_ids(transaction: GivenTransaction) -> tuple[int, ...]:
    return () if transaction.chain_id is None else (transaction.chain_id,)


def _network(document: Mapping[str, object]) -> str | None:
    """Return the name of a document's network; its chain IDs are among the chains."""
    value = document.get("network")
    if not isinstance(value, str) or not value.strip() or find_chain_id(value) is not None:
        return None
    return value.strip()


def _is_account_transaction(document: Mapping[str, object]) -> bool:
    """Return whether the felts of an object are the calls of a Starknet account."""
    kind = document.get("type")
    has_sender = any(name in document for name in ("sender_address", "senderAddress"))
    return has_sender or (isinstance(kind, str) and kind.upper().startswith(_INVOKE))


def _with_nested_calldata(document: Mapping[str, object]) -> Mapping[str, object]:
    """Return a service's response whose `calldata` is an object with the transactions as a single object."""
    inner = document.get("calldata")
    if not isinstance(inner, Mapping) or "calldata" not in inner:
        return document
    outer = {"quote" if name == "route" else name: value for name, value in document.items()}
    return {**outer, **inner}


def _lacks_bytes(document: Mapping[str, object]) -> bool:
    """Return whether this is a Fibrous API response with the parameters of a call, but not its bytes."""
    inner = document.get("calldata")
    return _PARAMETERS in (document if inner is None else inner if isinstance(inner, Mapping) else ()) and not any(
        name != "calldata" for name, _ in named(document, (*CALLDATA_NAMES, *LIST_NAMES))
    )


def _find_list(document: Mapping[str, object]) -> tuple[str, Sequence[object]] | None:
    """Return the list of transactions of a document, with its name. Raises `InvalidInput`."""
    found = one_of(document, LIST_NAMES, "", lambda entries, _: entries)
    if found is None:
        return None
    name, entries = found
    if not isinstance(entries, list) or not 0 < len(entries) <= _MAX_TRANSACTIONS:
        raise InvalidInput(f"{name}: expected a list of 1 to {_MAX_TRANSACTIONS} transactions", details={"field": name})
    return name, entries


def _safe_address(document: Mapping[str, object]) -> str | None:
    """Return the Safe for which a Transaction Builder file was made, or None if the file does not name it."""
    meta = document.get("meta")
    found = meta.get("createdFromSafeAddress") if isinstance(meta, Mapping) else None
    return found if isinstance(found, str) and found else None
