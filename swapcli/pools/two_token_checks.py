"""Checks of two-token pools, and a fast way to replace fields of a pool."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, Final

from swapcli.errors import InvalidPoolState, PoolError
from swapcli.model.pool import Pool, PoolIdentity

PPM: Final = 1_000_000
"""Parts per million in one whole: the denominator of `fee_ppm`."""


def check_pair(identity: PoolIdentity) -> None:
    """Raise `InvalidPoolState` unless there are two different tokens and the fee is below the whole input."""
    if len(identity.tokens) != 2:
        raise InvalidPoolState("tokens", f"expected 2 tokens, not {len(identity.tokens)}")
    if identity.tokens[0] == identity.tokens[1]:
        raise InvalidPoolState("tokens", f"{identity.tokens[0]} is on both sides")
    if not 0 <= identity.fee_ppm < PPM:
        raise InvalidPoolState("fee_ppm", f"expected a whole number from 0 to {PPM - 1}, not {identity.fee_ppm}")


def is_forward(pool: Pool, token_in: str, token_out: str) -> bool:
    """Return whether the first token is sold for the second. Raises `PoolError` for other tokens."""
    first, second = pool.tokens
    if token_in == first and token_out == second:
        return True
    if token_in == second and token_out == first:
        return False
    raise PoolError(f"pool {pool.key} does not trade {token_in} for {token_out}")


def fast_replace(family: type[Pool], *changed: str) -> Callable[..., Any]:
    """Return a function `replace(pool, *values)` that copies a pool with new values of the fields `changed`.

    The constructor of a frozen dataclass takes twice as long, which slows a swap down noticeably. So the function sets
    the slots itself; like the constructors of dataclasses, it is compiled from text, without a loop over the fields.
    """
    names = [field.name for field in fields(family)]
    lines = [f"set_{name}(after, {name if name in changed else f'pool.{name}'})" for name in names]
    source = (
        f"def replace(pool, {', '.join(changed)}):\n after = new(family)\n " + "\n ".join(lines) + "\n return after"
    )
    namespace: dict[str, Any] = {f"set_{name}": getattr(family, name).__set__ for name in names}
    namespace |= {"new": object.__new__, "family": family}
    exec(source, namespace)
    replace: Callable[..., Any] = namespace["replace"]
    return replace
