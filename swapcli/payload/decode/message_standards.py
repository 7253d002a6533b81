"""The EIP-712 messages that `decode` checks: token and Permit2 permits, with the types in their standards.

A signature over a message with other types is not a signature under that standard, so the types must be equal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from swapcli.core.model.decoded_call import DecodedApproval
from swapcli.core.records import NamedTuple
from swapcli.core.validation.values import MAX_UINT256

Fields = tuple[tuple[str, str], ...]
"""The name and type of each field of a struct, in order."""
Structs = Mapping[str, Fields]
Values = Mapping[str, Any]

_STRUCT: Final = re.compile(r"(\w+)\(([^)]*)\)")


def parse_types(text: str) -> dict[str, Fields]:
    """Return the structs of an encoded type, such as `Mail(address to,string contents)`."""
    return {
        name: tuple((field, kind) for kind, field in (each.split() for each in fields.split(",")))
        for name, fields in _STRUCT.findall(text)
    }


class Permission(NamedTuple):
    """The allowances that a permit grants, and the owner of the tokens; None if only the signature determines the
    owner."""

    approvals: tuple[DecodedApproval, ...]
    owner: str | None = None


class MessageStandard(NamedTuple):
    """A kind of message that `decode` checks. `encoded_type` has its primary struct first, then the structs of its
    fields.

    `read` takes the values of the message, checked against the types.
    """

    title: str
    encoded_type: str
    read: Callable[[Values], Permission]
    is_permit2: bool = False

    @property
    def primary_type(self) -> str:
        """The name of the primary struct."""
        return self.encoded_type.partition("(")[0]


def _read_token_permit(values: Values) -> Permission:
    approval = DecodedApproval(None, values["spender"], values["value"], deadline_s=values["deadline"])
    return Permission((approval,), values["owner"])


def _read_dai_permit(values: Values) -> Permission:
    amount = MAX_UINT256 if values["allowed"] else 0
    deadline_s = values["expiry"] or MAX_UINT256  # 0 means that it never expires
    return Permission((DecodedApproval(None, values["spender"], amount, deadline_s=deadline_s),), values["holder"])


def _read_allowances(values: Values) -> Permission:
    details = values["details"]
    return Permission(
        tuple(
            DecodedApproval(each["token"], values["spender"], each["amount"], each["expiration"], values["sigDeadline"])
            for each in (details if isinstance(details, tuple) else (details,))
        )
    )


def _read_transfers(values: Values) -> Permission:
    permitted = values["permitted"]
    return Permission(
        tuple(
            DecodedApproval(each["token"], values["spender"], each["amount"], deadline_s=values["deadline"])
            for each in (permitted if isinstance(permitted, tuple) else (permitted,))
        )
    )


_DETAILS: Final = "PermitDetails(address token,uint160 amount,uint48 expiration,uint48 nonce)"
_PERMISSIONS: Final = "TokenPermissions(address token,uint256 amount)"

STANDARDS: Final = (
    MessageStandard(
        "a permit (EIP-2612)",
        "Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)",
        _read_token_permit,
    ),
    MessageStandard(
        "a permit in DAI's form",
        "Permit(address holder,address spender,uint256 nonce,uint256 expiry,bool allowed)",
        _read_dai_permit,
    ),
    MessageStandard(
        "a permit of Permit2",
        "PermitSingle(PermitDetails details,address spender,uint256 sigDeadline)" + _DETAILS,
        _read_allowances,
        is_permit2=True,
    ),
    MessageStandard(
        "a permit of Permit2 for several tokens",
        "PermitBatch(PermitDetails[] details,address spender,uint256 sigDeadline)" + _DETAILS,
        _read_allowances,
        is_permit2=True,
    ),
    MessageStandard(
        "a transfer permit of Permit2",
        "PermitTransferFrom(TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline)" + _PERMISSIONS,
        _read_transfers,
        is_permit2=True,
    ),
    MessageStandard(
        "a transfer permit of Permit2 for several tokens",
        "PermitBatchTransferFrom(TokenPermissions[] permitted,address spender,uint256 nonce,uint256 deadline)"
        + _PERMISSIONS,
        _read_transfers,
        is_permit2=True,
    ),
)
"""Sources: EIP-2612, the contract of DAI, and `PermitHash` of Uniswap's permit2."""

SAFE_TRANSACTION: Final = (
    "SafeTx(address to,uint256 value,bytes data,uint8 operation,uint256 safeTxGas,uint256 baseGas,uint256 gasPrice,"
    "address gasToken,address refundReceiver,uint256 nonce)"
)
"""The transaction that the owners of a Safe sign (in Safe's contracts; since 1.3.0, it includes the chain)."""

DOMAIN_TYPE: Final = "EIP712Domain"
DOMAIN_FIELDS: Final = parse_types(
    "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract,bytes32 salt)"
)[DOMAIN_TYPE]
"""The fields that a domain may have, in the order of the standard."""
