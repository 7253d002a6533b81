"""An order: the swap to quote."""

from __future__ import annotations

from collections.abc import Mapping

from swapcli.core.annotations import Any
from swapcli.core.errors import SameToken
from swapcli.core.model.token import Token
from swapcli.core.records import NamedTuple

ZERO_ADDRESS = "0x" + "0" * 40
UNOWNED_ADDRESS = "0x7a3f0c5be9d24816a7c1f36d58e09b42cd61f7a9"
"""An arbitrary address that no one owns, for swaps without a sender of their own."""
DEFAULT_MAX_HOPS = 8
MAX_HOPS = 16
"""A limit on the option and on routes in documents; chosen."""


class Order(NamedTuple):
    """A swap of `amount` base units: of `token_in`, or of `token_out` if `reverse` is set.

    The native token has the zero address; routing uses its wrapped form. `excluded_protocols` are `amm_name`s; with
    `allows_only`, the order named the only protocols to use: `excluded_protocols` are all others, and protocols unknown
    here are excluded too. The route has at most `max_pools` pools, None for any number; with `single_path`, it has one
    path with one pool per hop.
    """

    token_in: Token
    token_out: Token
    amount: int
    reverse: bool = False
    direct: bool = False
    excluded_protocols: frozenset[str] = frozenset()
    allows_only: bool = False
    max_hops: int = DEFAULT_MAX_HOPS
    max_pools: int | None = None
    single_path: bool = False

    @classmethod
    def from_values(
        cls, token_in: Token, token_out: Token, amount: int, excluded: frozenset[str], values: Mapping[str, Any]
    ) -> Order:
        """Return an order with the given tokens and amount, and with each entry of `values` that is a field of an
        order."""
        limits = {name: value for name, value in values.items() if name in cls._fields}
        return cls(token_in, token_out, amount, excluded_protocols=excluded, **limits)

    @property
    def limits_pools(self) -> bool:
        """Whether the order limits the number of pools or paths in its route."""
        return self.single_path or self.max_pools is not None


def require_different_tokens(order: Order) -> None:
    """Raise `SameToken` if an order sells and buys the same token."""
    if order.token_in.address == order.token_out.address:
        raise SameToken
