"""Permits for a swap's input: the message to sign, and the check of its signature.

The message needs data from a node that the swap's terms do not have: the owner's nonce, and the token's domain.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from swapcli.core.encoding.abi import encode_uint
from swapcli.core.errors import InvalidOption, UpstreamError
from swapcli.core.model.network import UNIVERSAL_ROUTER, Network
from swapcli.core.model.router_dialect import PermitKind
from swapcli.core.model.swap_terms import SignedPermit
from swapcli.core.networks.permit2 import PERMIT2, PERMIT2_ALLOWANCE
from swapcli.families.reading.call_encoding import encode_call, read_text, read_word, read_words
from swapcli.families.reading.calls import ContractCall, ReturnData
from swapcli.payload.dialects import router_dialect
from swapcli.payload.evm.permit import PermitTerms, Signature, permit2_message, token_message
from swapcli.payload.evm.typed_data import TypedData, domain_separator
from swapcli.state.rpc.node import BlockId, Node, StateOverrideNode

_NONCES: Final = "nonces(address)"
_SEPARATOR: Final = "DOMAIN_SEPARATOR()"
_TYPE_HASH: Final = "PERMIT_TYPEHASH()"
_NAME: Final = "name()"
_VERSION: Final = "version()"
_PERMIT_TYPE_HASH: Final = 0x6E71EDAE12B1B97F4D1F60370FEF10105FA2FAAE0126114A169C64845D6126C9
"""The type hash of `Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)` in EIP-2612."""

_RECOVER: Final = "0x0000000000000000000000000000000000000001"
"""The precompile that recovers the signer of a digest."""

_HINT_APPROVE: Final = "approve it with a transaction (--with-approval; transactions in JSON and Python)"

_HINT_UNIVERSAL: Final = f"{_HINT_APPROVE}; or quote with the router dialect {UNIVERSAL_ROUTER}"


def require_permit_kind(network: Network, *, is_native: bool, label: str) -> PermitKind:
    """Return the kind of permit that the network's router accepts. Raises `InvalidOption` if there is none, or none is
    needed.

    `label` is the caller's name for the option that requests the permit.
    """
    kind = router_dialect(network).permit_kind
    if kind is None:
        raise InvalidOption(
            f"{label}: payloads for the router dialect {network.router_dialect} on {network.name} cannot carry a "
            "permit",
            hint=_HINT_APPROVE if UNIVERSAL_ROUTER not in network.routers else _HINT_UNIVERSAL,
        )
    if is_native:
        raise InvalidOption(f"{label}: {network.native.symbol} needs no approval, so there is nothing to sign")
    return kind


def read_signed_permit(
    node: StateOverrideNode,
    kind: PermitKind,
    terms: PermitTerms,
    chain_id: int,
    signature: Signature,
    *,
    label: str = "signature",
) -> SignedPermit:
    """Return the signature of the message from `read_message`, in the form in which payloads contain it.

    Raises `InvalidOption` in the same case as `read_message`, and if the owner did not sign the message.
    """
    message, nonce = read_message(node, kind, terms, chain_id)
    check_signer(node, message, signature, terms.owner, label)
    return SignedPermit(signature.encoded, nonce)


def read_message(node: Node, kind: PermitKind, terms: PermitTerms, chain_id: int) -> tuple[TypedData, int]:
    """Return the message to sign, and its nonce, at the latest block.

    Raises `InvalidOption` if the token has no EIP-2612 permit, and `UpstreamError` if the node fails.
    """
    at = node.read_head().block
    if kind is PermitKind.PERMIT2:
        answer = node.call(PERMIT2, encode_call(PERMIT2_ALLOWANCE, terms.owner, terms.token, terms.spender), at)
        *_, nonce = read_words(answer, 3, PERMIT2_ALLOWANCE)
        return permit2_message(terms, nonce, chain_id), nonce
    nonce, domain = _read_token(node, terms, chain_id, at)
    return token_message(terms, nonce, domain), nonce


def check_signer(
    node: StateOverrideNode, message: TypedData, signature: Signature, owner: str, label: str = "signature"
) -> None:
    """Raise `InvalidOption` unless `owner` signed the message, or is a contract, which checks signatures itself."""
    at = node.read_head().block
    words = f"{signature.v:064x}{signature.r:064x}{signature.s:064x}"
    signer = node.call(_RECOVER, message.digest() + bytes.fromhex(words), at)
    if (signer and int.from_bytes(signer) == int(owner, 16)) or node.read_account(owner, at).code:
        return
    raise InvalidOption(
        f"{label}: the signature for this permit was not made by {owner}",
        hint="use the permit's amount, deadline, sender and router dialect; sign again if a different permit was "
        "used since",
    )


def _read_token(node: Node, terms: PermitTerms, chain_id: int, at: BlockId) -> tuple[int, Mapping[str, Any]]:
    calls = [encode_call(_NONCES, terms.owner), *map(encode_call, (_SEPARATOR, _NAME, _VERSION, _TYPE_HASH))]
    answers = node.call_many([ContractCall(terms.token, each, may_revert=True) for each in calls], at)
    nonces, separator, name, version, type_hash = answers
    if nonces is None or separator is None or not nonces or not separator:
        raise _without_permit(terms.token)
    if type_hash and read_word(type_hash, _TYPE_HASH) != _PERMIT_TYPE_HASH:
        raise _without_permit(terms.token)
    expected = bytes.fromhex(encode_uint(read_word(separator, _SEPARATOR), 256, "separator"))
    for domain in _domains(terms.token, name, version, chain_id):
        if domain_separator(domain) == expected:
            return read_word(nonces, _NONCES), domain
    raise _without_permit(terms.token)


def _domains(token: str, name: ReturnData, version: ReturnData, chain_id: int) -> Iterator[Mapping[str, Any]]:
    """Yield the domains that a token may use: its version is the one that it returns, or otherwise 1, or none."""
    named = {"name": _text(name, _NAME)}
    end = {"chainId": chain_id, "verifyingContract": token}
    for each in dict.fromkeys((_text(version, _VERSION), "1", "2")):
        if each:
            yield named | {"version": each} | end
    yield named | end


def _text(answer: ReturnData, name: str) -> str:
    try:
        return read_text(answer, name) if answer else ""
    except UpstreamError:
        return ""


def _without_permit(token: str) -> InvalidOption:
    return InvalidOption(
        f"the token {token} has no EIP-2612 permit",
        hint=_HINT_APPROVE,
    )
