"""Wrong arguments: every public call of the library rejects them with a plain message, as a table of its calls."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import swapcli
from swapcli import AsyncMarket, InvalidInput, InvalidOption, Market, SwapcliError, SwapQuote
from tests.examples import but_slow

ME = "0x" + "11" * 20
HASH = "0x" + "22" * 32
URL = "http://127.0.0.1:9"
PAIR: Mapping[str, Any] = {"token_in": "ETH", "token_out": "USDC"}
TERMS: Mapping[str, Any] = {
    "destination": ME, "slippage": "0.5", "deadline": "20m", "max_impact": "5", "max_slippage": "5",
    "allow_recipient": ME, "sender": ME, "simulate": True, "allow_fees": True, "signature": "0x11", "handoff": "safe",
}  # fmt: skip
OPTIONS: Mapping[str, Any] = {
    "slippage": "0.5", "max_hops": 3, "direct": True, "exclude_protocols": (), "only_protocols": ("uniswapV3",),
    "extended_protocols": True, "shares": "fine", "gas_price": "0.01gwei", "solve_time_s": 1.0, "certify": False,
    "proof": False, "max_pools": 4, "simple": False, "api_version": "v2",
}  # fmt: skip
OPENING: Mapping[str, Any] = {"settings": {}, "warn": print, "reuse_searches": False}
NETWORK: Mapping[str, Any] = {"network": "base", "settings": {}}
ROUTE = object()
"""Stands for the document of the quote."""
QUOTE = object()
"""Stands for the quote."""

MARKET: Mapping[str, Mapping[str, Any]] = {
    "open": {"network": "base", "offline": True, "block": "latest", **OPENING},
    "embedded": {"network": "base", **OPENING},
    "from_file": {"path": "market.json", "skip_bad_pools": False, **OPENING},
    "store": {"network": "base", "folder": "folder", **OPENING},
    "live": {"network": "base", "rpc_url": URL, "block": "latest", **OPENING},
    "service": {"network": "base", "api_url": URL, "settings": {}, "warn": print},
    "token": {"name": "ETH"},
    "quote": {**PAIR, "amount": "1.5", **OPTIONS},
    "watch": {**PAIR, "amount": "1.5", "every_s": 1.0, "on_failure": print},
    "depth": {**PAIR, "amounts": ["1"]},
    "plan": {
        **PAIR, "amount": "500", "over": "4h", "parts": 4, "max_impact": "5", "risk": "none", "start": "1h",
        "band": "2",
    },
    "build_part": {"path": "plan.json", **TERMS},
    "compare": {**PAIR, "amount": "2", "aggregators": (), "sender": None},
    "pool_list": {"*": ["ETH"], "limit": 3},
    "pool_rows": {"*": ["ETH"], "limit": 3},
    "prices": {"*": ["ETH"], "unit": "USDC"},
    "balance": {"owner": ME},
    "allowance": {"owner": ME, "token": "USDC", "spender": ME},
    "quote_many": {"orders": [("ETH", "USDC", "1")], "executor": None, "answered": ()},
    "verify": {"transaction": HASH},
    "verify_recent": {"count": 1, "protocols": ["uniswapV3"], "max_requests": 2, "max_duration_s": 1.0},
    "record": {"transaction": HASH},
    "record_recent": {"count": 1, "pool": ME, "protocols": ["uniswapV3"], "max_requests": 2},
    "hindsight": {"transactions": [HASH], "use_cache": False},
    "backtest": {"orders": [("ETH", "USDC", "1")], "blocks": [1], "use_cache": False},
    "transactions": {"quote": QUOTE, **TERMS},
    "transaction": {"quote": QUOTE, "destination": ME},
    "prepare": {"quote": QUOTE, "destination": ME, "deadline": "20m", "handoff": "safe"},
    "permit": {"quote": QUOTE, "owner": ME, "deadline": "20m"},
    "check": {"quote": QUOTE, "destination": ME},
    "execute": {"route": ROUTE, "destination": ME},
    "health": {},
    "refresh": {},
}  # fmt: skip
QUOTES: Mapping[str, Mapping[str, Any]] = {
    "transaction": {"destination": ME},
    "transactions": {"destination": ME},
    "prepare": {"destination": ME},
    "permit": {"owner": ME, "deadline": "20m"},
    "svg": {"width": 720},
    "write_proof": {"path": "proof.json"},
    "proof": {},
    "mermaid": {},
    "document": {},
    "to_dict": {},
    "to_json": {},
    "advised_slippage": {},
}
FUNCTIONS: Mapping[str, Mapping[str, Any]] = {
    "add_network": {"source": "network.json", "replace": False, "rpc_url": URL, "settings": {}},
    "check_network": {"network": "base", "rpc_url": URL},
    "check_proof": {"proof": "{}", "recompute": False},
    "decode": {
        "payload": "0x06fdde03", "network": "base", "to": ME, "value": 0, "sender": ME, "destination": ME,
        "slippage": "0.5", "offline": True, "settings": {}, "warn": print,
    },
    "export_market": {**NETWORK, "file": "market.json"},
    "family": {"name": "constant_product"},
    "health": {"*": ["base"], "offline": True, "retries": 0, "settings": {}},
    "import_market": {"file": "market.json", **NETWORK},
    "mark_part_done": {"path": "plan.json"},
    "network_definition": NETWORK,
    "network_details": NETWORK,
    "networks": {"everything": False, "settings": {}},
    "probe_nodes": {"network": "base"},
    "protocols": NETWORK,
    "prove": {"network": "nowhere", "folder": "folder", "orders": 1, "recent": 1, "settings": {}},
    "public_venues": NETWORK,
    "quote": {"network": "base", **PAIR, "amount": "1.5"},
    "remove_network": {"network": "nowhere", "confirm": print, "settings": {}},
    "remove_store": {**NETWORK, "confirm": print},
    "router_deployment": NETWORK,
    "schema": {"name": "price"},
    "setting": {"key": "slippage", "settings": {}},
    "settings": {"changed": False, "settings": {}},
    "store_info": NETWORK,
    "stores": {"settings": {}},
    "sync": {"network": "nowhere", "tokens": ["ETH"], "protocols": ["uniswapV3"], "min_liquidity": "1"},
    "tokens": {**NETWORK, "pattern": "USD"},
}  # fmt: skip

WRONG: tuple[object, ...] = (None, 7, 1.5, "", "nonsense", b"x", object(), [], {}, [None], {"a": None})
PROPERTIES_OF_ASYNC = {"network", "state", "pools", "tokens"}
CLOSING = {"close", "pinned"}
"""Methods without arguments that this table does not call, because they change the market of the other rows."""


@pytest.fixture(scope="module")
def market() -> Iterator[Market]:
    with Market.embedded("base", settings={"live": "never"}) as opened:
        yield opened


@pytest.fixture(scope="module")
def found(market: Market) -> SwapQuote:
    return market.quote("USDC", "ETH", "1500")


@pytest.fixture(autouse=True)
def user_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("SWAPCLI_LIVE", "never")
    monkeypatch.chdir(tmp_path)


def wrong_calls(arguments: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the arguments without each of them, with wrong values of each, and with one that no call has."""
    for name in arguments:
        yield {each: value for each, value in arguments.items() if each != name}
        for wrong in WRONG:
            yield {**arguments, name: [wrong] if name == "*" else wrong}
    yield {**arguments, "nonsense": 1}


def check_rejections(call: Callable[..., object], arguments: Mapping[str, Any], found: SwapQuote) -> None:
    """Call with wrong arguments: each call succeeds, or its error is one of swapcli or names the argument."""
    stands_for = {id(QUOTE): found, id(ROUTE): found.to_dict()}
    problems = []
    for wrong in wrong_calls(arguments):
        keywords: dict[str, Any] = {name: stands_for.get(id(value), value) for name, value in wrong.items()}
        try:
            returned = call(*keywords.pop("*", ()), **keywords)
            if isinstance(returned, Iterator):
                next(returned, None)
        except (SwapcliError, TypeError) as error:
            is_plain = "NoneType" not in str(error) if isinstance(error, SwapcliError) else "argument" in str(error)
            if not is_plain:
                problems.append((wrong, error))
    assert not problems


@pytest.mark.parametrize("name", but_slow(MARKET, "depth", "plan"))
def test_a_market_rejects_wrong_arguments(market: Market, found: SwapQuote, name: str) -> None:
    check_rejections(getattr(market, name), MARKET[name], found)


@pytest.mark.parametrize("name", QUOTES)
def test_a_quote_rejects_wrong_arguments(found: SwapQuote, name: str) -> None:
    check_rejections(getattr(found, name), QUOTES[name], found)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_reject_wrong_arguments(found: SwapQuote, name: str) -> None:
    check_rejections(getattr(swapcli, name), FUNCTIONS[name], found)


def public_methods(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_") and callable(getattr(kind, name))}


def test_the_table_has_every_public_call(market: Market) -> None:
    methods = {name for name in dir(market) if callable(inspect.getattr_static(market, name, None))}
    opening = {name for name, each in vars(Market).items() if isinstance(each, classmethod)}
    assert {name for name in methods | opening if not name.startswith("_")} == MARKET.keys() | CLOSING
    assert public_methods(AsyncMarket) == MARKET.keys() | PROPERTIES_OF_ASYNC | CLOSING
    assert public_methods(SwapQuote) == QUOTES.keys()
    functions = {name for name in swapcli.__all__ if inspect.isfunction(getattr(swapcli, name))}
    assert functions - {"aquote"} == FUNCTIONS.keys()


@pytest.mark.parametrize("method", ["transaction", "transactions", "prepare", "check"])
@pytest.mark.parametrize("terms", [{}, {"destination": None}])
def test_a_transaction_needs_a_recipient(market: Market, found: SwapQuote, method: str, terms: dict[str, Any]) -> None:
    with pytest.raises(InvalidOption) as raised:
        getattr(market, method)(found, **terms)
    assert (raised.value.message, raised.value.hint) == (
        "a transaction needs a recipient",
        'add destination="0x..."',
    )


def test_an_earlier_route_needs_a_recipient(market: Market) -> None:
    with pytest.raises(InvalidOption, match="a transaction needs a recipient"):
        market.execute(market.quote("ETH", "USDC", "1").to_dict())  # type: ignore[call-arg]


def test_a_part_of_a_plan_needs_a_recipient(market: Market) -> None:
    market.plan("ETH", "USDC", "500", over="4h", parts=2).write("plan.json")
    with pytest.raises(InvalidOption, match="a transaction needs a recipient"):
        market.build_part("plan.json")  # type: ignore[call-arg]


def test_a_misspelt_keyword_of_a_transaction_is_no_silent_default(found: SwapQuote) -> None:
    with pytest.raises(TypeError, match="a transaction got an unexpected keyword argument 'simulte'"):
        found.transaction(destination=ME, simulte=True)  # type: ignore[call-arg]


def test_an_error_names_the_argument_and_the_value(market: Market) -> None:
    with pytest.raises(InvalidInput) as raised:
        market.pool_list("ETH", limit="x")  # type: ignore[arg-type]
    assert raised.value.message == "limit must be an integer or None, not 'x'"
    with pytest.raises(InvalidInput) as raised:
        swapcli.health(None)  # type: ignore[arg-type]
    assert raised.value.message == "networks must be a string, not None"
    with pytest.raises(InvalidInput) as raised:
        market.verify_recent(protocols=[7])  # type: ignore[list-item]
    assert raised.value.message == "protocols must be a list of strings or None, not [7]"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda market: market.depth("ETH", "USDC", "12"), "amounts must be a list, not '12'"),
        (lambda market: market.depth("ETH", "USDC", b"12"), "amounts must be a list, not b'12'"),
        (lambda market: [*market.quote_many("ETH")], "orders must be a list, not 'ETH'"),
        (lambda market: [*market.quote_many([], answered="12")], "answered must be a list, not '12'"),
        (lambda market: market.backtest("12", [1]), "orders must be a list, not '12'"),
        (lambda market: market.backtest([("ETH", "USDC", "1")], "12"), "blocks must be a list, not '12'"),
        (lambda market: market.backtest([("ETH", "USDC", "1")], []), "blocks: there is none"),
        (lambda market: market.backtest([("ETH", "USDC", "1")], ["19"]), 'blocks: expected block numbers, not "19"'),
        (lambda market: market.backtest([("ETH", "USDC", "1")], [-1]), "blocks: expected block numbers, not -1"),
        (lambda market: market.backtest([("ETH", "USDC", "1")], [True]), "blocks: expected block numbers, not true"),
        (lambda market: market.backtest([("ETH", "USDC", "1")], (20, 19)), "blocks: block 19 comes after 20"),
        (lambda market: market.backtest([("ETH", "USDC", "1")], (19, 19)), "blocks: block 19 is given twice"),
        (lambda market: market.hindsight("0x12"), "transactions must be a list of strings, not '0x12'"),
        (
            lambda market: market.verify_recent(protocols="uniswapV3"),
            "protocols must be a list of strings or None, not 'uniswapV3'",
        ),
        (
            lambda market: market.record_recent(protocols="uniswapV3"),
            "protocols must be a list of strings or None, not 'uniswapV3'",
        ),
        (
            lambda _: swapcli.sync("base", tokens="ETH", settings={}),
            "tokens must be a list of strings or None, not 'ETH'",
        ),
        (
            lambda _: swapcli.sync("base", protocols="uniswapV3", settings={}),
            "protocols must be a list of strings or None, not 'uniswapV3'",
        ),
    ],
)
def test_a_text_is_not_a_list_of_its_characters(market: Market, call: Callable[[Any], object], message: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        call(market)
    assert raised.value.message == message


@pytest.mark.parametrize("wrong", [[f"{URL}/SECRET"], f"{URL}/SECRET".encode(), {"url": f"{URL}/SECRET"}])
@pytest.mark.parametrize(
    "call",
    [
        lambda wrong: Market.live("base", rpc_url=wrong),
        lambda wrong: Market.service("base", api_url=wrong),
        lambda wrong: swapcli.add_network("network.json", rpc_url=wrong),
        lambda wrong: swapcli.check_network("base", rpc_url=wrong),
        lambda wrong: swapcli.prove("base", rpc_url=wrong),
    ],
)
def test_an_error_does_not_show_a_url_which_may_contain_a_key(call: Callable[[Any], object], wrong: object) -> None:
    with pytest.raises(InvalidInput, match="_url must be a string") as raised:
        call(wrong)
    assert "SECRET" not in str(raised.value) + str(raised.value.details)


def test_files_may_be_paths(market: Market, tmp_path: Path) -> None:
    """As in `Market.from_file` and `Market.store`."""
    exported = swapcli.export_market("base", tmp_path / "market.json", settings={})
    assert exported.file == str(tmp_path / "market.json")
    assert swapcli.import_market(tmp_path / "market.json", settings={"store_dir": str(tmp_path)}).summary.pools
    quote = market.quote("ETH", "USDC", "1", certify=True, proof=True).write_proof(tmp_path / "proof.json")
    assert swapcli.check_proof((tmp_path / "proof.json").read_bytes())
    assert quote.figures.proof_file == str(tmp_path / "proof.json")
    market.compare("ETH", "USDC", "1", certify=True, proof=True).write_proof(tmp_path / "proofs.json")
    market.plan("ETH", "USDC", "500", over="4h", parts=2).write(tmp_path / "plan.json")
    with pytest.raises(InvalidInput, match="no part"):
        swapcli.mark_part_done(tmp_path / "plan.json")
    with pytest.raises(InvalidOption, match="a transaction needs a recipient"):
        market.build_part(tmp_path / "plan.json")  # type: ignore[call-arg]
    (tmp_path / "network.json").write_text("{}")
    with pytest.raises(SwapcliError, match=r"network\.json"):
        swapcli.add_network(tmp_path / "network.json", settings={})


def test_asyncio_programs_get_the_same_errors() -> None:
    async def use() -> None:
        async with AsyncMarket.embedded("base", settings={"live": "never"}) as market:
            found = await market.quote("ETH", "USDC", "1.5")
            with pytest.raises(InvalidOption, match="a transaction needs a recipient"):
                await market.transaction(found)  # type: ignore[call-arg]
            with pytest.raises(InvalidInput, match="quote must be a SwapQuote, not None"):
                await market.prepare(None, destination=ME)  # type: ignore[arg-type]
        with pytest.raises(InvalidInput, match="network must be a string, not None"):
            await swapcli.aquote(None, "ETH", "USDC", "1.5")  # type: ignore[arg-type]

    asyncio.run(use())
