"""How far each dialect's router can be trusted: the table from which quotes choose a router."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from swapcli.core.model.network import FIBROUS, OWN, SETTLER, UNIVERSAL_ROUTER, DialectRouter, Network
from swapcli.core.model.router_choice import PassedRouter
from swapcli.core.records import NamedTuple


class RouterTrust(NamedTuple):
    """The known facts about a dialect's router.

    `is_published` means that its whole source is public; `is_verified` means that others have audited the source and
    that the deployed code was built from it. `enforces_deadline` and `enforces_minimum` mean that a late swap, or one
    that pays less than the minimum, reverts. `has_known_gas` means that its gas was measured. `is_own` marks this
    project's contract, which users deploy themselves. `source` is the origin of the facts, with the date.
    """

    dialect: str
    is_published: bool
    is_verified: bool
    enforces_deadline: bool
    enforces_minimum: bool
    has_known_gas: bool
    source: str
    is_own: bool = False

    @property
    def reason(self) -> str:
        """The known facts as the clauses of a sentence."""
        if self.is_own:
            code = "your own contract; published, not audited"
        elif self.is_verified:
            code = "published and verified"
        else:
            code = "not published in full"
        return f"{code}; {self._enforced()}"

    def _enforced(self) -> str:
        if self.enforces_deadline and self.enforces_minimum:
            return "enforces deadline and minimum"
        return "enforces the minimum but no deadline" if self.enforces_minimum else "enforces no deadline"


TRUST: Final = (
    RouterTrust(
        SETTLER, True, True, True, True, True,
        "github 0xProject/0x-settler (source, audits, registry of deployed instances); read 2026-11-25",
    ),
    RouterTrust(
        UNIVERSAL_ROUTER, True, True, True, True, True,
        "github Uniswap/universal-router (source, audits, deploy-addresses); read 2026-11-25",
    ),
    RouterTrust(OWN, True, False, True, True, True, "swapcli/payload/evm/router", is_own=True),
    RouterTrust(
        FIBROUS, False, False, False, True, False,
        "docs.fibrous.finance (addresses, functions and argument types); read 2026-11-25",
    ),
)  # fmt: skip
"""The dialects, with the most trusted first: published and verified code that enforces deadline and minimum, then this
project's contract, and the Fibrous API's router last."""
TRUST_OF: Final = {each.dialect: each for each in TRUST}


def available_dialects(network: Network) -> tuple[tuple[str, ...], tuple[PassedRouter, ...]]:
    """Return the dialects whose routers can currently swap on a network, the most trusted first, and the routers that
    cannot.

    The interface's router is last in the first group. If a network has no interface router, it is included only if
    there is no other router, so that building a payload reports the problem.
    """
    found: list[str] = []
    passed: list[PassedRouter] = []
    for each in TRUST:
        router = network.routers.get(each.dialect)
        if each.dialect == FIBROUS:
            if not found or has_interface_router(network):
                found.append(FIBROUS)
        elif router is not None:
            reason = _refusal(each.dialect, router, network)
            if reason is None:
                found.append(each.dialect)
            else:
                passed.append(PassedRouter(each.dialect, reason))
    return tuple(found), tuple(passed)


def known_dialects(network: Network) -> tuple[str, ...]:
    """Return the dialects with a router on a network, the most trusted first, whether or not it can currently swap.

    Dialects from packages come last.
    """
    others = tuple(each.dialect for each in TRUST if each.dialect != FIBROUS and each.dialect in network.routers)
    named = dict.fromkeys((*network.routers, network.router_dialect))
    of_packages = tuple(each for each in named if each not in TRUST_OF)
    has_fibrous = has_interface_router(network) or not (others or of_packages)
    return (*others, *((FIBROUS,) if has_fibrous else ()), *of_packages)


def has_interface_router(network: Network) -> bool:
    """Return whether the router of the public interface is known on a network."""
    if network.router_dialect == FIBROUS:
        return network.router is not None
    return network.routers.get(FIBROUS, DialectRouter()).address is not None


def other_dialect_hint(network: Network, dialect: str) -> str:
    """Return the hint for a `dialect` without a router on a network: the dialects that have one, or how to get one."""
    is_known = has_interface_router(network)
    others = [each for each in known_dialects(network) if each != dialect and (each != FIBROUS or is_known)]
    if others:
        return f"use the router dialect {' or '.join(others)}"
    return f"set networks.{network.name}.router to a router that you trust, or use the router dialect {OWN}"


def published_dialects(network: Network) -> Iterator[str]:
    """Yield the dialects of published and verified routers in the network's definition."""
    return (each.dialect for each in TRUST if each.is_verified and each.dialect in network.routers)


def _refusal(dialect: str, router: DialectRouter, network: Network) -> str | None:
    """Return the reason why a router cannot be chosen, or None if it can."""
    if router.is_paused:
        return "its registry lists no router, so its swaps are paused"
    if router.address is None:
        return "its registry could not be read" if router.registry else "its address is unknown"
    if dialect == OWN and network.router_has_deadlines is False:
        return "the deployed contract is an older version"
    return None
