"""JSON for programs: one document."""

from __future__ import annotations

import json
from math import ceil

from swapcli.engine.answer import Answer, Origin
from swapcli.model.route import Certificate
from swapcli.networks.address import display_address
from swapcli.wire.route import render


def route_document(answer: Answer) -> dict[str, object]:
    """The RouteResult of the interface, and what `about` adds. Unknown prices are null."""
    return render(answer.result, answer.network, unknown_price=None) | about(answer)


def about(answer: Answer) -> dict[str, object]:
    """What the interface does not tell of an answer: `network`, `market` (where the state comes from), `l1Fee` if there
    is one (the part of the gas that is for data on L1, in wei), and `certificate` if asked for."""
    invented = {answer.pools[key].address for key in answer.invented}
    shown = [display_address(address, answer.network.kind) for address in sorted(invented)]
    document: dict[str, object] = {
        "network": answer.network.name,
        "market": state(answer.origin) | {"inventedPools": shown},
    }
    if answer.quote and answer.quote.l1_fee_wei:
        document["l1Fee"] = str(answer.quote.l1_fee_wei)
    if answer.quote and answer.quote.certificate:
        document["certificate"] = _certificate(answer.quote.certificate)
    return document


def state(origin: Origin) -> dict[str, object]:
    """Return where the state comes from; what a service does not tell is null. `pinned` says whether the node's answers
    are proven to be of `block`, `proposed` whether the network had yet to agree on that block."""
    return {
        "service": origin.service,
        "provenance": origin.provenance.value if origin.provenance else None,
        "source": origin.source,
        "block": origin.block,
        "timestamp": origin.timestamp,
        "age": origin.age_s,
        "pinned": origin.pinned,
        "proposed": origin.is_proposed,
    }


def dump(document: object, *, indent: int | None = None) -> str:
    """One JSON document; escapes whatever is not ASCII, so that any pipe carries it."""
    return json.dumps(document, indent=indent, allow_nan=False)


def _certificate(certificate: Certificate) -> dict[str, object]:
    return {
        "bound": str(ceil(certificate.bound)),
        "gapBps": certificate.gap_bps,
        "acyclicBound": str(ceil(certificate.acyclic_bound)),
        "acyclicGapBps": certificate.acyclic_gap_bps,
        "poolsChecked": certificate.pools_checked,
    }
