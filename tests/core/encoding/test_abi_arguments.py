"""Arguments of any type are encoded as eth_abi encodes them."""

from __future__ import annotations

from typing import Any

import pytest
from eth_abi.abi import encode
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.encoding.abi_arguments import argument_types, encode_arguments
from swapcli.core.errors import InvalidInput

WORDS = {
    "uint256": st.integers(0, 2**256 - 1),
    "int256": st.integers(-(2**255), 2**255 - 1),
    "bool": st.booleans(),
    "address": st.integers(0, 2**160 - 1).map(lambda number: f"0x{number:040x}"),
    "bytes": st.binary(max_size=70),
}
kinds = st.recursive(
    st.sampled_from(sorted(WORDS)),
    lambda inner: st.one_of(
        inner.map(lambda kind: f"{kind}[]"),
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: f"({','.join(parts)})"),
    ),
    max_leaves=5,
)


def values_of(kind: str) -> st.SearchStrategy[Any]:
    if kind.endswith("[]"):
        return st.lists(values_of(kind[:-2]), max_size=3)
    if kind.startswith("("):
        return st.tuples(*map(values_of, argument_types(f"f{kind}")))
    return WORDS[kind]


@given(st.lists(kinds, max_size=4), st.data())
def test_arguments_are_encoded_as_by_eth_abi(types: list[str], data: st.DataObject) -> None:
    values = [data.draw(values_of(kind)) for kind in types]
    signature = f"quote({','.join(types)})"
    assert argument_types(signature) == tuple(types)
    assert encode_arguments(signature, values) == encode(types, values)


@pytest.mark.parametrize(
    ("signature", "values"),
    [
        ("f", []),
        ("f(uint256", [1]),
        ("f(uint256)", []),
        ("f(uint256)", [[1]]),
        ("f(uint256[])", [1]),
        ("f(bytes)", ["0x12"]),
        ("f((uint256,uint256))", [[1]]),
    ],
)
def test_values_of_other_types_are_refused(signature: str, values: list[Any]) -> None:
    with pytest.raises(InvalidInput):
        encode_arguments(signature, values)
