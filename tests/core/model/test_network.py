"""A network trades its native token in the wrapped form."""

from __future__ import annotations

import pytest

from swapcli.core.model.network import Network
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.networks.catalogue import find_network, network_names

BASE = find_network("base")
UNWRAPPED = BASE._replace(wrapped_native=None)


@pytest.mark.parametrize("name", network_names())
def test_the_native_token_becomes_the_wrapped_one(name: str) -> None:
    served = find_network(name)
    wrapped = served.wrapped_native
    assert served.wrapped_native_address == (wrapped.address if wrapped else None)
    if served.native.address == ZERO_ADDRESS:
        assert wrapped is not None
        assert served.to_wrapped(ZERO_ADDRESS) == wrapped.address
        assert served.to_wrapped_token(served.native) == wrapped
    else:
        assert served.to_wrapped_token(served.native) == served.native


@pytest.mark.parametrize("served", [BASE, UNWRAPPED], ids=["with wrapped native", "without"])
def test_other_tokens_stay(served: Network) -> None:
    for token in BASE.tokens:
        assert served.to_wrapped_token(token) is token
        assert served.to_wrapped(token.address) == token.address


def test_without_a_wrapped_token_the_native_one_stays() -> None:
    assert UNWRAPPED.wrapped_native_address is None
    assert UNWRAPPED.to_wrapped(ZERO_ADDRESS) == ZERO_ADDRESS
    assert UNWRAPPED.to_wrapped_token(UNWRAPPED.native) == UNWRAPPED.native
