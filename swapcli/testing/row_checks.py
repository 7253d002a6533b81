"""Check a family's rows: the fields that the rows list, and the signatures for finding and following the family's
pools."""

from __future__ import annotations

from collections.abc import Iterator

from eth_abi.exceptions import ABITypeError, ParseError
from eth_abi.grammar import parse
from eth_abi.registry import registry

from swapcli.core.errors import InvalidPoolState
from swapcli.core.model.network import Kind
from swapcli.core.model.pool import Pool
from swapcli.families.row import FamilyRow, KindRow


def check_fields(pool: Pool, row: FamilyRow) -> None:
    """Require that the row lists every field that `from_state` requires, and only fields of the state."""
    state, listed = pool.state(), {field.strip() for field in row.fields}
    assert listed <= state.keys(), f"FamilyRow lists fields that state() lacks: {sorted(listed - state.keys())}"
    missing = [field for field in state if field not in listed and _is_required(pool, field)]
    assert not missing, f"from_state requires fields that FamilyRow does not list: {missing}"


def check_kind(name: str, row: KindRow) -> None:
    """Require that a kind has either events to follow or a reason for none, and that its signatures can be hashed."""
    assert row.events or row.unannounced, (
        f'the kind "{name}" has neither `events` nor `unannounced`: list the events that announce a change of the '
        "state, or say in `unannounced` what changes it"
    )
    if row.network_kind is not Kind.EVM:
        return  # Starknet uses names of events
    for field, signature in _signatures(row):
        problem = signature_problem(signature)
        assert problem is None, f'`{field}` of the kind "{name}" has the signature "{signature}": {problem}'


def signature_problem(signature: str) -> str | None:
    """Return why the text is not a signature in the form that contracts hash; None if it is one."""
    name, opening, types = signature.partition("(")
    if not name.isidentifier() or not opening:
        return "expected name(type,...)"
    if types == ")":
        return None
    try:
        parse(f"({types}").validate()
    except ParseError:
        return "expected name(type,...): only types between the brackets, without spaces"
    except ABITypeError as error:
        return str(error)
    return None if registry.has_encoder(f"({types}") else "it has an unknown type: a contract is an address"


def _is_required(pool: Pool, field: str) -> bool:
    try:
        type(pool).from_state(pool.identity, {key: value for key, value in pool.state().items() if key != field})
    except InvalidPoolState:
        return True
    return False


def _signatures(row: KindRow) -> Iterator[tuple[str, str]]:
    """Yield the signatures of a kind, each with its field."""
    tables = {"events": row.events, "swaps": row.swaps, "parts": row.parts, "created": row.created}
    for field, signatures in tables.items():
        yield from ((field, signature) for signature in signatures)
    yield from (("harmless", signature) for signature in row.harmless)
    yield from (("list_functions", signature) for pair in row.list_functions for signature in pair)
