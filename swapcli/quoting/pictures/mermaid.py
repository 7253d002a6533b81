"""A route as a Mermaid flowchart, which many Markdown viewers draw. The text is ASCII."""

from __future__ import annotations

from collections.abc import Iterator

from swapcli.core.encoding.text import printable
from swapcli.quoting.pictures.flow_graph import SINK, SOURCE, Detail, build_flow_graph
from swapcli.quoting.pictures.route_flow import WHOLE_ORDER, RouteFlow
from swapcli.quoting.pictures.route_words import (
    band_name,
    format_exact_amount,
    format_flow,
    format_symbol,
    route_title,
    state_note,
)

DETAIL = Detail(max_hops=16, max_tokens=16, max_bands=48)
"""How much detail a flowchart shows. With more bands, no viewer lays it out well."""
MAX_LINK_PX, MIN_LINK_PX = 24, 1

_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 .,+-_/%$()")


def render_mermaid(flow: RouteFlow) -> str:
    """Return a route as a flowchart from left to right. The width of each link is proportional to its flow."""
    return "\n".join(_lines(flow)) + "\n"


def _lines(flow: RouteFlow) -> Iterator[str]:
    graph = build_flow_graph(flow, DETAIL)
    ids = {node.key: f"t{number}" for number, node in enumerate(graph.nodes)}
    ends = {
        SOURCE: format_exact_amount(flow.amount_in, flow.token_in),
        SINK: f"{format_exact_amount(flow.amount_out, flow.token_out)}{state_note(flow)}",
    }
    yield "flowchart LR"
    yield f"  accTitle: {_encode('Route of ' + route_title(flow))}"
    for node in graph.nodes:
        if node.key in ends:
            yield f'  {ids[node.key]}(["{_encode(ends[node.key])}"])'
        else:
            yield f'  {ids[node.key]}["{_encode(format_symbol(node.token))}"]'
    for band in graph.bands:
        label = f"{_encode(band_name(band))}<br>{_encode(format_flow(band.flow))}"
        yield f'  {ids[band.source]} -->|"{label}"| {ids[band.target]}'
    for number, band in enumerate(graph.bands):
        width = max(MIN_LINK_PX, round(MAX_LINK_PX * band.flow / WHOLE_ORDER))
        yield f"  linkStyle {number} stroke-width:{width}px"


def _encode(text: str) -> str:
    """Write every character that Mermaid or an ASCII stream could misread as an entity code."""
    return "".join(each if each in _PLAIN else f"#{ord(each)};" for each in printable(text)).replace("%%", "#37;#37;")
