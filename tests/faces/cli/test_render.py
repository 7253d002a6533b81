"""One answer in its three forms: the same facts, whole, at any width."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.finding import Finding, FindingCode
from swapcli.core.model.market import Provenance
from swapcli.core.model.route_result import with_gas
from swapcli.core.model.state_source import StateSource
from swapcli.core.model.swap_terms import Integrator, SwapTerms
from swapcli.core.model.units import PPM
from swapcli.faces.cli.render.detail_view import DetailView
from swapcli.faces.cli.render.list_view import Column, ListView
from swapcli.faces.cli.render.plain import detail_text, line_text, list_text, route_text
from swapcli.faces.cli.render.quote_facts import Fact
from swapcli.faces.cli.render.route_rows import lay_out_rows
from swapcli.faces.cli.render.route_view import RouteView, SwapRow
from swapcli.faces.cli.render.route_view import build_route_view as build_view
from swapcli.faces.cli.render.terminal_tables import new_console, print_details, print_list, print_route
from swapcli.quoting.impact_measures import impact_of
from swapcli.quoting.pictures.route_flow import build_route_flow
from swapcli.quoting.quote_figures import compute_figures
from swapcli.quoting.quote_results import LocalQuote, QuoteResult, RemoteQuote
from swapcli.quoting.swap_quote import SwapQuote
from swapcli.quoting.warnings import answer_warnings
from tests.snapshot import matches_snapshot
from tests.support.testnet import (
    DIRECT_V2,
    DIRECT_V3,
    EMPTY_V2,
    FIRST_V2,
    NOW_S,
    SECOND_V2,
    build_market_document,
    build_quote,
    build_testnet_market,
)

SNAPSHOTS = Path(__file__).parent / "snapshots"
ACME = Integrator("0x" + "9" * 40, fee_bps=30)


def build_route_view(answer: QuoteResult, terms: SwapTerms, *, verbose: bool = False) -> RouteView:
    return build_view(answer, terms, compute_figures(answer, terms), verbose=verbose)


def route_document(answer: QuoteResult, terms: SwapTerms = SwapTerms(5_000)) -> dict[str, object]:  # noqa: B008
    return SwapQuote(answer, terms, compute_figures(answer, terms)).to_dict()


TERMS = SwapTerms(5_000, "0x" + "8" * 40, ACME)
VIEW = build_route_view(build_quote(certified=True), TERMS)
WHOLE = build_route_view(build_quote(certified=True), TERMS, verbose=True)
VIEWS = pytest.mark.parametrize("view", [VIEW, WHOLE], ids=["brief", "verbose"])


def drawn(view: RouteView, width: int, color: str = "never") -> str:
    stream = io.StringIO()
    print_route(view, new_console(color, stream, width))
    return stream.getvalue()


def squeezed(text: str) -> str:
    return "".join(text.split())


@pytest.mark.parametrize("name", ["80", "132", "verbose-80"])
def test_the_table_looks_as_it_did(name: str) -> None:
    view, width = (WHOLE if "verbose" in name else VIEW), int(name.removeprefix("verbose-"))
    assert matches_snapshot(drawn(view, width), SNAPSHOTS / f"route-table-{name}.txt")


def test_the_plain_text_looks_as_it_did() -> None:
    assert matches_snapshot(route_text(VIEW), SNAPSHOTS / "route-plain.txt")


@pytest.mark.parametrize("api_version", ApiVersion)
def test_the_json_looks_as_it_did(api_version: ApiVersion) -> None:
    document = route_document(build_quote(certified=True, api_version=api_version, integrator=ACME), TERMS)
    assert matches_snapshot(json.dumps(document, indent=2), SNAPSHOTS / f"route-{api_version}.json")


@VIEWS
@pytest.mark.parametrize("width", [60, 80, 132])
def test_a_table_fits_its_terminal(view: RouteView, width: int) -> None:
    assert max(map(len, drawn(view, width).splitlines())) <= width


@VIEWS
@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_a_table_of_any_width_shows_every_fact(view: RouteView, width: int) -> None:
    characters = squeezed(drawn(view, width))
    assert len(characters) == len(squeezed(drawn(view, 400)))
    assert ("…" in characters) == (view is VIEW)


@pytest.mark.parametrize("width", [20, 60, 80, 132])
def test_addresses_are_never_broken(width: int) -> None:
    lines = drawn(WHOLE, width).split()
    assert all(address in lines for address in [*(p.address for p in WHOLE.pools), *(a for _, a in WHOLE.parties)])


@VIEWS
def test_table_and_plain_text_have_the_same_words(view: RouteView) -> None:
    wide, plain = drawn(view, 400), route_text(view)
    assert sorted(wide.split()) == sorted(plain.split())
    for row in view.rows:
        for cell in (row.segment, row.path, row.share, row.pool, row.mark, row.amount):
            assert cell in plain


def test_the_result_is_in_the_first_line() -> None:
    answer = build_quote()
    first = route_text(build_route_view(answer, SwapTerms(5_000))).splitlines()[0]
    assert answer.result.output_amount == 49_514_596_484
    assert first.startswith("25 ETH → 49,514.59 USDC on testnet ")
    assert first.endswith(" synthetic, not live prices")


NAMES = ("Uniswap V2 0.3%", "PancakeSwap Infinity CL 0.067%", "An extraordinarily long name of a protocol 0.0101%")


@pytest.mark.parametrize("width", [60, 72, 80, 100])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("pair", ["ETH → USDC", "wrapped-token-of-fame → another-long-symbol"])
def test_addresses_go_to_a_legend_only_if_a_row_has_no_room(width: int, name: str, pair: str) -> None:
    marks = ("0xb2cc…dc59", "0xb4cb…00e5")
    rows = [SwapRow("100%", pair, "90.5%", name, marks[0]), SwapRow("", "", "9.5%", NAMES[0], marks[1])]
    found = lay_out_rows(rows, width)
    texts = [line_text(line) for line in found.lines]
    assert max(map(len, texts)) <= width
    needed = len(f"100%  {pair}  90.5%  {name}   {marks[0]}")
    is_whole = all(mark in text for mark, text in zip(marks, texts, strict=False))
    assert is_whole or needed > width
    if found.legend:
        assert needed - 2 * 4 - 2 > width - 9  # narrower gaps are tried first
        assert found.legend == (f"#1 {marks[0]}", f"#2 {marks[1]}")
    assert all(mark in "\n".join([*texts, *found.legend]) for mark in marks)


def test_a_path_of_several_pools_is_one_row() -> None:
    rows = [
        SwapRow("90.3%", "ETH → USDC", "67.7%", "Aerodrome Slipstream 0.04%", "0xb2cc…dc59"),
        SwapRow("9.7%", "ETH → cbBTC → USDC", "", "PancakeSwap V3 0.01%, 0.01%"),
    ]
    assert [line_text(line) for line in lay_out_rows(rows, 80).lines] == [
        "90.3%  ETH → USDC          67.7%  Aerodrome Slipstream 0.04%   0xb2cc…dc59",
        " 9.7%  ETH → cbBTC → USDC         PancakeSwap V3 0.01%, 0.01%",
    ]
    names = ", ".join(["A long protocol 0.3%"] * 4)
    long = [*rows, SwapRow("", "ETH → " * 4 + "USDC", "", names)]
    lines = [line_text(line) for line in lay_out_rows(long, 80).lines]
    assert max(map(len, lines)) <= 80
    assert " ".join(" ".join(lines[2:]).split()) == f"{'ETH → ' * 4}USDC {names}"


def test_colour_is_a_matter_of_choice() -> None:
    assert "\x1b[" in drawn(VIEW, 80, "always")
    assert "\x1b[" not in drawn(VIEW, 80, "never")
    assert "\x1b[" not in drawn(VIEW, 80, "auto")


def test_the_pools_of_a_hop_are_sorted_by_share() -> None:
    answer = build_quote()
    turned = tuple(s._replace(hops=tuple(hop[::-1] for hop in s.hops)) for s in answer.result.segments)
    again = answer._replace(result=answer.result._replace(segments=turned))
    assert build_route_view(again, SwapTerms(0)).rows == build_route_view(answer, SwapTerms(0)).rows
    assert [row.share for row in VIEW.rows[:2]] == ["80%", "20%"]
    assert [row.share for row in WHOLE.rows[:2]] == ["80.00%", "20.00%"]


def test_pool_amounts_sum_to_what_is_received() -> None:
    flow = build_route_flow(build_quote())
    last_hops = [use.amount_out for path in flow.paths for use in path.hops[-1]]
    assert sum(amount or 0 for amount in last_hops) == build_quote().result.output_amount


def test_a_market_cannot_steer_the_terminal() -> None:
    hostile = build_testnet_market()._replace(source="\x1b[31mred\r\n\x07", provenance=Provenance.RECORDED)
    text = route_text(build_route_view(build_quote(hostile), SwapTerms(0), verbose=True))
    assert "\x1b" not in text
    assert "\r" not in text
    assert "?[31mred???" in text


def warnings_on(answer: LocalQuote, ttl_s: int) -> tuple[Finding, ...]:
    """The warnings of the fixed answer, whose price impact is above 5%."""
    return answer_warnings(answer, impact_of(answer), SwapTerms(0, ttl_s=ttl_s, impact_warning_ppm=PPM), None)


@pytest.mark.parametrize(
    ("provenance", "warned"), [("modelled", True), ("synthetic", True), ("recorded", False), ("synced", False)]
)
def test_prices_that_are_not_live_are_said_to_be_so(provenance: str, warned: bool) -> None:
    answer = build_quote(build_testnet_market(provenance=provenance))
    assert [each.code for each in warnings_on(answer, 7_200)] == ([f"STATE_{provenance.upper()}"] if warned else [])
    view = build_route_view(answer, SwapTerms(0, ttl_s=7_200))
    assert view.origin == (f"{provenance}, not live prices" if warned else f"{provenance} block 1,234, 2 h")


def test_live_state_shows_how_long_it_is_valid() -> None:
    fresh, stale = (
        build_route_view(build_quote(build_testnet_market(provenance="synced")), SwapTerms(0, ttl_s=t), verbose=True)
        for t in (7_230, 7_200)
    )
    assert fresh.facts[-1].note == "block 1,234, 2 hours old, valid for another 30 s, written by hand"
    assert stale.facts[-1].note == "block 1,234, 2 hours old, written by hand"


@pytest.mark.parametrize(("ttl_s", "warned"), [(7_199, True), (7_200, False)])
def test_state_older_than_a_route_may_be_is_warned_of(ttl_s: int, warned: bool) -> None:
    old = FindingCode.STATE_OLD.finding("the pool state is 2 hours old: prices may have moved since")
    assert warnings_on(build_quote(build_testnet_market(provenance="recorded")), ttl_s) == ((old,) if warned else ())


@pytest.mark.parametrize(
    ("placeholders", "message"),
    [
        ([], "these are not live prices"),
        ([FIRST_V2], "these are not live prices; invented pool addresses: 1 of 4"),
        ([FIRST_V2, EMPTY_V2], "these are not live prices; invented pool addresses: 1 of 4"),
        ([DIRECT_V2, DIRECT_V3, FIRST_V2, SECOND_V2], "these are not live prices; invented pool addresses: 4 of 4"),
    ],
)
def test_invented_addresses_are_marked_where_they_stand(placeholders: list[str], message: str) -> None:
    document = build_market_document(provenance="modelled")
    for entry in document["pools"]:
        if entry["address"] in placeholders:
            entry["address_modelled"] = True
    answer = build_quote(build_testnet_market(pools=document["pools"], provenance="modelled"))
    used = sorted({DIRECT_V2, DIRECT_V3, FIRST_V2, SECOND_V2} & set(placeholders))
    brief, view = (build_route_view(answer, SwapTerms(0), verbose=each) for each in (False, True))
    (warning,) = warnings_on(answer, 60)
    assert warning.message.endswith(message)
    reported = [line.split() for line in [*drawn(view, 80).splitlines(), *route_text(view).splitlines()]]
    for line in reported:
        if line and line[0].startswith("#"):
            assert ("invented" in line) == (line[1].lower() in used)
    assert ("invented" in route_text(brief)) == bool(used)
    state: Any = route_document(answer)["state"]
    assert [address.lower() for address in state["placeholderPools"]] == used


def test_a_market_without_block_and_time_has_no_age() -> None:
    view = build_route_view(
        build_quote(build_testnet_market(block=None, timestamp=None, provenance="synced")), SwapTerms(0)
    )
    assert view.origin == "synced state"
    document = route_document(build_quote(build_testnet_market(timestamp=None)))
    assert json.loads(json.dumps(document))["state"]["ageS"] is None


def test_the_json_has_the_state_source_and_its_age() -> None:
    document = route_document(build_quote())
    assert document["state"] == {
        "kind": "synthetic",
        "block": 1234,
        "timestamp": int(NOW_S) - 7_200,
        "ageS": 7_200,
        "pinned": None,
        "proposed": False,
        "tag": None,
        "source": "written by hand",
        "service": None,
        "placeholderPools": [],
        "changingPools": [],
    }
    assert "certificate" not in document


def from_service(api_version: ApiVersion = ApiVersion.V2) -> RemoteQuote:
    """The fixed quote with only the fields that a service reports."""
    quote = build_quote(api_version=api_version)
    state_source = StateSource(None, "https://quotes.example", service_url="https://quotes.example")
    return RemoteQuote(quote.order, quote.result, quote.network, quote.tokens, state_source, quote.timestamp_ms)


def test_a_remote_quote_shows_what_the_service_returned() -> None:
    answer = from_service()
    reported, known = (build_route_view(each, SwapTerms(5_000), verbose=True) for each in (answer, build_quote()))
    assert [(r.segment, r.path, r.mark, r.share) for r in reported.rows] == [
        (r.segment, r.path, r.mark, r.share) for r in known.rows
    ]
    assert [pool.address for pool in reported.pools] == [pool.address for pool in known.pools]
    assert {row.amount for row in reported.rows} == {""}
    same = {fact.name: fact for fact in known.facts}
    left_out = set(same) - {fact.name for fact in reported.facts}
    assert left_out == {"Single path"}
    differing = {fact.name for fact in reported.facts if fact != same.get(fact.name)}
    assert differing == {"Gas", "State"}  # the first line has the state of the known one
    assert "single path" not in route_text(build_route_view(answer, SwapTerms(5_000)))


@pytest.mark.parametrize(("api_version", "gas"), [(ApiVersion.V1, "412,300 units"), (ApiVersion.V2, "0.000004123 ETH")])
def test_gas_from_a_service_is_in_the_units_of_its_generation(api_version: ApiVersion, gas: str) -> None:
    view = build_route_view(from_service(api_version), SwapTerms(0), verbose=True)
    facts = {fact.name: fact for fact in view.facts}
    assert (facts["Gas"].value, facts["Gas"].note) == (gas, "$0.0082")
    assert view.head[-1].beside == "gas $0.0082"


def test_the_l1_data_fee_is_part_of_the_gas_cost() -> None:
    answer = build_quote()
    quote = answer.quote._replace(l1_fee_wei=2 * 10**12)
    charged = answer._replace(quote=quote, result=with_gas(answer.result, quote))
    view = build_route_view(charged, SwapTerms(0), verbose=True)
    gas = {fact.name: fact for fact in view.facts}["Gas"]
    assert gas.value == "412,300 units"
    assert gas.note == "0.000004123 ETH at 0.01 gwei, 0.000002 ETH for L1 data, $0.012"
    assert gas.note in route_text(view)
    document = route_document(charged)
    assert (document["l1FeeWei"], document["estimatedGasUsed"]) == ("2000000000000", "6123000000000")
    assert "l1FeeWei" not in route_document(answer)


@pytest.mark.parametrize(
    ("percent", "shown", "reported"),
    [
        (80, "single path 2,000.00 bps less", "splitting gains 2,500.00 bps"),
        (100, "", "splitting gains nothing"),
        (125, "single path 2,500.00 bps more before gas", "splitting saves gas worth 2,000.00 bps"),
        (None, "no single path can fill the order", "no single path can fill the order"),
    ],
)
def test_the_gain_from_splitting_is_shown(percent: int | None, shown: str, reported: str) -> None:
    answer = build_quote()
    out = 10**9
    best = None if percent is None else out * percent // 100
    quote = answer.quote._replace(amount_out=out, best_single_path_out=best)
    view = build_route_view(answer._replace(quote=quote), SwapTerms(0), verbose=True)
    assert view.head[-1].last == shown
    assert {fact.name: fact for fact in view.facts}["Single path"].note == reported


def test_a_service_without_a_state_source_is_named() -> None:
    view = build_route_view(from_service(), SwapTerms(0), verbose=True)
    assert view.origin == "quoted by https://quotes.example"
    assert view.facts[-1].note == "https://quotes.example does not report it"
    state: Any = route_document(from_service())["state"]
    assert (state["service"], state["kind"]) == ("https://quotes.example", None)


@pytest.mark.parametrize("width", [60, 80, 132])
def test_an_answer_of_a_service_is_drawn_whole(width: int) -> None:
    view = build_route_view(from_service(), SwapTerms(0), verbose=True)
    assert all(pool.address in drawn(view, width).split() for pool in view.pools)
    assert all(squeezed(fact.note) in squeezed(route_text(view)) for fact in view.facts)


LISTING = ListView((Column("name"), Column("address")), (("a", "0x" + "1" * 40), ("b" * 60, "0x" + "2" * 40)))


def test_a_list_wider_than_the_terminal_says_what_it_cuts() -> None:
    stream = io.StringIO()
    print_list(LISTING, new_console("never", stream, 80))
    lines = [line.split() for line in stream.getvalue().splitlines()]
    assert lines[0] == ["Name", "Address"]
    assert [line[1] for line in lines[1:3]] == [address for _, address in LISTING.rows]
    assert stream.getvalue().splitlines()[3:] == ["In 80 columns, shortened: name. --format plain shows all."]


def test_a_list_in_a_narrow_terminal_is_not_cut() -> None:
    stream = io.StringIO()
    print_list(LISTING, new_console("never", stream, 50))
    assert stream.getvalue().split() == ["Name", "Address", *(cell for row in LISTING.rows for cell in row)]
    assert list_text(LISTING).splitlines()[0].split() == ["Name", "Address"]


@pytest.mark.parametrize("form", ["plain", "table"])
def test_a_long_value_without_a_note_leaves_the_notes_of_others_where_they_are(form: str) -> None:
    facts = (
        Fact("Native", "ETH", "wrapped: WETH"),
        Fact("Nodes", "https://node.example " * 3),
        Fact("Tokens", "7", "all"),
    )
    sheet = DetailView("base", facts)
    if form == "plain":
        text = detail_text(sheet)
    else:
        print_details(sheet, new_console("never", stream := io.StringIO(), 80))
        text = stream.getvalue()
    native, *_, tokens = (line for line in text.splitlines() if line.startswith(("Native", "Tokens")))
    assert native.index("wrapped") == tokens.index("all") < 20
