"""The HTML pages: content negotiation, policy, amounts, and every check of `browser.mjs` in a real Chromium."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swapcli.core.errors import InvalidAmount
from swapcli.core.model.market import MarketState, Provenance
from swapcli.core.model.written_amount import AmountUnit
from swapcli.core.networks.catalogue import find_network, network_names
from swapcli.faces.service import html_pages
from swapcli.faces.service.app import create_app
from swapcli.faces.service.html_pages import CONTENT_TYPE, accepts_html, docs_page, quote_page
from swapcli.faces.service.keys import KeyStore
from swapcli.faces.service.market_registry import MarketRegistry, ServiceRules
from swapcli.faces.service.static_pages import StaticPage
from swapcli.quoting.amounts import read_amount
from swapcli.quoting.config.settings import ServiceSettings
from swapcli.quoting.price_policy import PriceRequest
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.state.clock import SYSTEM_CLOCK
from swapcli.state.rpc.rpc_node import NodePolicy, RpcEndpoint, RpcNode
from tests.chain.anvil import CHAIN_ID
from tests.chain.trader import USER
from tests.faces.service.test_quote_stream import serving
from tests.faces.service.test_transaction_verdicts import priced_market
from tests.support.command import run_swapcli
from tests.support.markets import embedded_market
from tests.support.service import build_app, send_requests, serve_app
from tests.support.testnet import DAI, LONELY, USDC, WETH, build_market_document, build_testnet_market

__all__ = ["priced_market"]

FOLDER = Path(html_pages.__file__).with_name("html")
SCRIPT = Path(__file__).with_name("browser.mjs")
PAGES = {"quote": quote_page, "docs": docs_page}
BROWSER = "Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
BLOCK_S = 1.0
SOLVE_TIME_S = 2.0
TIMEOUT_S = 270  # more than that of the script, which then ends the browser


@pytest.fixture(params=PAGES)
def page(request: pytest.FixtureRequest) -> StaticPage:
    return PAGES[request.param]()


def test_a_browser_gets_the_form_at_the_root() -> None:
    (answer,) = send_requests(build_app(), [("GET", "/", {"headers": dict([BROWSER])})])
    assert (answer.status_code, answer.headers["content-type"]) == (200, CONTENT_TYPE)
    assert answer.content == quote_page().body
    assert answer.headers["vary"] == "Accept, Accept-Encoding"


@pytest.mark.parametrize("accept", [None, "*/*", "application/json", "application/json, text/html;q=0.5"])
def test_other_clients_find_nothing_at_the_root(accept: str | None) -> None:
    headers = {} if accept is None else {"Accept": accept}
    root, nowhere = send_requests(build_app(), [("GET", path, {"headers": headers}) for path in ("/", "/nowhere")])
    assert (root.status_code, root.json()) == (404, nowhere.json())


def test_the_root_takes_no_other_method() -> None:
    (answer,) = send_requests(build_app(), [("POST", "/", {"headers": dict([BROWSER])})])
    assert answer.status_code == 404


@given(st.text("texhml/*;,q=01. -aplicjson", max_size=60))
@settings(max_examples=200)
def test_any_accept_header_is_read(text: str) -> None:
    assert accepts_html(text) in (True, False)
    assert not accepts_html(text) or "text/html" in text.lower()


def test_the_docs_folder_leads_to_the_docs() -> None:
    redirect, answer = send_requests(build_app(), [("GET", path, {}) for path in ("/docs/", "/docs")])
    assert (redirect.status_code, redirect.headers["location"]) == (308, "../docs")
    assert (answer.status_code, answer.headers["content-type"]) == (200, CONTENT_TYPE)
    assert answer.content == docs_page().body
    assert answer.headers["content-security-policy"] == dict(docs_page().headers)["Content-Security-Policy"]


class ResourceParser(HTMLParser):
    """Collects all addresses of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, _tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.addresses += [value for name, value in attrs if name in ("src", "href", "action", "srcset") and value]


def test_the_pages_need_nothing_from_elsewhere(page: StaticPage) -> None:
    parser, text = ResourceParser(), page.body.decode()
    parser.feed(text)
    assert set(parser.addresses) == {"data:,", "./", "docs", "openapi.json"}
    assert "http://" not in text
    assert "https://" not in text
    assert "@import" not in text
    assert "url(" not in text


def test_the_policy_allows_only_the_script_and_style_of_a_page(page: StaticPage) -> None:
    policy = dict(part.split(" ", 1) for part in dict(page.headers)["Content-Security-Policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["connect-src"] == "'self'"
    assert policy["frame-ancestors"] == "'none'"
    for directive in ("script-src", "style-src"):
        assert re.fullmatch(r"'sha256-[A-Za-z0-9+/]{43}='", policy[directive])


def test_the_pages_make_no_markup_of_text(page: StaticPage) -> None:
    text = page.body.decode()
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function", text)
    assert not re.search(r"<[^>]* on[a-z]+=|<[^>]* style=", text), "what the policy forbids is not there"
    assert not re.search(r"localStorage|sessionStorage|indexedDB|document\.cookie", text)


def run_shared_script(expression: str, document: object) -> Any:
    """Return the value of a JavaScript expression over `shared.js` and `input`, in Node."""
    program = (FOLDER / "shared.js").read_text(encoding="utf-8") + (
        "\nconst input = JSON.parse(require('fs').readFileSync(0, 'utf8'));"
        f"\nprocess.stdout.write(JSON.stringify({expression}));"
    )
    ran = subprocess.run(
        ["node", "-e", program], input=json.dumps(document), text=True, capture_output=True, check=True, timeout=30
    )
    return json.loads(ran.stdout)


def format_exactly(units: int, decimals: int) -> str:
    """Return an amount in whole tokens by integer division only."""
    whole, fraction = divmod(units, 10**decimals)
    digits = str(fraction).zfill(decimals).rstrip("0") if fraction else ""
    return f"{whole:,}" + (f".{digits}" if digits else "")


AMOUNTS = st.tuples(st.integers(1, 2**256 - 1) | st.integers(1, 10**24), st.integers(0, 80))


@given(st.lists(AMOUNTS, min_size=60, max_size=120))
@settings(max_examples=3, deadline=None)
def test_amounts_are_converted_exactly(amounts: list[tuple[int, int]]) -> None:
    texts = [format_exactly(*each) for each in amounts]
    cases = [[str(units), decimals, text] for (units, decimals), text in zip(amounts, texts, strict=True)]
    expression = """input.map(([units, decimals, text]) => [formatAmount(units, decimals),
        String(parseAmount(text, decimals)), String(parseAmount(text.replaceAll(",", ""), decimals))])"""
    expected = [[text, str(units), str(units)] for (units, _), text in zip(amounts, texts, strict=True)]
    assert run_shared_script(expression, cases) == expected


PARTS_OF_AMOUNTS = ("1", "20", "333", ",", "_", ".", "k", "M", "b", "$", "usd", "USD", "%", "all", "0", "000", "e", "-")


def read_by_command(text: str) -> tuple[bool, str] | None:
    """Return whether an amount is in dollars, and its number, as the command reads it; None if it is refused."""
    try:
        written = read_amount(text)
    except InvalidAmount:
        return None
    return None if written.is_balance_part else (written.unit is AmountUnit.USD, written.number)


@given(st.lists(st.lists(st.sampled_from(PARTS_OF_AMOUNTS), min_size=1, max_size=5).map("".join), min_size=300))
@settings(max_examples=3, deadline=None)
def test_the_page_reads_amounts_as_the_command_does(texts: list[str]) -> None:
    known = [
        "2.5k",
        "1,000.5",
        "$1000",
        "1_000",
        ".5",
        "1.",
        "1,5",
        "1.000,5",
        "0.5m",
        "1000usd",
        "$5usd",
        "all",
        "50%",
    ]
    cases = [*known, *texts]
    expression = """input.map(text => { try { const {isUsd, number} = readAmount(text); return [isUsd, number]; }
        catch { return null; } })"""
    answers = run_shared_script(expression, cases)
    assert answers == [None if (read := read_by_command(text)) is None else list(read) for text in cases]


@given(st.lists(st.tuples(st.integers(1, 10**12), st.floats(1e-9, 1e9), st.integers(0, 24)), min_size=100))
@settings(max_examples=3, deadline=None)
def test_dollars_become_the_same_amount_as_in_the_command(cases: list[tuple[int, float, int]]) -> None:
    expression = """input.map(([cents, price, decimals]) => { try {
        return String(parseAmount(`$${cents / 100}`, decimals, price)); } catch { return "0"; } })"""
    expected = []
    for cents, price, decimals in cases:
        numerator, denominator = price.as_integer_ratio()
        expected.append(str(cents * 10**decimals * denominator // (100 * numerator)))
    assert run_shared_script(expression, cases) == expected


def test_invalid_amounts_are_refused_with_a_sentence() -> None:
    texts = ["", "x", "1e3", "-1", "1,5", "1,0000", "0x10", "0", "0.000", "1.1234567", "1..2", ".", "9" * 90, "١"]
    expression = (
        "input.map(text => { try { return String(parseAmount(text, 6)); } catch (error) { return error.message; } })"
    )
    answers = run_shared_script(expression, texts)
    assert [each for each in answers if not re.fullmatch(r"[A-Z][^.]+[^.]*.*\.", each)] == []


def test_slippage_is_percent_or_basis_points_rounded_down() -> None:
    texts = ["0.5", "30", "30%", "30bps", "30 BPS", "0.30000000000000004", "0.00001", "1000"]
    expected = ["0.5", "30", "30", "0.3", "0.3", "0.3", "0", "1000"]
    assert run_shared_script("input.map(parseSlippage)", texts) == expected


def test_the_page_asks_for_consent_above_the_setting() -> None:
    assert b'data-max-slippage="20"' in quote_page().body
    assert b'data-max-slippage="7.5"' in quote_page(75_000).body
    assert b'data-max-impact="15"' in quote_page().body
    assert b'data-max-impact="12.5"' in quote_page(75_000, 125_000).body


def test_characters_that_reorder_or_hide_text_are_replaced() -> None:
    texts = ["\u202eCDSU", "U\u200bSDC", "a\nb\u0007", "\u2028", "\ue000", "שקל", "Téther 💵"]
    assert run_shared_script("input.map(printable)", texts) == ["?CDSU", "U?SDC", "a?b?", "?", "?", "שקל", "Téther 💵"]


def test_json_on_a_page_escapes_such_characters() -> None:
    values = [{"name": "\u202eCDSU\u2066", "symbol": "\U000e0001\u061c"}, ["a\nb", "שקל", "Téther 💵"], "\u2028"]
    texts = run_shared_script("input.map(jsonText)", values)
    assert [json.loads(text) for text in texts] == values
    assert all(line.isprintable() for text in texts for line in text.split("\n"))
    assert "\\u202eCDSU\\u2066" in texts[0]
    assert "שקל" in texts[1]


HOSTILE_TOKENS = {
    WETH: ("<img src=x onerror=attack()>", '"><script>attack()</script>', 18),
    USDC: ("שקל<b>USDC</b>", "{{7*7}}</textarea><svg onload=attack()>", 6),
    DAI: ("&lt;b&gt;" * 20, "javascript:attack()", 18),
    LONELY: ("$&", "__proto__\u202e", 8),
}


def hostile_registry() -> MarketRegistry:
    """Return a registry with a market whose tokens have the names of attacks."""
    tokens = [
        {"address": address, "symbol": symbol, "name": name, "decimals": decimals}
        for address, (symbol, name, decimals) in HOSTILE_TOKENS.items()
    ]
    pools = [pool for pool in build_market_document()["pools"] if set(pool["tokens"]) <= set(HOSTILE_TOKENS)]
    market = build_testnet_market(tokens=tokens, pools=pools)
    return MarketRegistry(
        [market.network], {"testnet": lambda: market}, SYSTEM_CLOCK, price_request=PriceRequest.OFFLINE
    )


def recorded_registry() -> MarketRegistry:
    """Return a registry of the embedded markets as if their prices were recorded: transactions need real ones."""

    def open_recorded(name: str) -> MarketState:
        return embedded_market(name)._replace(provenance=Provenance.RECORDED)

    networks = [find_network(name) for name in network_names()]
    rules = ServiceRules(values={"solve_time_s": SOLVE_TIME_S})
    return MarketRegistry(networks, {each.name: partial(open_recorded, each.name) for each in networks}, rules=rules)


def find_chromium() -> str:
    """Return the path of Chromium. Raises `AssertionError` if it is not installed."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert path, "Chromium is not installed, and the tests of the pages need it: apt-get install chromium"
    return path


@contextmanager
def judged_service(market: MarketState, node_url: str) -> Iterator[dict[str, str]]:
    """Serve one market with a node as three networks: "priced" has feeds whose prices are far from its own, "plain" has
    none, and "lost" has no router where it should be."""
    priced = market.network._replace(name="priced")
    plain = priced._replace(name="plain", price_feeds={})
    lost = plain._replace(name="lost", router="0x" + "99" * 20)
    registry = MarketRegistry(
        [priced, plain, lost], {}, followed=["priced", "plain", "lost"], price_request=PriceRequest.OFFLINE
    )
    with ExitStack() as stack:
        nodes = {}
        for network in (priced, plain, lost):
            registry.set_source(InMemorySource(market._replace(network=network), SYSTEM_CLOCK))
            node = RpcNode([RpcEndpoint(node_url, "a node")], CHAIN_ID, NodePolicy(timeout_s=20))
            nodes[network.name] = node
            stack.callback(node.close)
        url = stack.enter_context(serve_app(create_app(registry, ServiceSettings(), nodes=nodes)))
        dollar, bought = (
            next(each.address for each in market.tokens.values() if each.symbol == symbol)
            for symbol in ("USDC", "WBTC")
        )
        yield {"url": url, "dollar": dollar, "bought": bought, "node": node_url, "user": USER}


@contextmanager
def live_service(settings: ServiceSettings) -> Iterator[dict[str, str]]:
    """Serve a market with a block every second, each of which changes its quotes."""
    ended = Event()
    with serving(settings) as service:

        def mine() -> None:
            while not ended.wait(BLOCK_S):
                service.mine(stride=1 + service.block % 2)

        thread = Thread(target=mine)
        thread.start()
        try:
            yield {"url": service.url, "dollar": USDC}
        finally:
            ended.set()
            thread.join()


def orders_of_the_command() -> dict[str, str]:
    """Return what the command says of two orders, for comparison with the page: both read the same market."""
    dollars = run_swapcli("route", "base", "ETH", "USDC", "$1000", "--offline", "--json").json
    words = ("base", "USDC", "WETH", "5000000", "--offline")
    received = int(run_swapcli("route", *words, "--json").json["outputAmount"])
    cast = run_swapcli("calldata", *words, "--slippage", "0.5", "--destination", "0x" + "11" * 20, "--format", "cast")
    return {
        "dollars": f"{format_exactly(int(dollars['inputAmount']), 18)} ETH",
        "received": str(received),
        "cast": cast.stdout.strip(),
    }


@pytest.mark.parametrize("is_full", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["quick", "full"])
def test_the_pages_work_in_chromium(
    is_full: bool, service_url: str, request: pytest.FixtureRequest, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    """Run all checks, or the quick ones, in one browser, since starting it costs more than most of them."""
    setup: dict[str, Any] = {"browser": find_chromium(), "profile": str(tmp_path / "profile")}
    setup["modelledUrl"] = service_url
    setup |= {"isFull": is_full, "orders": orders_of_the_command()}
    with ExitStack() as stack:
        setup["url"] = stack.enter_context(serve_app(build_app(recorded_registry())))
        setup["live"] = stack.enter_context(live_service(ServiceSettings()))
        setup["refused"] = stack.enter_context(live_service(ServiceSettings(streams=0, limit_loopback=True)))
        if is_full:
            keys = KeyStore(tmp_path / "keys.json", networks=("base",))
            key = keys.create("page").key
            keyed = build_app(recorded_registry(), ServiceSettings(require_keys=True), keys=keys)
            setup["keyed"] = {"url": stack.enter_context(serve_app(keyed)), "key": key}
            setup["hostileUrl"] = stack.enter_context(serve_app(create_app(hostile_registry(), ServiceSettings())))
            market, node_url = request.getfixturevalue("priced_market")
            setup["judged"] = stack.enter_context(judged_service(market, node_url))
        ran = subprocess.run(
            ["node", str(SCRIPT), json.dumps(setup)], text=True, capture_output=True, check=False, timeout=TIMEOUT_S
        )
    results = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
    for result in results:
        with subtests.test(result["check"]):
            assert result["failure"] is None, result["failure"]
    assert ran.returncode == 0, ran.stderr
    kinds = "check|quickCheck" if is_full else "quickCheck"
    declared = re.findall(rf'^(?:{kinds})\("([^"]+)"', SCRIPT.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(each["check"] for each in results) == sorted(declared)
    assert len(declared) >= (20 if is_full else 7)
