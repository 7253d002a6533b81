"""The simplified graph of a route: nothing is lost, flows are conserved, and it is as small as required."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from swapcli.quoting.pictures.flow_graph import SINK, SOURCE, Detail, build_flow_graph
from swapcli.quoting.pictures.route_flow import WHOLE_ORDER, RouteFlow
from tests.quoting.pictures.strategies import FEWER_EXAMPLES, route_flows

DETAILS = st.builds(Detail, st.integers(1, 6), st.integers(0, 6), st.integers(2, 30), st.integers(1, WHOLE_ORDER))


@FEWER_EXAMPLES
@given(route_flows(), DETAILS)
def test_the_flow_into_each_token_equals_the_flow_out_of_it(flow: RouteFlow, detail: Detail) -> None:
    graph = build_flow_graph(flow, detail)
    for node in graph.nodes:
        flow_in = sum(band.flow for band in graph.bands if band.target == node.key)
        flow_out = sum(band.flow for band in graph.bands if band.source == node.key)
        assert node.key == SOURCE or flow_in == node.flow
        assert node.key == SINK or flow_out == node.flow
    assert graph.nodes[0].flow == graph.nodes[-1].flow == WHOLE_ORDER


@FEWER_EXAMPLES
@given(route_flows(), DETAILS)
def test_every_pool_is_in_a_band(flow: RouteFlow, detail: Detail) -> None:
    graph = build_flow_graph(flow, detail)
    assert frozenset().union(*(band.pool_keys for band in graph.bands)) == flow.pool_keys
    drawn = sum(use.flow for band in graph.bands for use in band.uses)
    assert drawn == sum(use.flow for use in flow.uses)


@FEWER_EXAMPLES
@given(route_flows(), DETAILS)
def test_a_graph_has_no_more_than_its_detail_allows(flow: RouteFlow, detail: Detail) -> None:
    graph = build_flow_graph(flow, detail)
    assert len(graph.bands) <= detail.max_bands
    assert graph.hop_count <= detail.max_hops
    assert len(graph.nodes) - 2 <= detail.max_tokens
    layers = {node.key: node.layer for node in graph.nodes}
    assert all(layers[band.source] < layers[band.target] for band in graph.bands)


@FEWER_EXAMPLES
@given(route_flows())
def test_enough_detail_draws_every_pool_of_the_largest_path(flow: RouteFlow) -> None:
    graph = build_flow_graph(flow, Detail(99, 99, 999, min_flow=0))
    drawn = [band for band in graph.bands if not band.path_count]
    assert all(band.is_single_pool for band in drawn)
    largest = max(flow.paths, key=lambda path: path.share)
    addresses = [token.address for token in largest.tokens]
    if len(set(addresses)) == len(addresses):
        assert largest.pool_keys <= frozenset().union(*(band.pool_keys for band in drawn))
