"""Describe why a call reverted, based on its return data.

`Error(string)` and `Panic(uint256)` are Solidity's own. The router's custom errors come from its ABI, which shares them
with the public router. The errors of 0x Settler come from its source (github 0xProject/0x-settler), the errors of the
Universal Router come from the ABIs of its releases 2.0 and 2.1 (npm @uniswap/universal-router), and the errors of
Permit2 and of Uniswap V4's pool manager from their ABIs. Any other error is shown by its selector.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from swapcli.core.encoding.abi import SELECTOR_BYTES, WORD, to_signed
from swapcli.core.encoding.keccak import keccak256
from swapcli.core.errors import InvalidInput, InvalidUpstreamResponse
from swapcli.core.records import NamedTuple
from swapcli.families.reading.call_encoding import read_text, read_word, read_words, to_address
from swapcli.payload.evm.decoding.arguments import Arguments
from swapcli.payload.evm.router import read_artifact
from swapcli.state.tokens import sanitize_text

_ERROR: Final = bytes.fromhex("08c379a0")
_PANIC: Final = bytes.fromhex("4e487b71")
_MAX_TEXT: Final = 160  # characters of a contract's message
_PANICS: Final[Mapping[int, str]] = {
    0x01: "a failed assertion",
    0x11: "arithmetic out of range",
    0x12: "division by zero",
    0x21: "a value that its type does not have",
    0x31: "an empty list",
    0x32: "an index out of range",
    0x41: "too much memory",
}


class _Known(NamedTuple):
    """A custom error: the types of its arguments by name. Arguments of variable length are not shown."""

    name: str
    types: Mapping[str, str]


_SETTLER_ERRORS: Final = (
    _Known("TooMuchSlippage", {"token": "address", "least": "uint256", "received": "uint256"}),
    _Known("SignatureExpired", {"deadline": "uint256"}),
    _Known("MsgValueMismatch", {"most": "uint256", "value": "uint256"}),
    _Known("ZeroSellAmount", {"token": "address"}),
    _Known("UnknownForkId", {"fork": "uint8"}),
    _Known("UnknownPoolManagerId", {"manager": "uint8"}),
    _Known("ZeroBuyAmount", {"token": "address"}),
    _Known("BoughtSellToken", {"token": "address"}),
    _Known("ActionInvalid", {"number": "uint256", "action": "bytes4", "data": "bytes"}),
    *(
        _Known(name, {})
        for name in ("ConfusedDeputy", "InvalidTarget", "ForwarderNotAllowed", "InvalidOffset", "PayerSpent")
    ),
)
_UNISWAP_ERRORS: Final = (
    _Known("V4TooLittleReceived", {"least": "uint256", "received": "uint256"}),
    _Known("V4TooMuchRequested", {"most": "uint256", "requested": "uint256"}),
    _Known("V4TooLittleReceivedPerHop", {"hop": "uint256", "limit": "uint256", "price": "uint256"}),
    _Known("V4TooMuchRequestedPerHop", {"hop": "uint256", "limit": "uint256", "price": "uint256"}),
    _Known("DeltaNotNegative", {"currency": "address"}),
    _Known("DeltaNotPositive", {"currency": "address"}),
    _Known("InvalidCommandType", {"command": "uint256"}),
    _Known("UnsupportedAction", {"action": "uint256"}),
    _Known("AllowanceExpired", {"deadline": "uint256"}),
    _Known("InsufficientAllowance", {"amount": "uint256"}),
    _Known("InvalidAmount", {"most": "uint256"}),
    _Known("PriceLimitAlreadyExceeded", {"price": "uint160", "limit": "uint160"}),
    *(
        _Known(name, {})
        for name in (
            "BalanceTooLow", "ContractLocked", "ETHNotAccepted", "FromAddressIsNotOwner", "InputLengthMismatch",
            "InsufficientBalance", "InsufficientETH", "InsufficientToken", "InvalidBips", "InvalidEthSender",
            "InvalidHopSlippageLength", "InvalidPath", "InvalidReserves", "LengthMismatch", "NotPoolManager",
            "SliceOutOfBounds", "TransactionDeadlinePassed", "UnsafeCast", "V2InvalidPath", "V2TooLittleReceived",
            "V2TooMuchRequested", "V3InvalidAmountOut", "V3InvalidCaller", "V3InvalidSwap", "V3TooLittleReceived",
            "V3TooMuchRequested", "InvalidNonce", "InvalidSigner", "InvalidSignature", "InvalidSignatureLength",
            "InvalidContractSignature", "CurrencyNotSettled", "PoolNotInitialized", "SwapAmountCannotBeZero",
        )
    ),
)  # fmt: skip
_EXECUTION_FAILED: Final = bytes.fromhex("2c4029e9")
"""`ExecutionFailed(uint256 commandIndex, bytes message)` of the Universal Router: a command reverted."""
_MAX_DEPTH: Final = 3
"""The maximum depth of nested reverts that are described."""


def describe_revert(output: bytes, depth: int = 0) -> str:
    """Describe the return data of a reverted call. A contract's own text is sanitized and truncated."""
    if not output:
        return "no reason given"
    selector, arguments = output[:SELECTOR_BYTES], output[SELECTOR_BYTES:]
    try:
        if selector == _ERROR and len(arguments) > WORD:
            return f'"{sanitize_text(read_text(arguments, "Error"), _MAX_TEXT)}"'
        if selector == _PANIC:
            code = read_word(arguments, "Panic")
            return f"panic 0x{code:02x}, {_PANICS.get(code, 'of an unknown kind')}"
        if selector == _EXECUTION_FAILED and depth < _MAX_DEPTH:
            words = Arguments(arguments)
            number, inner = words.uint(0, "command"), words.content(1, "message")
            return f"command {number + 1} of the call: {describe_revert(inner, depth + 1)}"
        if known := _known_errors().get(selector):
            return _describe(known, arguments)
    except (InvalidUpstreamResponse, InvalidInput):
        pass  # it begins like a known error, but ends too soon
    return f"an error with selector 0x{selector.hex()}"


def _describe(known: _Known, arguments: bytes) -> str:
    values = read_words(arguments, len(known.types), known.name)
    shown = [
        f"{name} {_format_argument(kind, value)}"
        for (name, kind), value in zip(known.types.items(), values, strict=True)
        if kind != "bytes"
    ]
    return f"{known.name} ({', '.join(shown)})" if shown else known.name


def _format_argument(kind: str, value: int) -> str:
    if kind == "address":
        return to_address(value, kind)
    if kind == "bytes4":
        return f"0x{value >> 224:08x}"
    return str(to_signed(value) if kind.startswith("int") else value)


@lru_cache
def _known_errors() -> Mapping[bytes, _Known]:
    """Return the errors by selector."""
    return {_selector(each): each for each in (*_UNISWAP_ERRORS, *_SETTLER_ERRORS, *_router_errors())}


def _router_errors() -> Iterator[_Known]:
    for entry in read_artifact().abi:
        if entry["type"] == "error":
            inputs: Any = entry["inputs"]
            yield _Known(str(entry["name"]), {str(each["name"]): str(each["type"]) for each in inputs})


def _selector(error: _Known) -> bytes:
    return keccak256(f"{error.name}({','.join(error.types.values())})".encode())[:SELECTOR_BYTES]
