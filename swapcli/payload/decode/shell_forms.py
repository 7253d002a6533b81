"""Transactions as shells have them: the `cast send` commands and the assignments that `swapcli calldata` prints."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from swapcli.core.errors import InvalidInput
from swapcli.payload.decode.given_transaction import GivenTransaction, parse_calldata
from swapcli.payload.decode.quantities import parse_quantity

_CAST: Final = re.compile(r"(?:\$ +)?cast\s+send\s")
_ASSIGNMENT: Final = re.compile(r"(?:export +)?SWAP_[A-Z0-9_]+=")
_CAST_FIELDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "--from": "from", "-f": "from", "--value": "value", "--nonce": "nonce", "--gas-limit": "gas",
        "--gas-price": "max_fee_wei", "--priority-gas-price": "max_priority_fee_wei", "--chain": "chain",
        "--chain-id": "chain", "-c": "chain",
    }
)  # fmt: skip
_CAST_ARGUMENTS: Final = frozenset(
    {
        "--access-list", "--rpc-url", "-r", "--account", "--keystore", "--password", "--password-file",
        "--private-key", "--timeout", "--confirmations",
    }
)  # fmt: skip
"""Options with an argument that changes nothing of what is decoded."""
_CAST_FLAGS: Final = frozenset(
    {"--ledger", "--trezor", "--aws", "--interactive", "-i", "--legacy", "--json", "-j", "--async", "--unlocked"}
)


def is_cast(text: str) -> bool:
    """Return whether a text is commands of `cast send`."""
    return _CAST.match(text) is not None


def is_shell(text: str) -> bool:
    """Return whether a text is the assignments of `--format sh`."""
    return _ASSIGNMENT.match(text) is not None


def parse_cast(text: str) -> tuple[list[GivenTransaction], str | None]:
    """Parse commands of `cast send`, one a line, with the network that they name, if any. Raises `InvalidInput`."""
    sent, networks = [], []
    for line in text.replace("\\\n", " ").splitlines():
        if not line.strip():
            continue
        words = _split(line)
        if words[:1] == ["$"]:
            words = words[1:]
        if words[:2] != ["cast", "send"]:
            raise InvalidInput("every line must be a command of cast send", hint="give the commands alone")
        transaction, network = _parse_command(words[2:])
        sent.append(transaction)
        if network is not None:
            networks.append(network)
    if len(set(networks)) > 1:
        raise InvalidInput("the commands of cast send name several networks")
    return sent, networks[0] if networks else None


def _parse_command(words: Sequence[str]) -> tuple[GivenTransaction, str | None]:
    options: dict[str, str] = {}
    positional: list[str] = []
    reader = iter(words)
    for word in reader:
        name, separator, attached = word.partition("=")
        if name in _CAST_FIELDS or name in _CAST_ARGUMENTS:
            argument = attached if separator else next(reader, None)
            field = _CAST_FIELDS.get(name, name)
            if argument is None or field in options:
                raise InvalidInput(f"cast send: {name} needs one argument, once")
            options[field] = argument
        elif word.startswith("-") and word not in _CAST_FLAGS:
            raise InvalidInput(f"cast send: the option {name} is not known here", hint="give the command without it")
        elif not word.startswith("-"):
            positional.append(word)
    if not 1 <= len(positional) <= 2:
        raise InvalidInput("cast send: expected an address and calldata in hex", hint="encode the arguments first")
    chain = options.get("chain")
    is_number = chain is not None and chain.isdecimal()

    def quantity(field: str) -> int | None:
        return parse_quantity(options[field], field) if field in options else None

    transaction = GivenTransaction(
        parse_calldata(positional[1]) if len(positional) > 1 else "0x",
        to=positional[0],
        sender=options.get("from"),
        chain_id=parse_quantity(chain, "--chain") if is_number else None,
        value=quantity("value") or 0,
        nonce=quantity("nonce"),
        gas=quantity("gas"),
        max_fee_wei=quantity("max_fee_wei"),
        max_priority_fee_wei=quantity("max_priority_fee_wei"),
    )
    return transaction, None if is_number else chain


def parse_shell(text: str) -> tuple[list[GivenTransaction], str | None, dict[str, object]]:
    """Parse the assignments of `--format sh`: the transactions, the network, and what they say of the swap.

    Raises `InvalidInput`.
    """
    variables = _variables(text)
    count = parse_quantity(variables.get("SWAP_APPROVALS", "0"), "SWAP_APPROVALS")
    named = {name for name in variables if re.fullmatch(r"SWAP_APPROVAL_[0-9]+_TO", name)}
    if len(named) != count:
        raise InvalidInput(f"SWAP_APPROVALS is {count}, and there are {len(named)} approvals")
    chain_id = parse_quantity(variables["SWAP_CHAIN_ID"], "SWAP_CHAIN_ID") if "SWAP_CHAIN_ID" in variables else None
    listed = [
        GivenTransaction(
            parse_calldata(_variable(variables, f"SWAP_APPROVAL_{number}_CALLDATA")),
            to=_variable(variables, f"SWAP_APPROVAL_{number}_TO"),
            value=0,
            chain_id=chain_id,
        )
        for number in range(1, count + 1)
    ]
    swap = GivenTransaction(
        parse_calldata(_variable(variables, "SWAP_CALLDATA")),
        to=_variable(variables, "SWAP_TO"),
        value=parse_quantity(_variable(variables, "SWAP_VALUE"), "SWAP_VALUE"),
        chain_id=chain_id,
    )
    minimum = variables.get("SWAP_MIN_RECEIVED")
    document: dict[str, object] = {} if minimum is None else {"minReceived": minimum}
    return [*listed, swap], variables.get("SWAP_NETWORK"), document


def _variables(text: str) -> dict[str, str]:
    variables: dict[str, str] = {}
    for name, value in _assignments(text):
        if name in variables:
            raise InvalidInput(f"{name} is assigned twice")
        variables[name] = value
    return variables


def _assignments(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        words = [word for word in _split(line) if word != "export"]
        for word in words:
            name, separator, value = word.partition("=")
            if not separator or not name.isidentifier():
                raise InvalidInput("every line must be an assignment such as SWAP_TO=0x...")
            yield name, value


def _variable(variables: Mapping[str, str], name: str) -> str:
    if name not in variables:
        raise InvalidInput(f"{name} is not assigned")
    return variables[name]


def _split(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError as error:
        raise InvalidInput(f"this is not a shell command line: {error}") from None
