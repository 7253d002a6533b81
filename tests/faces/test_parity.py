"""Programs can do all that commands do: results of the library give the documents that commands print.

A row for each command that prints a document: its words, and the call whose result has the same document.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Literal

import pytest

import swapcli
from swapcli import Market
from swapcli.faces.cli import exit_codes
from swapcli.interface.document_types import DOCUMENTS
from swapcli.interface.result import Result
from tests.chain.settings import describe_network, url_of, write_settings
from tests.chain.small_chain import SmallTestChain
from tests.chain.test_checks_commands import POOR, Client
from tests.chain.trader import USER, Trader
from tests.examples import but_slow, few
from tests.faces.cli.commands.sync.scene import started
from tests.quoting.verification.test_hindsight import announce_swaps, trades
from tests.support.command import clean_environment, run_swapcli

PASSING_FIELDS: Final = {
    "timeS", "ageS", "timestamp", "expiresAt", "time", "deadline", "latencyS", "blockAgeS", "seconds", "poolsPerSecond",
    "problem", "checkedAt", "createdAt", "startsAt", "endsAt", "builtAt", "payloadEndsAt", "nextAt", "doneAt",
    "t0", "digest",
}  # fmt: skip
"""Fields that count from the moment of the quote, or its duration."""


def on_base(ask: Callable[[Market], Result]) -> Callable[[], Result]:
    """Return a call on the embedded market of Base."""

    def call() -> Result:
        with Market.open("base", offline=True) as market:
            return ask(market)

    return call


CALLS: Final[Mapping[str, Callable[[], Result]]] = {
    "price base ETH cbBTC --offline": on_base(lambda market: market.prices("ETH", "cbBTC")),
    "compare base ETH USDC 25 --offline": on_base(lambda market: market.compare("ETH", "USDC", "25")),
    "depth base ETH USDC --amounts 1,2k --offline": on_base(lambda market: market.depth("ETH", "USDC", ["1", "2k"])),
    "plan base ETH USDC 500 --over 4h --parts 3 --risk low --offline": on_base(
        lambda market: market.plan("ETH", "USDC", "500", over="4h", parts=3, risk="low")
    ),
    "route base ETH USDC 1.5 --offline": on_base(lambda market: market.quote("ETH", "USDC", "1.5")),
    "price base AERO --in USDC --offline": on_base(lambda market: market.prices("AERO", unit="USDC")),
    "pools base ETH USDC --offline": on_base(lambda market: market.pool_list("ETH", "USDC", limit=20)),
    "networks": swapcli.networks,
    "networks --all": lambda: swapcli.networks(everything=True),
    "networks show base": lambda: swapcli.network_details("base"),
    "networks ethereum": lambda: swapcli.network_details("ethereum"),
    "networks base --file": lambda: swapcli.network_definition("base"),
    "tokens base usd": lambda: swapcli.tokens("base", "usd"),
    "protocols base": lambda: swapcli.protocols("base"),
    "protocols base --missing": lambda: swapcli.public_venues("base"),
    "health base monad --offline": lambda: swapcli.health("base", "monad", offline=True),
    "config show": swapcli.settings,
    "config show --changed": lambda: swapcli.settings(changed=True),
    "config get slippage": lambda: swapcli.setting("slippage"),
    "router deploy-payload base": lambda: swapcli.router_deployment("base"),
    "schema route": lambda: swapcli.schema("route"),
    "schema market-info": lambda: swapcli.schema("market-info"),
}


STORE_CALLS: Final[Mapping[str, Callable[[str], Result]]] = {
    "market info --store {folder}": lambda folder: swapcli.stores(settings={"store_dir": folder}),
    "market info monad --store {folder}": lambda folder: swapcli.store_info("monad", settings={"store_dir": folder}),
    "market import {folder}/monad.json --replace --store {folder}": lambda folder: swapcli.import_market(
        f"{folder}/monad.json", replace=True, settings={"store_dir": folder}
    ),
    "market export monad {folder}/monad.json --store {folder}": lambda folder: swapcli.export_market(
        "monad", f"{folder}/monad.json", settings={"store_dir": folder}
    ),
    "market remove monad --yes --store {folder}": lambda folder: swapcli.remove_store(
        "monad", settings={"store_dir": folder}
    ),
    "keys list --keys-file {folder}/keys.json": lambda folder: swapcli.KeyStore(Path(folder, "keys.json")).list(),
    "keys change Ada --limit 5k/min --keys-file {folder}/keys.json": lambda folder: swapcli.KeyStore(
        Path(folder, "keys.json")
    ).change("Ada", limit="5k/min"),
    "keys usage --keys-file {folder}/keys.json": lambda folder: swapcli.KeyStore(Path(folder, "keys.json")).usage(),
    "keys revoke Ada --keys-file {folder}/keys.json": lambda folder: swapcli.KeyStore(Path(folder, "keys.json")).revoke(
        "Ada"
    ),
}
"""Commands about the stores and keys in a folder."""

FOLDER_CALLS: Final[Mapping[str, Callable[[str], Result]]] = {
    "networks add ethereum --replace": lambda _: swapcli.add_network("ethereum", replace=True),
    "networks add {folder}/mine.yaml --replace": lambda folder: swapcli.add_network(
        f"{folder}/mine.yaml", replace=True
    ),
    "networks remove ethereum --yes": lambda _: swapcli.remove_network("ethereum"),
}
"""Commands that write network files."""

ME: Final = "0x" + "1" * 40
USDC: Final = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
ACCOUNT: Final = "0x" + "0" + "1" * 63
"""An account of Starknet."""
APPROVAL: Final = "0x095ea7b3" + "00" * 12 + "22" * 20 + "f" * 64
PERMIT: Final = json.dumps(
    {
        "types": {
            "Permit": [
                {"name": "owner", "type": "address"},
                {"name": "spender", "type": "address"},
                {"name": "value", "type": "uint256"},
                {"name": "nonce", "type": "uint256"},
                {"name": "deadline", "type": "uint256"},
            ]
        },
        "primaryType": "Permit",
        "domain": {"name": "USDC", "version": "2", "chainId": "8453", "verifyingContract": USDC},
        "message": {"owner": ME, "spender": "0x" + "22" * 20, "value": "5", "nonce": "0", "deadline": "1900000000"},
    },
    separators=(",", ":"),
)


def swaps(network: str, order: tuple[str, str, str], to: str = ME, **options: Any) -> Callable[[], Result]:
    """Return a call for the transactions of an order."""

    def call() -> Result:
        with Market.open(network, offline=True) as market:
            return market.quote(*order, **options).prepare(destination=to)

    return call


SWAPS: Final[Mapping[str, Callable[[], Result]]] = {
    f"calldata base ETH USDC 1 --offline --destination {ME}": swaps("base", ("ETH", "USDC", "1")),
    f"calldata base USDC ETH 25 --with-approval --offline --destination {ME}": swaps("base", ("USDC", "ETH", "25")),
    f"calldata base ETH USDC 1 --api-version v1 --offline --destination {ME}": swaps(
        "base", ("ETH", "USDC", "1"), api_version="v1"
    ),
    f"calldata starknet ETH USDC 1 --offline --destination {ACCOUNT}": swaps("starknet", ("ETH", "USDC", "1"), ACCOUNT),
    f"decode {APPROVAL} --network base --to {USDC} --offline": lambda: swapcli.decode(
        APPROVAL, network="base", to=USDC, offline=True
    ),
    f"decode {APPROVAL} --offline": lambda: swapcli.decode(APPROVAL, offline=True),
    f"decode {PERMIT} --from {ME} --offline": lambda: swapcli.decode(PERMIT, sender=ME, offline=True),
}
"""Commands about transactions."""


@pytest.mark.parametrize("words", SWAPS)
def test_transactions_and_payloads_have_the_documents_of_their_commands(words: str) -> None:
    ran = run_swapcli(*words.split(), "--json")
    assert ran.exit_code in (exit_codes.OK, exit_codes.UNSAFE), ran.stderr
    document = json.loads(json.dumps(SWAPS[words]().document()))
    assert lasting(document) == lasting(ran.json)


@pytest.mark.parametrize(
    ("network", "token_out", "api_version", "to"),
    [("base", "USDC", "v2", ME), ("base", "USDC", "v1", ME), ("starknet", "USDC", "v1", ACCOUNT)],
)
def test_routes_and_swaps_pass_from_the_library_to_commands(
    network: str, token_out: str, api_version: Literal["v1", "v2"], to: str
) -> None:
    with Market.open(network, offline=True) as market:
        quote = market.quote("ETH", token_out, "1", api_version=api_version)
        route = quote.to_json()
        executed = market.execute(json.loads(route), destination=to)
        swap = json.dumps(quote.prepare(destination=to).document())
    found = run_swapcli("execute", "-", "--offline", "--destination", to, "--json", stdin=route.encode())
    assert lasting(json.loads(json.dumps(executed.document()))) == lasting(found.json)
    decoded = run_swapcli("decode", "-", "--from", to, "--offline", "--json", stdin=swap.encode())
    document = swapcli.decode(swap, sender=to, offline=True).document()
    assert lasting(json.loads(json.dumps(document))) == lasting(decoded.json)


def test_a_check_has_the_figures_and_warnings_of_calldata() -> None:
    printed = run_swapcli("calldata", "base", "ETH", "USDC", "1", "--offline", "--destination", ME, "--json").json
    with Market.open("base", offline=True) as market:
        check = market.check(market.quote("ETH", "USDC", "1"), destination=ME)
    document = json.loads(json.dumps(check.document()))
    assert not check.is_blocked
    assert "verdict" not in document
    quote = document.pop("quote")
    state = {name: value for name, value in printed["state"].items() if value not in (None, [], "")}
    assert lasting(document) == lasting({"network": "base", "warnings": printed["warnings"], "state": state})
    assert quote == {name: {**printed["route"], **printed}[name] for name in quote}


NODE_CALLS: Final[Mapping[str, Callable[[Market], Result]]] = {
    f"balance {{network}} {USER} ETH USDC": lambda market: market.balance(USER, "ETH", "USDC"),
    f"balance {{network}} {USER}": lambda market: market.balance(USER),
    f"allowance {{network}} {USER} USDC": lambda market: market.allowance(USER, "USDC"),
    f"allowance {{network}} {USER} USDC {POOR}": lambda market: market.allowance(USER, "USDC", POOR),
    f"calldata {{network}} USDC ETH 5 --destination {USER} --from {USER} --simulate --with-approval": lambda market: (
        market.quote("USDC", "ETH", "5").prepare(destination=USER, sender=USER, simulate=True)
    ),
    f"calldata {{network}} ETH USDC 0.1 --destination {USER}": lambda market: market.quote(
        "ETH", "USDC", "0.1"
    ).prepare(destination=USER),
}
"""Commands about accounts, on the network of a node."""


PAST_CALLS: Final[Mapping[str, Callable[[Market, str, range], Result]]] = {
    "verify {network} {mined}": lambda market, mined, _: market.verify(mined),
    "verify {network} --recent 2": lambda market, *_: market.verify_recent(2),
    "record {network} {mined}": lambda market, mined, _: market.record(mined),
    "record {network} --recent 2": lambda market, *_: market.record_recent(2),
    "hindsight {network} {mined}": lambda market, mined, _: market.hindsight([mined]),
    "backtest {network} {orders} --blocks {first}..{last}": lambda market, _, blocks: market.backtest(
        [("ETH", "USDC", "1.5")], blocks
    ),
}
"""Commands about the past of a network: a mined transaction, or the blocks around it."""

OTHER_TESTS: Final = {
    "execute": "test_routes_and_swaps_pass_from_the_library_to_commands",
    "keys-create": "test_a_new_key_has_the_document_of_its_command",
    "route-batch": "test_a_line_of_a_batch_has_the_document_of_a_quote",
    "route-watch": "test_a_line_of_a_watch_has_the_document_of_a_watched_quote",
    "backtest-results": "test_the_past_has_the_documents_of_its_commands",
    "plan-next": "test_the_due_part_of_a_plan_has_the_document_of_its_command",
    "proof": "test_a_written_proof_is_that_of_the_quote",
    "networks-check": "test_the_check_of_a_network_has_the_document_of_its_command",
    "sync": "test_a_sync_has_the_document_of_its_command",
    "prove": "test_a_proof_has_the_document_of_its_command",
}
"""The tests of documents without a row, since more than words and a call are needed."""
WITHOUT_CALL: Final = {
    "sync-watch": "its lines are documents of `sync` and of steps of the process that keeps a store",
    "serve": "the service tells those that started it where it is",
    "schema": "the list names the documents of commands and tools; `swapcli.schema` has those of the library",
    "error": "programs get exceptions",
}
"""Documents that no call of the library returns, and why."""


def test_every_document_has_a_row_or_a_reason() -> None:
    rows = {*CALLS, *STORE_CALLS, *FOLDER_CALLS, *SWAPS, *NODE_CALLS, *PAST_CALLS}
    tested = {name for name in DOCUMENTS for words in rows if is_of(name, words)} | OTHER_TESTS.keys()
    missing = DOCUMENTS.keys() - tested - WITHOUT_CALL.keys()
    assert not missing, f"add a row to this module with the library call that returns the document of {missing}"
    assert {*OTHER_TESTS.values()} <= globals().keys()


def is_of(document: str, words: str) -> bool:
    """Return whether a command line prints a document, which is named after its command."""
    return f"{words} ".startswith(document.replace("-", " ", 1) + " ")


@pytest.fixture(autouse=True)
def user_without_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the library the environment that `run_swapcli` gives commands."""
    for name in set(os.environ) - clean_environment().keys():
        monkeypatch.delenv(name)
    for name, value in clean_environment().items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a store, a market file and a key."""
    make_store(tmp_path)
    swapcli.KeyStore(tmp_path / "keys.json").create("Ada")
    return tmp_path


def make_store(folder: Path) -> None:
    file = folder / "monad.json"
    swapcli.export_market("monad", str(file))
    swapcli.import_market(str(file), replace=True, settings={"store_dir": str(folder)})


@pytest.mark.parametrize("words", STORE_CALLS)
def test_stores_and_keys_have_the_documents_of_their_commands(words: str, folder: Path) -> None:
    ran = run_swapcli(*words.format(folder=folder).split(), "--json")
    assert ran.exit_code == 0, ran.stderr
    make_store(folder)  # again, for the command that removes it
    document = json.loads(json.dumps(STORE_CALLS[words](str(folder)).document()))
    assert lasting(document) == lasting(ran.json)


@pytest.mark.parametrize("words", FOLDER_CALLS)
def test_network_files_have_the_documents_of_their_commands(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = tmp_path / "settings.yaml"
    settings.touch()
    (tmp_path / "mine.yaml").write_text('name: base\nblocked_tokens: ["0x' + "12" * 20 + '"]\n')
    monkeypatch.setenv("SWAPCLI_CONFIG", str(settings))
    swapcli.add_network("ethereum")
    ran = run_swapcli(*words.format(folder=tmp_path).split(), "--json", env={"SWAPCLI_CONFIG": str(settings)})
    assert ran.exit_code == 0, ran.stderr
    swapcli.add_network("ethereum", replace=True)
    assert json.loads(json.dumps(FOLDER_CALLS[words](str(tmp_path)).document())) == ran.json


def test_a_new_key_has_the_document_of_its_command(tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    printed = run_swapcli("keys", "create", "Ada", "--keys-file", str(file), "--json").json
    created = swapcli.KeyStore(file).create("Ada").document()
    own = ("key", "id", "created")
    assert {**created, **dict.fromkeys(own)} == {**printed, **dict.fromkeys(own)}


@pytest.mark.parametrize("words", few(NODE_CALLS, 3))
def test_accounts_have_the_documents_of_their_commands(
    words: str, trader: Trader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = Client(trader, tmp_path)
    ran = run_swapcli(
        *words.format(network=client.name).split(), "--json", env={"SWAPCLI_CONFIG": str(client.settings)}
    )
    assert ran.exit_code == 0, ran.stderr
    monkeypatch.setenv("SWAPCLI_CONFIG", str(client.settings))
    monkeypatch.setenv("SWAPCLI_LIVE", "auto")
    with Market.open(client.name) as market:
        document = json.loads(json.dumps(NODE_CALLS[words](market).document()))
        assert lasting(document) == lasting(ran.json)


@pytest.fixture
def client(trader: Trader, tmp_path: Path) -> Client:
    """Return a user of a chain whose swaps are announced."""
    announce_swaps(trader)
    return Client(trader, tmp_path)


@pytest.mark.parametrize("words", few(PAST_CALLS, 2))
def test_the_past_has_the_documents_of_its_commands(
    words: str, client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ((_, mined),) = trades(client.trader, 1)
    blocks = range(client.block() - 1, client.block() + 1)
    orders, results = tmp_path / "orders.csv", tmp_path / "results.jsonl"
    orders.write_text("id,tokenIn,tokenOut,amount\n0,ETH,USDC,1.5\n")
    filled = words.format(network=client.name, mined=mined, orders=orders, first=blocks[0], last=blocks[-1]).split()
    for name, value in {"SWAPCLI_CONFIG": str(client.settings), "SWAPCLI_LIVE": "auto"}.items():
        monkeypatch.setenv(name, value)
    with Market.open(client.name) as market:
        result = PAST_CALLS[words](market, mined, blocks)
    ran = run_swapcli(*filled, "--json", env={"SWAPCLI_CONFIG": str(client.settings)})
    assert ran.exit_code == 0, ran.stderr
    assert json.loads(json.dumps(result.document())) == ran.json
    if isinstance(result, swapcli.Backtest):
        run_swapcli(*filled, "--results", str(results), env={"SWAPCLI_CONFIG": str(client.settings)})
        assert result.rows() == [json.loads(line) for line in results.read_text().splitlines()]


def test_the_nodes_of_a_network_have_the_document_of_their_check(
    small_chain: SmallTestChain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    public = {**describe_network(small_chain.network), "public_rpc_urls": [url_of(small_chain.chain)]}
    settings = write_settings(tmp_path, small_chain.network, None, networks={small_chain.network.name: public})
    words = ("networks", small_chain.network.name, "--probe", "--json")
    ran = run_swapcli(*words, env={"SWAPCLI_CONFIG": str(settings)})
    monkeypatch.setenv("SWAPCLI_CONFIG", str(settings))
    found = swapcli.probe_nodes(small_chain.network.name).document()
    assert lasting(json.loads(json.dumps(found))) == lasting(ran.json)


def test_the_check_of_a_network_has_the_document_of_its_command(
    small_chain: SmallTestChain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = write_settings(tmp_path, small_chain.network, url_of(small_chain.chain))
    for name, value in {"SWAPCLI_CONFIG": str(settings), "SWAPCLI_LIVE": "auto"}.items():
        monkeypatch.setenv(name, value)
    ran = run_swapcli("networks", "check", small_chain.network.name, "--json", env={"SWAPCLI_CONFIG": str(settings)})
    found = swapcli.check_network(small_chain.network.name).document()
    assert lasting(json.loads(json.dumps(found))) == lasting(json.loads(ran.stdout))


def test_a_proof_has_the_document_of_its_command(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library continues the run of the command: what that finished is the same, and nothing else is found.

    Neither the service nor an agent's tool offers this: it writes files, and takes minutes and hundreds of requests
    of the machine that runs it, whose claims are to be checked.
    """
    folder = tmp_path / "proof"
    words = ("prove", client.name, "--folder", str(folder), "--orders", "2", "--no-aggregators", "--json")
    ran = run_swapcli(*words, env={"SWAPCLI_CONFIG": str(client.settings)})
    for name, value in {"SWAPCLI_CONFIG": str(client.settings), "SWAPCLI_LIVE": "auto"}.items():
        monkeypatch.setenv(name, value)
    report = swapcli.prove(client.name, folder, orders=2, aggregators=False)
    document = json.loads(json.dumps(report.document()))
    of_this_run = ("startedAt", "finishedAt", "resumedItems", "requests", "stages", "timeS")
    passing = {name: value for name, value in document.items() if name in of_this_run}
    assert passing.keys() == set(of_this_run)
    assert lasting(document) == lasting({**ran.json, **passing})


def test_a_sync_has_the_document_of_its_command(
    small_chain: SmallTestChain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = write_settings(tmp_path, small_chain.network, url_of(small_chain.chain))
    name = small_chain.network.name
    ran = run_swapcli("sync", name, "--json", env={"SWAPCLI_CONFIG": str(settings)})
    assert ran.exit_code == 0, ran.stderr
    monkeypatch.setenv("SWAPCLI_CONFIG", str(settings))
    found = swapcli.sync(name, settings={"store_dir": str(tmp_path / "other")}).document()
    place = {"store": str(tmp_path / "stores" / f"{name}.sqlite")}
    assert lasting({**json.loads(json.dumps(found)), **place}) == lasting(ran.json)


def test_a_line_of_a_watch_has_the_document_of_a_watched_quote(
    small_chain: SmallTestChain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = write_settings(tmp_path, small_chain.network, url_of(small_chain.chain))
    name = small_chain.network.name
    assert run_swapcli("sync", name, env={"SWAPCLI_CONFIG": str(settings)}).exit_code == 0
    with started("route", name, "TKN", "USDC", "1", "--watch", env={"SWAPCLI_CONFIG": str(settings)}) as process:
        assert process.stdout is not None
        printed = json.loads(process.stdout.readline())
    monkeypatch.setenv("SWAPCLI_CONFIG", str(settings))
    monkeypatch.setenv("SWAPCLI_LIVE", "auto")
    with Market.open(name) as market:
        quote = next(market.watch("TKN", "USDC", "1"))
    found = json.loads(json.dumps(swapcli.WatchedQuote.since(quote, quote).document()))
    assert found["change"].pop("since") >= printed["change"].pop("since")
    blocks = [found["state"].pop("block"), printed["state"].pop("block")]
    assert blocks == sorted(blocks, reverse=True)
    assert lasting(found) == lasting(printed)


def test_a_line_of_a_batch_has_the_document_of_a_quote() -> None:
    orders = '{"id": "a", "tokenIn": "ETH", "tokenOut": "USDC", "amount": "1.5"}\n'
    ran = run_swapcli("route", "base", "--batch", "-", "--offline", stdin=orders.encode())
    with Market.open("base", offline=True) as market:
        line = swapcli.BatchLine("a", market.quote("ETH", "USDC", "1.5").document())
    assert lasting(json.loads(json.dumps(line.document()))) == lasting(ran.json)


def test_the_due_part_of_a_plan_has_the_document_of_its_command(tmp_path: Path) -> None:
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    with Market.open("base", offline=True) as market:
        market.plan("ETH", "USDC", "30", over="1h", parts=2).write(str(first))
        second.write_bytes(first.read_bytes())
        built = market.build_part(str(first), destination=ME)
    ran = run_swapcli("plan", "--next", str(second), "--offline", "--destination", ME, "--json")
    assert ran.exit_code == 0, ran.stderr
    assert lasting(json.loads(json.dumps(built.document()))) == lasting(ran.json)
    done = swapcli.mark_part_done(str(first)).document()
    printed = run_swapcli("plan", "--done", str(second), "--json").json
    assert lasting(json.loads(json.dumps(done))) == lasting(printed)


def test_a_written_proof_is_that_of_the_quote(tmp_path: Path) -> None:
    file = tmp_path / "proof.json"
    run_swapcli("route", "base", "ETH", "USDC", "1.5", "--offline", "--proof", str(file))
    with Market.open("base", offline=True) as market:
        proof = market.quote("ETH", "USDC", "1.5", proof=True).proof()
    assert json.loads(file.read_text()) == json.loads(json.dumps(proof.document()))


@pytest.mark.parametrize("words", but_slow(CALLS, "depth base ETH USDC --amounts 1,2k --offline"))
def test_the_library_gives_the_document_of_a_command(words: str) -> None:
    ran = run_swapcli(*words.split(), "--json")
    assert ran.exit_code == 0, ran.stderr
    document = json.loads(json.dumps(CALLS[words]().document()))
    assert lasting(document) == lasting(ran.json)


def lasting(document: Any) -> Any:
    """Return a document without the fields that change from one quote to the next."""
    if isinstance(document, list):
        return [lasting(each) for each in document]
    if isinstance(document, dict):
        return {key: lasting(each) for key, each in document.items() if key not in PASSING_FIELDS}
    return document
