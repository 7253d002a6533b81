"""The views of a network's details, and of changes to network files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from swapcli import FactOutcome
from swapcli.core.encoding.text import printable
from swapcli.faces.cli.render.detail_view import DetailView
from swapcli.faces.cli.render.list_view import Column, ListView
from swapcli.faces.cli.render.quote_facts import Fact

if TYPE_CHECKING:
    from swapcli import (
        AddedNetwork,
        ListedNetwork,
        NetworkCheck,
        NetworkDefinition,
        NetworkDetails,
        NetworkList,
        RemovedNetwork,
    )

ABSENT = "-"
NETWORK_COLUMNS = (
    Column("network"),
    Column("chain id", is_whole=True),
    Column("native"),
    Column("API v2", is_whole=True, drop_order=1),
    Column("tokens", is_whole=True),
    Column("protocols", is_whole=True),
    Column("router", has_pool_ids=True),
)
PACKAGE_COLUMN = Column("package", readable_width=16)
ROUTER_COLUMNS = (
    Column("dialect", readable_width=16),
    Column("protocols", is_whole=True, drop_order=2),
    Column("named by", readable_width=16, drop_order=1),
    Column("address", is_whole=True),
)
TOKEN_COLUMNS = (
    Column("token"),
    Column("decimals", is_whole=True),
    Column("name", readable_width=24),
    Column("address", is_whole=True, goes_below=True),
)
PROTOCOL_COLUMNS = (
    Column("id", is_whole=True),
    Column("protocol", readable_width=23),
    Column("name", readable_width=16),
    Column("family"),
)
VENUE_COLUMNS = (
    Column("venue", readable_width=16),
    Column("role", readable_width=16),
    Column("address", is_whole=True, goes_below=True),
    Column("source", readable_width=24, goes_below=True),
)
SOURCE_COLUMNS = (Column("fact", readable_width=24), Column("source", readable_width=40))
CHECK_COLUMNS = (
    Column("outcome", is_whole=True),
    Column("key", readable_width=20),
    Column("fact", readable_width=24),
    Column("chain", readable_width=20),
    Column("place", goes_below=True, keeps_end=True),
)
_OUTCOMES = ("contradicted", "unknown", "confirmed")
_CHANGES = {
    "listed": "is now one of your networks",
    "extended": "is extended",
    "replaced": "is now defined by your file instead of swapcli's own definition",
    "described": "is added",
}


def definition_text(definition: NetworkDefinition) -> str:
    """Return a definition as a file for people to edit: one list entry per line."""
    members = (f"  {json.dumps(key)}: {_value_text(value)}" for key, value in definition.document().items())
    return "{\n" + ",\n".join(members) + "\n}"


def _value_text(value: object) -> str:
    if not isinstance(value, list | dict) or not value or not isinstance(next(iter(value)), dict | str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        entries = [json.dumps(each, ensure_ascii=False) for each in value]
    else:
        entries = [f"{json.dumps(key)}: {json.dumps(each, ensure_ascii=False)}" for key, each in value.items()]
    if sum(map(len, entries)) < _SHORT:
        return json.dumps(value, ensure_ascii=False)
    begin, end = ("[", "]") if isinstance(value, list) else ("{", "}")
    return f"{begin}\n" + ",\n".join(f"    {each}" for each in entries) + f"\n  {end}"


_SHORT = 100
"""Maximum length, in characters, of a list or mapping on one line."""


def build_network_list(found: NetworkList) -> ListView:
    """Build the list of networks, with links to the routers' explorer pages. If any network comes from a package, a
    column names the packages."""
    pages = [each.router_page for each in found.networks]
    links = tuple({"router": page} if page else {} for page in pages)
    rows = tuple(map(_row, found.networks))
    packages = [each.package or ABSENT for each in found.networks] + [each.origin for each in found.plugins]
    if all(each == ABSENT for each in packages):
        return ListView(NETWORK_COLUMNS, rows, links=links)
    rows += tuple((each.name, *(ABSENT,) * (len(NETWORK_COLUMNS) - 1)) for each in found.plugins)
    rows = tuple((*row, printable(package)) for row, package in zip(rows, packages, strict=True))
    return ListView((*NETWORK_COLUMNS, PACKAGE_COLUMN), rows, links=(*links, *({} for _ in found.plugins)))


def _row(listed: ListedNetwork) -> tuple[str, ...]:
    network = listed.network
    return (
        network.name,
        str(network.chain_id),
        network.native.symbol,
        "yes" if network.has_v2 else "no",
        str(listed.tokens),
        str(len(network.protocols)),
        listed.router or ABSENT,
    )


def build_network_details(found: NetworkDetails, *, verbose: bool = False) -> DetailView:
    """Build the details of a network: facts and routers. With `verbose`, it also has tokens, protocols, contracts,
    sources."""
    network = found.network
    lists = [_routers(found)]
    if verbose:
        sources = tuple((printable(name), printable(text)) for name, text in network.sources.items())
        lists += [_tokens(found), _protocols(found), _venues(found), ListView(SOURCE_COLUMNS, sources)]
    return DetailView(
        title=printable(f"{network.name}: chain {network.chain_id}"),
        facts=tuple(_facts(found, verbose=verbose)),
        lists=tuple(each for each in lists if each.rows),
    )


def build_added_details(added: AddedNetwork) -> DetailView:
    """Build the view of an added network file, with the number of its entries."""
    network = added.network
    entries = ", ".join(
        f"{count} {key if count != 1 else key.removesuffix('s')}" for key, count in added.entries.items()
    )
    facts = [Fact("Chain", str(network.chain_id))]
    facts += [Fact("Entries", entries)] if entries else []
    if added.check is not None:
        facts.append(Fact("Check", _counts(added.check)))
    return DetailView(
        title=f"{printable(network.name)} {_CHANGES[added.change]}",
        facts=tuple(facts),
        copyable=(("File", printable(added.file)),),
    )


def build_removed_details(removed: RemovedNetwork) -> DetailView:
    """Build the view of a removed network."""
    rest = "swapcli's own definition is used again" if removed.is_packaged else "the network is no longer defined"
    return DetailView(
        title=f"{printable(removed.network)} removed: {rest}",
        facts=(),
        copyable=(("File", printable(removed.file)),),
    )


def build_check_details(found: NetworkCheck, *, verbose: bool = False) -> DetailView:
    """Build the details of a check: the facts that the chain contradicts or cannot confirm. With `verbose`, it also has
    the confirmed facts."""
    shown = [each for each in found.facts if verbose or each.outcome is not FactOutcome.CONFIRMED]
    ordered = sorted(shown, key=lambda each: _OUTCOMES.index(each.outcome.value))
    rows = tuple(
        (each.outcome.value, printable(each.key), printable(each.fact), printable(each.found), each.place or ABSENT)
        for each in ordered
    )
    return DetailView(
        title=f"{printable(found.network)}: {_counts(found)}",
        facts=(Fact("Node", printable(found.node)),),
        lists=(ListView(CHECK_COLUMNS, rows),) if rows else (),
    )


def _counts(found: NetworkCheck) -> str:
    """Say how many facts the chain confirms, and at which block: "13 facts confirmed at block 19"."""
    ordered = (FactOutcome.CONTRADICTED, FactOutcome.CONFIRMED, FactOutcome.UNKNOWN)
    counts = {outcome: count for outcome in ordered if (count := found.count(outcome))}
    words = [f"{count:,} {outcome.value}" for outcome, count in counts.items()]
    if words:
        first, count = next(iter(counts.items()))
        words[0] = f"{count:,} fact{'s' if count != 1 else ''} {first.value}"
    return (", ".join(words) or "no facts") + ("" if found.block is None else f" at block {found.block:,}")


def _facts(found: NetworkDetails, *, verbose: bool) -> Iterator[Fact]:
    network = found.network
    if verbose:
        yield Fact("Kind", network.kind.value)
    wrapped = network.wrapped_native
    yield Fact("Native", printable(network.native.symbol), f"wrapped: {printable(wrapped.symbol)}" if wrapped else "")
    yield Fact(
        "Known tokens", f"{len(network.tokens):,}", f"swapcli tokens {network.name} lists those with pools and yours"
    )
    yield Fact("Protocols", f"{len(network.protocols):,}", f"swapcli protocols {network.name} lists them")
    yield Fact("Contracts", f"{sum(len(each.addresses) for each in network.deployments):,}", "-v lists them")
    yield Fact("Explorer", printable(network.explorer or ABSENT))
    yield Fact("Nodes", printable(", ".join(found.nodes) or "none known"))
    if network.facts_date:
        yield Fact("Facts of", network.facts_date)
    if verbose:
        yield Fact("Described by", printable(", ".join(found.described_by)))
    if count := len(network.unconfirmed):
        unconfirmed = printable("; ".join(network.unconfirmed))
        number = f"{count:,} fact{'s' if count != 1 else ''}"
        yield Fact("Unconfirmed", unconfirmed) if verbose else Fact("Unconfirmed", number, "-v lists them")


def _routers(found: NetworkDetails) -> ListView:
    document = found.document()
    rows = (
        (
            each["dialect"] + (f" ({printable(package)})" if (package := each.get("package")) else ""),
            str(each.get("protocols", "all")),
            "definition" if each.get("address") else "registry",
            each.get("address") or each.get("registry") or ABSENT,
        )
        for each in document.get("routers", ())
    )
    return ListView(ROUTER_COLUMNS, tuple(rows))


def _tokens(found: NetworkDetails) -> ListView:
    rows = (
        (printable(each["symbol"]), str(each["decimals"]), printable(each["name"]), each["address"])
        for each in found.document().get("tokens", ())
    )
    return ListView(TOKEN_COLUMNS, tuple(rows))


def _protocols(found: NetworkDetails) -> ListView:
    rows = (
        (
            str(each["protocolId"]),
            printable(each["protocol"]),
            printable(each["displayName"]),
            each.get("family") or ABSENT,
        )
        for each in found.document().get("protocols", ())
    )
    return ListView(PROTOCOL_COLUMNS, tuple(rows))


def _venues(found: NetworkDetails) -> ListView:
    rows = (
        (printable(venue["name"]), role, address, printable(venue.get("source") or "") or ABSENT)
        for venue in found.document().get("venues", ())
        for role, address in venue.get("addresses", {}).items()
    )
    return ListView(VENUE_COLUMNS, tuple(rows))
