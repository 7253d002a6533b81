"""A fast way to copy a pool with new values of some fields."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from swapcli.core.annotations import Any
from swapcli.core.model.pool import Pool


@cache
def fast_replace(family: type[Pool], *changed: str) -> Callable[..., Any]:
    """Return a function `replace(pool, *values)` that copies a pool with new values of the fields in `changed`.

    The constructor of a frozen dataclass takes twice as long, which noticeably slows down a swap. So the function sets
    the slots itself; it is compiled from text, without a loop over the fields.
    """
    names = family.__match_args__
    lines = [f"set_{name}(after, {name if name in changed else f'pool.{name}'})" for name in names]
    source = (
        f"def replace(pool, {', '.join(changed)}):\n after = new(family)\n " + "\n ".join(lines) + "\n return after"
    )
    namespace: dict[str, Any] = {f"set_{name}": getattr(family, name).__set__ for name in names}
    namespace |= {"new": object.__new__, "family": family}
    exec(source, namespace)
    replace: Callable[..., Any] = namespace["replace"]
    return replace
