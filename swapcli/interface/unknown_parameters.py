"""Report parameters that the API does not have: most are misspelt, and ignoring one quotes a different order.

The published API ignores unknown parameters, so existing clients may send some. Its responses report the first three;
swapcli's own endpoints refuse them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from swapcli.core.encoding.closest import closest_names, did_you_mean
from swapcli.core.errors import InvalidInput
from swapcli.core.model.finding import Finding, FindingCode
from swapcli.core.records import NamedTuple

MAX_NAMED = 3
MAX_NAME_CHARACTERS = 40

_UNPRINTABLE = re.compile(r"[^A-Za-z0-9_.-]")


class UnknownParameter(NamedTuple):
    """The name of an unknown parameter, shortened and with plain characters only, and the closest known name, empty if
    none is close."""

    name: str
    closest: str

    @property
    def finding(self) -> Finding:
        """The warning that the parameter was ignored."""
        question = f": {did_you_mean([self.closest])}" if self.closest else ""
        return FindingCode.PARAMETER_UNKNOWN.finding(
            f"the parameter {self.name} does not exist, so it was ignored{question}"
        )

    @property
    def error(self) -> InvalidInput:
        """The error of an endpoint that refuses the parameter."""
        hint = did_you_mean([self.closest]) if self.closest else None
        return InvalidInput(f"{self.name} does not exist here", hint=hint, details={"field": self.name})

    @property
    def header_word(self) -> str:
        """The warning in the header `X-Swap-Warnings`."""
        closest = f";closest={self.closest}" if self.closest else ""
        return f"{FindingCode.PARAMETER_UNKNOWN};name={self.name}{closest}"


def find_unknown(names: Iterable[str], known: frozenset[str]) -> list[UnknownParameter]:
    """Return the first three unknown names; `name[]` and `name[0]` are entries of a list called `name`."""
    unknown = dict.fromkeys(name for each in names if (name := each.partition("[")[0] or each) not in known)
    return [_describe(_plain(name), known) for name in [*unknown][:MAX_NAMED]]


def _plain(name: str) -> str:
    return _UNPRINTABLE.sub("_", name[:MAX_NAME_CHARACTERS]) or "_"


@lru_cache(maxsize=256)  # a client sends the same names with each request, and a search for close ones takes longest
def _describe(plain: str, known: frozenset[str]) -> UnknownParameter:
    return UnknownParameter(plain, next(iter(closest_names(plain, known, limit=1)), ""))
