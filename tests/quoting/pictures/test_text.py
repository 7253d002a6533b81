"""A route as a tree, as one line, and as a Mermaid flowchart: every pool, in any script, on any stream."""

from __future__ import annotations

import re

from hypothesis import given

from swapcli.quoting.pictures.flow_graph import build_flow_graph
from swapcli.quoting.pictures.mermaid import DETAIL, render_mermaid
from swapcli.quoting.pictures.route_flow import RouteFlow
from swapcli.quoting.pictures.text import format_line, tree_rows
from tests.quoting.pictures.strategies import FEWER_EXAMPLES, route_flows

_LABEL = r"[A-Za-z0-9 .,+\-_/%$()#;]*"
MERMAID_LINES = (
    r"flowchart LR",
    rf"  accTitle: {_LABEL}",
    rf'  t\d+\(\["{_LABEL}"\]\)',
    rf'  t\d+\["{_LABEL}"\]',
    rf'  t\d+ -->\|"{_LABEL}<br>{_LABEL}"\| t\d+',
    r"  linkStyle \d+ stroke-width:\d+px",
)
"""The lines of a flowchart; the real parser of Mermaid 12 reads them."""


@FEWER_EXAMPLES
@given(route_flows())
def test_a_tree_has_a_row_for_every_pool_of_every_hop(flow: RouteFlow) -> None:
    rows = list(tree_rows(flow))
    hops = sum(len(path.hops) for path in flow.paths if len(path.hops) > 1)
    assert len(rows) == len(flow.paths) + hops + len(list(flow.uses))
    assert {use.name for use in flow.uses} <= {row.name for row in rows}
    assert all(len(row.branches) == len(row.below) for row in rows)


@FEWER_EXAMPLES
@given(route_flows())
def test_a_line_names_every_pool_or_counts_it(flow: RouteFlow) -> None:
    whole = format_line(flow)
    assert all(use.name in whole for use in flow.uses)
    assert "more" not in whole or any("more" in use.name for use in flow.uses)
    assert whole.count("]→") == sum(len(path.hops) for path in flow.paths)
    assert len(format_line(flow, 60)) <= len(whole)


@FEWER_EXAMPLES
@given(route_flows())
def test_a_flowchart_has_a_link_for_every_band(flow: RouteFlow) -> None:
    lines = render_mermaid(flow).splitlines()
    assert all(any(re.fullmatch(pattern, line) for pattern in MERMAID_LINES) for line in lines), lines
    links = [line for line in lines if "-->" in line]
    assert len(links) == len(build_flow_graph(flow, DETAIL).bands)
    assert len(links) == sum("linkStyle" in line for line in lines)
    assert not any("%%" in line for line in lines)
