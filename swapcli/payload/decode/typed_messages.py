"""Read messages to sign: a message that differs from its standard in any field is dangerous.

A wallet shows the values of a message, but a contract acts on the hash that is signed. So types, values and domain are
compared with the standard. A difference is recorded as a problem of the message rather than raised as an error: a
message that cannot be read must not be signed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from swapcli.core.encoding.text import SHOWN_CHARACTERS, truncate
from swapcli.core.errors import InvalidAddress, InvalidInput
from swapcli.core.model.decoded_call import DecodedMessage
from swapcli.core.model.network import Kind
from swapcli.core.networks.address import parse_address
from swapcli.core.validation.values import MAX_UINT256, InvalidValue, describe, parse_hex
from swapcli.payload.decode.given_transaction import REFUNDS_GAS, RUNS_AS_SAFE, GivenTransaction
from swapcli.payload.decode.message_requests import MessageRequest
from swapcli.payload.decode.message_standards import (
    DOMAIN_FIELDS,
    DOMAIN_TYPE,
    SAFE_TRANSACTION,
    STANDARDS,
    Fields,
    MessageStandard,
    Structs,
    Values,
    parse_types,
)
from swapcli.payload.decode.quantities import find_chain_id, parse_chain_id, parse_quantity
from swapcli.payload.decode.signed_orders import describe_unjudged, optional_address
from swapcli.payload.evm.typed_data import domain_separator

_MAX_ENTRIES: Final = 64  # a bound against hostile input; chosen
_SAFE: Final = "SafeTx"
_STARKNET_DOMAINS: Final = ("StarknetDomain", "StarkNetDomain")
_PERMIT2_NAME: Final = "Permit2"
_CONTRACT, _CHAIN = "verifyingContract", "chainId"


def parse_message(request: MessageRequest) -> GivenTransaction:
    """Return a message to sign as a payload. Its defects are recorded as problems, never raised as errors."""
    typed = request.typed
    if typed is None:
        message = DecodedMessage("", request.method, problems=tuple(filter(None, (request.problem,))))
        return _with_account(GivenTransaction(message=message), request)
    primary_type, problem = _primary_type(typed, is_request=bool(request.method))
    given = _parse_typed(request, typed, primary_type)
    assert given.message is not None
    problems = (*filter(None, (problem, request.problem)), *given.message.problems)
    return _with_account(given._replace(message=given.message._replace(problems=problems)), request)


def _with_account(given: GivenTransaction, request: MessageRequest) -> GivenTransaction:
    """Return the message with the account that signs it and the chain that the request names."""
    message = given.message
    assert message is not None
    problems = list(message.problems)
    account = request.account
    if account is not None:
        try:
            kind = Kind.EVM if given.felts is None else Kind.STARKNET
            account = parse_address(str(account).strip(), kind)
        except InvalidInput as error:
            problems.append(_sentence(error))
            account = None
    if request.chain_id is not None and given.chain_id is not None:
        try:
            chain_id = parse_chain_id(request.chain_id, "chainId")
            if chain_id != given.chain_id:
                problems.append(f"the request is for chain {chain_id}, but the message is for chain {given.chain_id}")
        except InvalidInput as error:
            problems.append(_sentence(error))
    message = message._replace(account=account, problems=tuple(problems))
    sender = given.sender or account or message.owner
    return given._replace(message=message, sender=sender)


def _parse_typed(request: MessageRequest, typed: Values, primary_type: str) -> GivenTransaction:
    domain = _mapping(typed.get("domain"))
    values = _mapping(request.message)
    name = domain.get("name")
    given = GivenTransaction(
        to=optional_address(domain.get(_CONTRACT)),
        chain_id=find_chain_id(domain.get(_CHAIN)),
        felts=() if _is_starknet(typed) else None,
    )
    unjudged = describe_unjudged(primary_type, domain, values)
    unjudged = unjudged._replace(contract_name=name if isinstance(name, str) else None)
    try:
        structs, domain_type = _parse_structs(typed)
        problems = list(_domain_problems(domain, domain_type, is_request=bool(request.method)))
        if structs == parse_types(SAFE_TRANSACTION) and primary_type == _SAFE:
            return _parse_safe_transaction(given, structs, domain, values, problems)
        standard = _find_standard(structs, primary_type)
        if standard is None:
            return given._replace(message=unjudged._replace(problems=tuple(problems)))
        problems += _standard_problems(domain, standard)
        permission = standard.read(_parse_struct(structs, primary_type, values, "message"))
    except InvalidInput as error:
        return given._replace(message=unjudged._replace(problems=(_sentence(error),)))
    if not permission.approvals:
        problems.append("the message permits nothing")
    message = unjudged._replace(
        title=standard.title,
        owner=permission.owner,
        approvals=permission.approvals,
        is_permit2=standard.is_permit2,
        is_judged=True,
        domain_hash=b"" if problems else _hash_domain(domain, given),
        problems=tuple(problems),
    )
    return given._replace(message=message)


def _hash_domain(domain: Values, given: GivenTransaction) -> bytes:
    """Return the hash of a domain without problems."""
    texts = {name: domain[name] for name in ("name", "version") if domain.get(name) is not None}
    return domain_separator({**texts, _CHAIN: given.chain_id, _CONTRACT: given.to})


def _parse_safe_transaction(
    given: GivenTransaction, structs: Structs, domain: Values, message: Values, problems: list[str]
) -> GivenTransaction:
    """Return the transaction that the owners of a Safe sign, which the Safe then sends."""
    values = _parse_struct(structs, _SAFE, message, "message")
    problems += _missing_in_domain(domain, {_CHAIN, _CONTRACT}, {_CHAIN, _CONTRACT})
    oddities = []
    if values["operation"]:
        oddities.append(RUNS_AS_SAFE)
    if values["gasPrice"]:
        oddities.append(REFUNDS_GAS)
    return given._replace(
        calldata=values["data"],
        to=values["to"],
        value=values["value"],
        sender=given.to,
        oddities=tuple(oddities),
        message=DecodedMessage("a transaction of a Safe", _SAFE, is_judged=True, problems=tuple(problems)),
    )


# --- types


def _primary_type(typed: Values, *, is_request: bool) -> tuple[str, str]:
    """Return the name of the primary struct, and the problem if it is missing.

    Libraries find the name, but wallets need it.
    """
    name = typed.get("primaryType")
    if isinstance(name, str) and name:
        return name, ""
    types = _mapping(typed.get("types"))
    used = {
        str(field.get("type", "")).partition("[")[0]
        for fields in types.values()
        if isinstance(fields, list)
        for field in fields
        if isinstance(field, Mapping)
    }
    found = [each for each in types if each not in used and each != DOMAIN_TYPE]
    if name is None and len(found) == 1 and not is_request:
        return str(found[0]), ""
    return "", "the document does not name the signed type (primaryType)"


def _parse_structs(typed: Values) -> tuple[dict[str, Fields], Fields | None]:
    """Return the fields of each struct, and those of the domain, or None if it has none. Raises `InvalidInput`."""
    structs: dict[str, Fields] = {}
    types = typed.get("types")
    if not isinstance(types, Mapping):
        raise InvalidInput(f"types: expected an object, not {describe(types)}")
    for name, fields in types.items():
        if not isinstance(fields, list) or not all(
            isinstance(each, Mapping) and each.keys() == {"name", "type"} for each in fields
        ):
            raise InvalidInput(f"types.{truncate(str(name), SHOWN_CHARACTERS)}: expected a list of names and types")
        structs[name] = tuple((str(each["name"]), str(each["type"])) for each in fields)
    return structs, structs.pop(DOMAIN_TYPE, None)


def _find_standard(structs: Structs, primary_type: str) -> MessageStandard | None:
    return next(
        (each for each in STANDARDS if each.primary_type == primary_type and parse_types(each.encoded_type) == structs),
        None,
    )


def _is_starknet(typed: Values) -> bool:
    return not _mapping(typed.get("types")).keys().isdisjoint(_STARKNET_DOMAINS)


# --- domain


def _domain_problems(domain: Values, declared: Fields | None, *, is_request: bool) -> Iterator[str]:
    """Yield a sentence for each field of the domain that is not hashed or not in the standard."""
    present = {name for name, value in domain.items() if value is not None}
    if others := sorted(present - {name for name, _ in DOMAIN_FIELDS}):
        yield f"the domain has fields that no standard defines: {truncate(', '.join(others), SHOWN_CHARACTERS)}"
    expected = tuple((name, kind) for name, kind in DOMAIN_FIELDS if name in present)
    if declared is None and is_request:
        yield f"the types have no {DOMAIN_TYPE}, so a wallet would sign without a domain"
    if declared is not None and declared != expected:
        yield f"{DOMAIN_TYPE} does not list the fields of the domain, so a wallet would sign for a different domain"
    for name in ("name", "version"):
        if not isinstance(domain.get(name, ""), str):
            yield f"domain.{name}: expected a text, not {describe(domain[name])}"
    if domain.get(_CHAIN) is None:
        yield "the domain has no chain ID: the signature is valid on every chain"
    else:
        yield from _problem_of(parse_quantity, domain[_CHAIN], "domain.chainId")
    if domain.get(_CONTRACT) is None:
        yield "the domain has no contract"
    elif not isinstance(domain[_CONTRACT], str):
        yield f"domain.{_CONTRACT}: expected an address, not {describe(domain[_CONTRACT])}"
    else:
        yield from _problem_of(lambda value, _: parse_address(str(value), Kind.EVM), domain[_CONTRACT], _CONTRACT)


def _problem_of(parse: Callable[[object, str], object], value: object, name: str) -> Iterator[str]:
    try:
        parse(value, name)
    except InvalidInput as error:
        yield _sentence(error)


def _standard_problems(domain: Values, standard: MessageStandard) -> Iterator[str]:
    """Yield a sentence for each difference between a domain and those of a standard's contracts."""
    if not standard.is_permit2:
        yield from _missing_in_domain(domain, {"name", _CHAIN, _CONTRACT}, {"name", "version", _CHAIN, _CONTRACT})
        return
    yield from _missing_in_domain(domain, {"name", _CHAIN, _CONTRACT}, {"name", _CHAIN, _CONTRACT})
    if domain.get("name") != _PERMIT2_NAME:
        yield f"the domain's name is {describe(domain.get('name'))}, but Permit2's is {_PERMIT2_NAME}"


def _missing_in_domain(domain: Values, needed: set[str], allowed: set[str]) -> Iterator[str]:
    present = {name for name, value in domain.items() if value is not None}
    if missing := sorted(needed - present - {_CHAIN, _CONTRACT}):
        yield f"the domain has no {', '.join(missing)}"
    if more := sorted((present - allowed) & {name for name, _ in DOMAIN_FIELDS}):
        yield f"the domain has {', '.join(more)}, which this standard does not define"


# --- values


def _parse_struct(structs: Structs, name: str, values: object, path: str) -> dict[str, Any]:
    """Return the values of a struct, with canonical addresses.

    Raises `InvalidInput` unless they fit its types exactly.
    """
    if not isinstance(values, Mapping):
        raise InvalidInput(f"{path}: expected an object, not {describe(values)}")
    fields = dict(structs[name])
    if values.keys() != fields.keys():
        raise InvalidInput(f"{path}: the fields do not match its type")
    return {field: _parse_value(structs, kind, values[field], f"{path}.{field}") for field, kind in fields.items()}


def _parse_value(structs: Structs, kind: str, value: object, path: str) -> Any:
    if kind.endswith("[]"):
        if not isinstance(value, list) or len(value) > _MAX_ENTRIES:
            raise InvalidInput(f"{path}: expected a list of at most {_MAX_ENTRIES} entries")
        entry_kind = kind.removesuffix("[]")
        return tuple(_parse_value(structs, entry_kind, each, f"{path}[{k}]") for k, each in enumerate(value))
    if kind in structs:
        return _parse_struct(structs, kind, value, path)
    if kind == "bool":
        if not isinstance(value, bool):
            raise InvalidInput(f"{path}: expected true or false, not {describe(value)}")
        return value
    if kind.startswith("uint"):
        number = parse_quantity(value, path)
        if number > MAX_UINT256 >> 256 - int(kind.removeprefix("uint")):
            raise InvalidInput(f"{path}: {number} does not fit in {kind}")
        return number
    if not isinstance(value, str):
        raise InvalidInput(f"{path}: expected {kind}, not {describe(value)}")
    if kind == "address":
        return parse_address(value, Kind.EVM)
    try:
        return parse_hex(value)
    except InvalidValue as error:
        raise InvalidInput(f"{path}: expected {error.expected}") from None


# --- lenient reading


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _sentence(error: InvalidInput) -> str:
    return f"{error.message}; {error.hint}" if isinstance(error, InvalidAddress) and error.hint else error.message
