"""`swapcli decode` flags every hostile change of a bare payload, and calls no honest one dangerous."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

import pytest

from swapcli.core.encoding.abi import encode_address
from swapcli.payload.evm import decode_call, encode_call
from swapcli.payload.evm.decoding.arguments import Arguments
from swapcli.payload.evm.settler_actions import EXEC, encode_basic, encode_exec, encode_execute, encode_transfer_from
from swapcli.payload.evm.universal_router import commands as router_commands
from swapcli.payload.evm.universal_router.commands import Command
from tests.examples import fuzzed_seeds
from tests.support.command import CommandResult, run_swapcli
from tests.support.service import recipient_on

ME, ROUTER = "0x" + "1" * 40, "0x" + "55" * 20
USDC, WETH = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", "0x4200000000000000000000000000000000000006"
DAI = "0x50c5725949a6f0c72e6c4a641f24049a917db0cb"
TOKENS = ("ETH", "USDC", "cbBTC", "AERO", "WETH", "cbETH", "DAI", "VIRTUAL", "EURC")
DIALECTS = ("fibrous", "universal-router", "settler", "starknet")
E18 = 10**18
LEAST_MINIMUM = 100_000
"""A smaller one may equal a length or an offset in the calldata, where tests replace it."""
CONFIG: list[str] = []

Payload = dict[str, Any]
Change = Callable[[Random, Payload, "Built"], Payload]


class Built(NamedTuple):
    """A payload without its document, with the dialect of its router, and the order that decode shows."""

    dialect: str
    payload: Payload
    shown: dict[str, Any]


@pytest.fixture(scope="module", autouse=True)
def config(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Settings with the address of a Settler."""
    file = tmp_path_factory.mktemp("settings") / "config.yaml"
    file.write_text(f'networks: {{base: {{router: "{ROUTER}", router_dialect: settler}}}}')
    CONFIG[:] = [str(file)]


def options_of(dialect: str) -> tuple[str, ...]:
    return ("--config", CONFIG[0]) if dialect == "settler" else ()


def owner_of(dialect: str) -> str:
    """Return the account that signs and receives."""
    return recipient_on("starknet") if dialect == "starknet" else ME


def random_payload(rng: Random, dialect: str) -> Built:
    """Return a payload of a random order that was just built."""
    while True:
        network, tokens = ("starknet", ("ETH", "STRK", "USDC", "USDT")) if dialect == "starknet" else ("base", TOKENS)
        token_in, token_out = rng.sample(tokens, 2)
        sold = f"{10 ** rng.randint(-2, 1) * rng.randint(1, 9):g}"
        paid = ("--destination", owner_of(dialect))
        words = ("calldata", network, token_in, token_out, sold, *paid, "--json", "--offline")
        router = () if dialect in ("settler", "starknet") else ("--router-dialect", dialect)
        ran = run_swapcli(*words, *router, *options_of(dialect))
        assert ran.exit_code in (0, 7), ran.stderr  # a large order may move the price too far
        if ran.exit_code == 0 and int(ran.json["minReceived"]) >= LEAST_MINIMUM:
            break
    document = ran.json
    keys = ("network", "to", "value", "calldata") if dialect != "starknet" else ("network", "to", "calldata")
    payload = {key: document[key] for key in keys if key in document}
    shown = decode(dialect, payload)
    assert (shown.exit_code, [each["code"] for each in shown.json.get("warnings", [])]) in (
        (0, []),
        (0, ["ROUTE_UNCHECKED"]),
    )
    if shown.json["order"]["inputAmount"] == shown.json["order"]["minReceived"]:  # a wrap: no word is the minimum alone
        return random_payload(rng, dialect)
    return Built(dialect, payload, shown.json)


def decode(dialect: str, payload: Payload) -> CommandResult:
    words = ("decode", "-", "--from", owner_of(dialect), "--offline", "--json", *options_of(dialect))
    return run_swapcli(*words, stdin=json.dumps(payload).encode())


def random_address(rng: Random) -> str:
    return f"0x{rng.getrandbits(159) | 1 << 158:040x}"


def addresses(order: dict[str, Any]) -> tuple[str, str]:
    """Return the addresses of the sold and the bought token, in lower case."""
    return str(order["inputToken"]["address"]).lower(), str(order["outputToken"]["address"]).lower()


def replaced(payload: Payload, old: int, new: int) -> Payload:
    """Return a payload with every word, or felt, of one value replaced by another."""
    calldata = payload["calldata"]
    if isinstance(calldata, list):
        return payload | {"calldata": [hex(new) if int(felt, 0) == old else felt for felt in calldata]}
    return payload | {"calldata": calldata.replace(f"{old:064x}", f"{new:064x}")}


# Changes that every dialect knows.


def change_recipient(rng: Random, payload: Payload, built: Built) -> Payload:
    return replaced(payload, int(built.shown["order"]["recipient"], 16), int(random_address(rng), 16))


def change_token(rng: Random, payload: Payload, built: Built) -> Payload:
    """Replace the sold or the bought token by an unknown one."""
    old = int(rng.choice([each for each in addresses(built.shown["order"]) if int(each, 16)]), 16)
    if built.dialect == "starknet":
        return replaced(payload, old, int(random_address(rng), 16))
    return payload | {"calldata": payload["calldata"].replace(f"{old:040x}", random_address(rng)[2:])}


def change_to_known_token(rng: Random, payload: Payload, built: Built) -> Payload:
    """Replace the sold or the bought token by another one of the market, which makes it another order."""
    ends = [each for each in addresses(built.shown["order"]) if int(each, 16)]
    old = rng.choice(ends)
    new = rng.choice(sorted({DAI, USDC, WETH} - {old}))
    return payload | {"calldata": payload["calldata"].replace(old[2:], new[2:])}


def change_router(rng: Random, payload: Payload, built: Built) -> Payload:
    del built
    return payload | {"to": random_address(rng)}


def change_value(rng: Random, payload: Payload, built: Built) -> Payload:
    del built
    value = int(payload["value"], 0)
    return payload | {"value": str(rng.choice([value + 1, value * 2 + 1, value + 10**18, value - 1 if value else 7]))}


def lower_minimum(rng: Random, payload: Payload, built: Built) -> Payload:
    fresh = int(built.shown["freshOutputAmount"])
    lower = rng.choice([0, 1, int(fresh * rng.uniform(0.01, 0.8)), int(fresh * rng.uniform(0.8, 0.9899))])
    return replaced(payload, int(built.shown["order"]["minReceived"]), lower)


def approve_other(rng: Random, payload: Payload, built: Built) -> Payload:
    del built
    amount = rng.choice([1, 10**9, 2**256 - 1])
    approval = f"0x095ea7b3{encode_address(random_address(rng), 'spender')}{amount:064x}"
    return {"network": payload["network"], "to": USDC, "value": "0", "calldata": approval}


def approve_other_by_permit2(rng: Random, payload: Payload, built: Built) -> Payload:
    del built
    spender = encode_address(random_address(rng), "spender")
    approval = f"0x87517c45{encode_address(USDC, 'token')}{spender}{10**9:064x}{2**47:064x}"
    to = "0x000000000022d473030f116ddee9f6b43ac78ba3"
    return {"network": payload["network"], "to": to, "value": "0", "calldata": approval}


# Changes of a dialect.


def pay_integrator(rng: Random, payload: Payload, built: Built) -> Payload:
    del built
    fee = rng.randint(1, 10_000)
    shares = rng.choice([f"{fee:064x}{0:064x}", f"{0:064x}{fee:064x}"])
    data = bytes.fromhex(encode_address(random_address(rng), "i") + shares)
    call = decode_call(payload["calldata"])
    return payload | {"calldata": encode_call(call._replace(integrator_data=data))}


def add_swap(rng: Random, payload: Payload, built: Built) -> Payload:
    del built
    call = decode_call(payload["calldata"])
    extra = rng.choice(call.swaps)
    extra = rng.choice(
        [
            extra._replace(pool_address=random_address(rng)),
            extra._replace(token_out=random_address(rng)),
            extra._replace(token_in=random_address(rng)),
        ]
    )
    swaps = list(call.swaps)
    swaps.insert(rng.randint(0, len(swaps)), extra)
    return payload | {"calldata": encode_call(call._replace(swaps=tuple(swaps)))}


def add_command(rng: Random, payload: Payload, built: Built) -> Payload:
    """Add a command that pays another address, or one that no swap needs."""
    order, other = built.shown["order"], encode_address(random_address(rng), "r")
    token = encode_address(rng.choice([*addresses(order), USDC, WETH]), "t")
    amount = rng.choice([1, 10**6, 1 << 255])
    extra = rng.choice(
        [
            Command(0x02, f"{token}{other}{10**6:064x}"),
            Command(0x04, f"{token}{other}{0:064x}"),
            Command(0x05, f"{token}{other}{amount:064x}"),
            Command(0x06, f"{token}{other}{rng.randint(1, 10_000):064x}"),
            Command(0x07, f"{token}{other}{rng.randint(1, E18):064x}"),
            Command(0x0B, f"{other}{amount:064x}"),
            Command(0x0C, f"{other}{0:064x}"),
            Command(rng.choice([0x03, 0x0D, 0x11, 0x12, 0x13, 0x14, 0x21, 0x3F, 0x40]), f"{token}{other}"),
            Command(0x0A, f"{token}{10**6:064x}{2**47:064x}{0:064x}{other}{2**40:064x}{224:064x}{0:064x}"),
        ]
    )
    words = Arguments(bytes.fromhex(payload["calldata"][10:]))
    found = [each.hex() for each in words.contents(1, "inputs")]
    listed = list(map(Command, words.content(0, "commands"), found))
    listed.insert(rng.randint(0, len(listed)), extra)
    return payload | {"calldata": router_commands.encode_execute(listed, words.uint(2, "deadline"))}


def add_action(rng: Random, payload: Payload, built: Built) -> Payload:
    """Add an action that pays another address, or one that no swap needs."""
    order = built.shown["order"]
    other, share = random_address(rng), rng.randint(1, 10_000)
    bought = addresses(order)[1]
    paid = bought if int(bought, 16) else WETH
    transfer = f"a9059cbb{encode_address(other, 'to')}{10**6:064x}"
    extra = rng.choice(
        [
            encode_basic(paid, share, paid, 36, transfer),
            encode_basic(paid, 0, paid, rng.choice([4, 68]), transfer + "00" * 32),
            encode_basic("0x" + "ee" * 20, share, other),
            encode_basic(paid, share, other, 36, transfer),
            f"34ee90ca{encode_address(other, 'to')}{encode_address(paid, 't')}{1:064x}{share:064x}",
            encode_transfer_from(other, USDC, 10**6, 2**40),
            f"{rng.getrandbits(32):08x}{encode_address(other, 'to')}",
        ]
    )

    def with_action(calldata: bytes) -> str:
        words = Arguments(calldata)
        actions = [each.hex() for each in words.contents(3, "actions")]
        actions.insert(rng.randint(0, len(actions)), extra)
        return encode_execute(words.address(0, "r"), words.address(1, "t"), words.uint(2, "m"), actions)

    raw = bytes.fromhex(payload["calldata"][2:])
    if raw[:4].hex() != EXEC:
        return payload | {"calldata": f"0x{with_action(raw[4:]).removeprefix('0x')}"}
    words = Arguments(raw[4:])
    inner = with_action(words.content(4, "data")[4:]).removeprefix("0x")
    whole = encode_exec(words.address(0, "o"), words.address(1, "t"), words.uint(2, "a"), inner)
    return payload | {"calldata": f"0x{whole.removeprefix('0x')}"}


def change_settler(rng: Random, payload: Payload, built: Built) -> Payload:
    del built
    raw = payload["calldata"]
    if raw[2:10] != EXEC:
        return payload | {"to": random_address(rng)}
    at = rng.choice([10, 10 + 3 * 64])
    return payload | {"calldata": f"{raw[:at]}{encode_address(random_address(rng), 'settler')}{raw[at + 64 :]}"}


CHANGES: dict[str, tuple[Change, ...]] = {
    "fibrous": (change_value, change_to_known_token, approve_other, pay_integrator, pay_integrator, add_swap),
    "universal-router": (
        change_value,
        change_to_known_token,
        approve_other_by_permit2,
        add_command,
        add_command,
        add_command,
    ),
    "settler": (change_value, change_to_known_token, change_settler, add_action, add_action, add_action),
    "starknet": (),
}
COMMON: tuple[Change, ...] = (change_recipient, change_token, change_router, lower_minimum)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("seed", fuzzed_seeds(1, full=15, fuzz=65))
def test_every_hostile_change_of_a_payload_is_flagged(seed: int, dialect: str) -> None:
    rng = Random(f"hostile {dialect} {seed}")
    built = random_payload(rng, dialect)
    for change in (*COMMON, *CHANGES[dialect]):
        payload = change(rng, built.payload, built)
        assert payload != built.payload, change.__name__
        ran = decode(dialect, payload)
        said = f"{change.__name__} of {json.dumps(payload)}: {ran.stdout[-600:]}{ran.stderr[-300:]}"
        if change is lower_minimum:
            found = {warning["code"] for warning in ran.json.get("warnings", [])}
            assert found & {"MINIMUM_ZERO", "MINIMUM_LOW", "MINIMUM_TOO_LOW"}, said
        elif change is change_to_known_token:
            assert ran.exit_code == 2 or ran.json.get("warnings", []), said
        else:
            assert ran.exit_code in (2, 7), said


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("seed", fuzzed_seeds(1, full=8, fuzz=32))
def test_no_honest_payload_is_called_dangerous(seed: int, dialect: str) -> None:
    rng = Random(f"honest {dialect} {seed}")
    built = random_payload(rng, dialect)
    for _ in range(4):
        payload, calldata = dict(built.payload), built.payload["calldata"]
        if isinstance(calldata, str):
            payload["calldata"] = rng.choice([calldata, calldata.upper().replace("0X", "0x"), f"0x{calldata[2:]}"])
            payload["value"] = rng.choice([payload["value"], hex(int(payload["value"]))])
        keys = rng.sample(sorted(payload), len(payload))
        ran = decode(dialect, {key: payload[key] for key in keys})
        assert (ran.exit_code, ran.json.get("dangers", [])) == (0, []), payload
        assert ran.json["order"] == built.shown["order"]
