"""The venues on a network according to public lists, and how swapcli quotes them (`public_venues.json`).

The file contains the lists, with the commits that were read. For each network, it maps the venues to protocols in the
network's definition, or gives the reason why there is none. Only this file connects a venue's name in the lists with
its name in swapcli. `docs/venues.md` is generated from it (`make venues`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from swapcli.core.errors import InvalidInput
from swapcli.core.model.network import Network
from swapcli.core.records import NamedTuple
from swapcli.core.validation.argument_types import checks_arguments
from swapcli.interface.own_document import own_document
from swapcli.quoting.openers.program_setup import open_program_sources
from swapcli.quoting.protocol_list import ProtocolSupport, QuoteKind, describe_protocols

if TYPE_CHECKING:
    from swapcli.interface.document_types import PublicVenueJson
    from swapcli.quoting.openers.choose_source import SourceChooser

FILE: Final = Path(__file__).with_suffix(".json")


class Coverage(StrEnum):
    """The way in which a venue's pools are quoted: with their maths, through their contracts, or not at all."""

    ABSENT = "absent"
    SAMPLED = QuoteKind.SAMPLED.value
    EXACT = QuoteKind.EXACT.value


class PublicList(NamedTuple):
    """A public list of venues, with the revision, the date (YYYY-MM-DD) and the parts that were read."""

    name: str
    repository: str
    commit: str
    date: str
    parts: str


class PublicVenue(NamedTuple):
    """A venue in the public lists, with its name in the first of `lists`, and how its pools are quoted.

    `protocols` are the network's protocols that make up the venue; empty if there are none. `reason` is a sentence on
    why the venue is not quoted exactly; empty if it is.
    """

    name: str
    coverage: Coverage
    protocols: tuple[str, ...]
    reason: str
    lists: tuple[str, ...]

    @own_document
    def document(self) -> PublicVenueJson:
        """Return the venue as a row of JSON."""
        return {
            "name": self.name,
            "coverage": self.coverage.value,
            "protocols": list(self.protocols),
            "reason": self.reason or None,
            "lists": list(self.lists),
        }


class VenueList(NamedTuple):
    """The venues on a network according to public lists, unquoted ones first. `read_on` is a date, YYYY-MM-DD."""

    network: Network
    venues: tuple[PublicVenue, ...]
    read_on: str

    @own_document
    def document(self) -> list[PublicVenueJson]:
        """Return the JSON that `swapcli protocols --missing` prints."""
        return [each.document() for each in self.venues]


@checks_arguments
def public_venues(network: str, *, settings: Mapping[str, object] | SourceChooser | None = None) -> VenueList:
    """Return the venues on a network according to public lists, and how they are quoted.

    Raises `UnknownNetwork`, `ConfigError`, and `InvalidInput` for a network for which no lists were read.
    """
    return list_venues(open_program_sources(settings).networks.find(network))


def list_venues(network: Network) -> VenueList:
    """Return the venues on a network. Raises `InvalidInput` if no public lists were read for the network."""
    known = _read_file()["networks"]
    if network.name not in known:
        raise InvalidInput(
            f"public protocol lists are not available for {network.name}", hint=f"available: {', '.join(known)}"
        )
    supports = {each.protocol.amm_name: each for each in describe_protocols(network)}
    venues = (_venue(entry, supports, network) for entry in known[network.name])
    order = list(Coverage)
    in_order = sorted(venues, key=lambda venue: (order.index(venue.coverage), venue.name.lower()))
    return VenueList(network, tuple(in_order), read_on())


def read_on() -> str:
    """Return the date on which the lists were read, YYYY-MM-DD."""
    return str(_read_file()["read"])


def public_lists() -> tuple[PublicList, ...]:
    """Return the lists that were read."""
    return tuple(PublicList(**each) for each in _read_file()["lists"])


def listed_networks() -> tuple[str, ...]:
    """Return the names of the networks for which lists were read."""
    return tuple(_read_file()["networks"])


def _venue(entry: Mapping[str, Any], supports: Mapping[str, ProtocolSupport], network: Network) -> PublicVenue:
    name, lists, protocols = entry["venue"], tuple(entry["lists"]), tuple(entry.get("protocols", ()))
    if not protocols:
        reason = str(entry.get("reason", ""))
        return PublicVenue(name, Coverage.ABSENT, (), _read_file()["reasons"].get(reason, reason), lists)
    coverage, reason = _coverage([supports[each] for each in protocols if each in supports])
    if entry.get("hooks"):
        coverage, reason = _coverage_of_hooks(entry["hooks"], network)
    return PublicVenue(name, coverage, protocols, reason, lists)


def _coverage(supports: Sequence[ProtocolSupport]) -> tuple[Coverage, str]:
    """Return the coverage of a venue with several protocols: the best of them, and what the others lack."""
    reasons = "; ".join(dict.fromkeys(each.reason for each in supports if each.reason))
    usable = {each.quotes for each in supports if each.can_sync}
    if QuoteKind.EXACT in usable:
        return Coverage.EXACT, reasons
    if QuoteKind.SAMPLED in usable:
        return Coverage.SAMPLED, reasons or "its maths is not public; its contract provides the quotes"
    return Coverage.ABSENT, reasons or "the network has no such protocol"


def _coverage_of_hooks(hooks: Sequence[str], network: Network) -> tuple[Coverage, str]:
    from swapcli.core.networks.hook_rules import hook_rule_texts

    if set(hooks) <= hook_rule_texts(network).keys():
        return Coverage.EXACT, ""
    return Coverage.SAMPLED, "swapcli has no rule for the hook on this network; Uniswap's quoter quotes its pools"


@cache
def _read_file() -> dict[str, Any]:
    return dict(json.loads(FILE.read_text(encoding="utf-8")))
