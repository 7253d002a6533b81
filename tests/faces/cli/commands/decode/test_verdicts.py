"""The verdict of `swapcli decode`: no changed payload passes as safe, however little is known of it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

from swapcli.core.encoding.abi import encode_address
from swapcli.core.model.finding import FindingCode, Level
from swapcli.core.model.market import Provenance
from swapcli.payload.evm import decode_call, encode_call
from swapcli.payload.evm.decoding.arguments import Arguments
from swapcli.payload.evm.universal_router.commands import Command, encode_execute
from swapcli.state.markets.format import render_market
from tests.faces.cli.commands import test_decode_hostile as hostile
from tests.faces.cli.commands.test_decode_hostile import Built, Payload, replaced
from tests.support.command import CommandResult, run_swapcli
from tests.support.markets import embedded_market

ME, OTHER, ROUTER = "0x" + "1" * 40, "0x" + "22" * 20, "0x" + "55" * 20
DIALECTS = ("fibrous", "universal-router", "settler")
SYMBOLS = ("WETH", "USDC", "cbBTC", "DAI", "AERO")
ORDER = ("ETH", "USDC", "1")
STATUSES = {"danger", "unknown"}

Change = Callable[[Built], Any]


class Settings(NamedTuple):
    """Files of the tests: settings with a Settler, and a market of Base that counts as real and new."""

    config: Path
    market: Path


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    folder = tmp_path_factory.mktemp("verdicts")
    found = Settings(folder / "config.yaml", folder / "market.json")
    found.config.write_text(f'networks: {{base: {{router: "{ROUTER}", router_dialect: settler}}}}')
    whole = embedded_market("base")
    tokens = {token.address for token in whole.tokens.values() if token.symbol in SYMBOLS}
    pools = {key: pool for key, pool in whole.pools.items() if tokens.issuperset(pool.tokens)}
    real = whole._replace(pools=pools, provenance=Provenance.SYNCED, timestamp=int(time.time()) + 600, block=1)
    found.market.write_text(render_market(real))
    return found


def options_of(settings: Settings, dialect: str) -> tuple[str, ...]:
    return ("--config", str(settings.config)) if dialect == "settler" else ()


@cache
def built(settings: Settings, dialect: str) -> Built:
    router = () if dialect == "settler" else ("--router-dialect", dialect)
    words = ("calldata", "base", *ORDER, "--destination", ME, "--json", "--market", str(settings.market))
    deadline = ("--deadline", "20m")  # a busy machine needs more than the default for all tests of a payload
    document = run_swapcli(*words, *deadline, *router, *options_of(settings, dialect)).json
    payload = {key: document[key] for key in ("network", "to", "value", "calldata")}
    shown = decode(settings, dialect, payload, "--from", ME)
    return Built(dialect, payload, shown.json)


def decode(settings: Settings, dialect: str, payload: object, *options: str, is_offline: bool = False) -> CommandResult:
    source = ("--offline",) if is_offline else ("--market", str(settings.market))
    text = payload if isinstance(payload, str) else json.dumps(payload)
    words = ("decode", "-", "--network", "base", "--json", *source, *options, *options_of(settings, dialect))
    return run_swapcli(*words, stdin=text.encode())


# --- changes


def order_of(found: Built) -> dict[str, Any]:
    order: dict[str, Any] = found.shown["order"]
    return order


def with_minimum(share: float, least: int = 0) -> Change:
    def change(found: Built) -> Payload:
        minimum = int(order_of(found)["minReceived"])
        return replaced(found.payload, minimum, max(int(minimum * share), least))

    return change


def with_value(found: Built) -> Payload:
    return found.payload | {"value": str(int(found.payload["value"]) * 2)}


def without_value(found: Built) -> Payload:
    return found.payload | {"value": "0"}


def with_router(found: Built) -> Payload:
    return found.payload | {"to": OTHER}


def with_recipient(address: str) -> Change:
    return lambda found: replaced(found.payload, int(ME, 16), int(address, 16))


def with_bought(address: str) -> Change:
    def change(found: Built) -> Payload:
        bought = order_of(found)["outputToken"]["address"].lower()
        return found.payload | {"calldata": found.payload["calldata"].replace(bought[2:], address[2:])}

    return change


def with_transfer(found: Built) -> list[Payload]:
    transfer = f"0xa9059cbb{encode_address(OTHER, 'to')}{10**6:064x}"
    return [found.payload, found.payload | {"to": hostile.USDC, "value": "0", "calldata": transfer}]


def with_approval(found: Built) -> list[Payload]:
    approval = f"0x095ea7b3{encode_address(OTHER, 'spender')}{2**256 - 1:064x}"
    return [found.payload | {"to": hostile.USDC, "value": "0", "calldata": approval}, found.payload]


def with_trailing_bytes(found: Built) -> Payload:
    return found.payload | {"calldata": found.payload["calldata"] + "00" * 32}


def with_deadline(deadline_s: int) -> Change:
    def change(found: Built) -> Payload:
        words = Arguments(bytes.fromhex(found.payload["calldata"][10:]))
        commands = list(map(Command, words.content(0, "commands"), (e.hex() for e in words.contents(1, "i"))))
        return found.payload | {"calldata": encode_execute(commands, deadline_s)}

    return change


def with_pool(found: Built) -> Payload:
    call = decode_call(found.payload["calldata"])
    first, *rest = call.swaps
    swaps = (first._replace(pool_address=OTHER), *rest)
    return found.payload | {"calldata": encode_call(call._replace(swaps=swaps))}


def with_rest(found: Built) -> Payload:
    """Leave half of what the last swap of the input should sell in the router."""
    call = decode_call(found.payload["calldata"])
    last = max(number for number, swap in enumerate(call.swaps) if swap.token_in == call.route.token_in)
    swaps = [*call.swaps]
    swaps[last] = swaps[last]._replace(rate=500_000)
    return found.payload | {"calldata": encode_call(call._replace(swaps=tuple(swaps)))}


def randomly(change: hostile.Change, seed: int = 0) -> Change:
    return lambda found: change(Random(f"verdicts {seed}"), found.payload, found)


COMMON: Mapping[str, Change] = {
    "recipient": with_recipient(OTHER),
    "minimum of 1": with_minimum(0, 1),
    "minimum of 0": with_minimum(0),
    "half the minimum": with_minimum(0.5),
    "nine tenths of the minimum": with_minimum(0.9),
    "value": with_value,
    "no value": without_value,
    "router": with_router,
    "unknown token": with_bought(OTHER),
    "other token": with_bought(hostile.DAI),
    "extra transfer": with_transfer,
    "extra approval": with_approval,
}
BY_DIALECT: Mapping[str, Mapping[str, Change]] = {
    "fibrous": {
        "pool": with_pool,
        "rates": with_rest,
        "fee": randomly(hostile.pay_integrator),
        "extra swap": randomly(hostile.add_swap),
    },
    "universal-router": {
        "late deadline": with_deadline(int(time.time()) + 365 * 86_400),
        "past deadline": with_deadline(1_600_000_000),
        "no deadline": with_deadline(2**256 - 1),
        "extra command": randomly(hostile.add_command),
        "second extra command": randomly(hostile.add_command, 1),
    },
    "settler": {"extra action": randomly(hostile.add_action), "settler": randomly(hostile.change_settler)},
}


def changes() -> Iterator[Any]:
    for dialect in DIALECTS:
        for name, change in (*COMMON.items(), *BY_DIALECT[dialect].items()):
            yield pytest.param(dialect, change, id=f"{dialect}: {name}")


def test_there_are_forty_changes() -> None:
    assert len(list(changes())) >= 40


@pytest.mark.parametrize(("dialect", "change"), [*changes()])
def test_no_changed_payload_passes_as_safe(settings: Settings, dialect: str, change: Change) -> None:
    changed = change(built(settings, dialect))
    assert changed != built(settings, dialect).payload
    known = decode(settings, dialect, changed, "--from", ME)
    offline = decode(settings, dialect, changed, "--from", ME, is_offline=True)
    without_sender = decode(settings, dialect, changed)
    found = [known, offline, without_sender]
    if isinstance(changed, dict):
        found.append(decode(settings, dialect, changed["calldata"]))
    for ran in found:
        assert ran.exit_code == 2 or ran.json["verdict"]["status"] in STATUSES, ran.stdout
        assert ran.exit_code == 2 or (ran.exit_code == 7) == (ran.json["verdict"]["status"] == "danger")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_honest_payload_has_no_danger(settings: Settings, dialect: str) -> None:
    ran = decode(settings, dialect, built(settings, dialect).payload, "--from", ME, "--strict")
    assert (ran.exit_code, ran.json["verdict"]["status"], ran.json.get("warnings", [])) == (0, "no_danger_found", [])
    assert ran.json["verdict"]["message"].startswith("No danger found: at least ")
    assert f" USDC for 1 ETH to {ME}" in ran.json["verdict"]["message"]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_honest_payload_misses_only_real_prices(settings: Settings, dialect: str) -> None:
    ran = decode(settings, dialect, built(settings, dialect).payload, "--from", ME, is_offline=True)
    assert (ran.exit_code, [each["code"] for each in ran.json.get("warnings", [])]) == (0, ["ROUTE_UNCHECKED"])
    message = "Unknown: the minimum could not be compared with current prices: only modelled prices are available"
    assert ran.json["verdict"] == {"status": "unknown", "message": message}


def test_calldata_alone_names_each_missing_fact(settings: Settings) -> None:
    payload = built(settings, "fibrous").payload
    ran = decode(settings, "fibrous", payload["calldata"])
    codes = ["RECIPIENT_UNCHECKED", "CONTRACT_UNCHECKED", "VALUE_UNCHECKED"]
    assert (ran.exit_code, [each["code"] for each in ran.json.get("warnings", [])]) == (0, codes)
    assert ME in ran.json["verdict"]["message"]
    strict = decode(settings, "fibrous", payload["calldata"], "--strict")
    assert (strict.exit_code, strict.json["verdict"]) == (7, ran.json["verdict"])
    assert "RECIPIENT_UNCHECKED, CONTRACT_UNCHECKED, VALUE_UNCHECKED" in strict.stderr
    known = ("--from", ME, "--to", payload["to"], "--value", payload["value"])
    assert decode(settings, "fibrous", payload["calldata"], *known).json["verdict"]["status"] == "no_danger_found"


def test_the_verdict_is_the_first_line(settings: Settings) -> None:
    payload = built(settings, "fibrous").payload
    for options in (("--from", ME), ("--from", OTHER), ()):
        words = ("decode", "-", "--market", str(settings.market), "--network", "base", *options)
        ran = run_swapcli(*words, stdin=json.dumps(payload).encode())
        verdict = decode(settings, "fibrous", payload, *options).json["verdict"]
        assert ran.stdout.splitlines()[0] == verdict["message"]
    assert verdict["message"].startswith(f"Unknown: the output goes to {ME}, ")


@pytest.mark.parametrize("key", ["quote", "route"])
def test_a_minimum_far_below_the_promised_output_needs_no_quote(settings: Settings, key: str) -> None:
    """A router without a quoted output in its call: the document around it has one."""
    found = built(settings, "universal-router")
    low = with_minimum(0, 1)(found)
    promised = {"outputAmount": str(3_000 * 10**6)}
    ran = decode(settings, "universal-router", low | {key: promised})
    assert "MINIMUM_TOO_LOW" in ran.json.get("dangers", [])


def test_approvals_have_verdicts(settings: Settings) -> None:
    router = embedded_market("base").network.router
    assert router is not None
    approval = f"0x095ea7b3{encode_address(router, 'spender')}{5_000_000:064x}"
    known = decode(settings, "fibrous", approval, "--to", hostile.USDC)
    assert known.json["verdict"]["status"] == "no_danger_found"
    assert known.json["verdict"]["message"].lower() == f"no danger found: {router} may take 5 usdc"
    alone = decode(settings, "fibrous", approval)
    assert alone.json["verdict"]["status"] == "unknown"
    stranger = decode(settings, "fibrous", approval.replace(router[2:], OTHER[2:]), "--to", hostile.USDC)
    assert stranger.json["verdict"]["message"].startswith(f"DANGER, do not sign: the spender {OTHER} ")
    assert FindingCode.SPENDER_UNKNOWN.level is Level.BLOCK
