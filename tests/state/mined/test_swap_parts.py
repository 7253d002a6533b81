"""The events of a swap's parts belong to it, and no others: recorded transactions of EulerSwap and Curve, and changes.

`recorded_parts.json.xz` has blocks of transactions of the compiled contracts: their pools before the block, all logs,
and the swaps that were sent (pool, tokens sold and bought, amounts).
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest
from eth_abi.abi import encode

from swapcli.core.errors import InsufficientLiquidity
from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.families import family
from swapcli.families.reading.calls import Log
from swapcli.families.smardex.smardex import SmarDex
from swapcli.state.mined.swap_events import SwapEvent, find_swaps
from swapcli.state.mined.swap_verification import Outcome, VerifiedSwap, verify_swaps
from swapcli.state.mined.swapped_pools import SwappedPool
from swapcli.testing.recorded_swaps import replay_recorded_swaps
from tests.examples import examples
from tests.families.recorded import vectors_file
from tests.families.uniswap.test_ring_pair import valid_pool
from tests.support.outside_ids import topic_of

BLOCKS: Final = Path(__file__).with_name("recorded_parts.json.xz")
STRANGER: Final = "0x" + "57" * 20
_DEPOSIT: Final = "Deposit(address,address,uint256,uint256)"
_REPAY: Final = "Repay(address,uint256)"
_BORROW: Final = "Borrow(address,uint256)"
_ADD_LIQUIDITY: Final = "AddLiquidity(address,uint256[],uint256[],uint256,uint256)"
_FOREIGN: Final = "another kind of event changed its pool earlier in the block"


class Block:
    """A recorded block: `sent` are the swaps of its transactions."""

    def __init__(self, recorded: Mapping[str, Any]) -> None:
        self.pools = {pool.key: pool for pool in map(_pool, recorded["pools"])}
        self.kind: str = recorded["kind"]
        self.logs = [
            Log(address, tuple(topics), bytes.fromhex(data[2:]), 1, number, f"0x{transaction}")
            for number, (address, topics, data, transaction) in enumerate(recorded["logs"])
        ]
        self.sent = [
            (key, sold, bought, int(amount_in), int(amount_out))
            for key, sold, bought, amount_in, amount_out in recorded["swaps"]
        ]

    def verify(self, logs: Sequence[Log] | None = None, pools: Mapping[str, Pool] | None = None) -> list[VerifiedSwap]:
        logs = self.logs if logs is None else logs
        own = {event.first_log for event in self.swaps(logs)}
        return verify_swaps(known_pools(self.kind, pools or self.pools), {}, logs, own)

    def swaps(self, logs: Sequence[Log]) -> list[SwapEvent]:
        """Return the swaps in its pools."""
        return [event for event in find_swaps(logs) if event.key in self.pools]


def known_pools(kind: str, pools: Mapping[str, Pool]) -> dict[str, SwappedPool]:
    return {
        key: SwappedPool(pool, kind, frozenset({pool.address, *(each.address for each in pool.shared_states)}))
        for key, pool in pools.items()
    }


def _pool(recorded: Mapping[str, Any]) -> Pool:
    identity = PoolIdentity(
        recorded["address"], "recorded", tuple(recorded["tokens"]), tuple(recorded["decimals"]), recorded["fee_ppm"]
    )
    return family(recorded["family"]).from_state(identity, recorded["state"])


def recorded_blocks(kind: str | None = None) -> Iterator[Block]:
    document = json.loads(lzma.decompress(BLOCKS.read_bytes()))
    yield from (Block(each) for each in document["blocks"] if kind in (None, each["kind"]))


def inserted(logs: Sequence[Log], number: int, log: Log) -> list[Log]:
    """Return logs with another one before that with a number, in its transaction."""
    log = log._replace(transaction=logs[number].transaction)
    moved = [*logs[:number], log, *logs[number:]]
    return [each._replace(log_index=place) for place, each in enumerate(moved)]


def event_of(address: str, signature: str, indexed: Sequence[str], types: Sequence[str], *values: object) -> Log:
    topics = (topic_of(signature), *(f"0x{each[2:]:0>64}" for each in indexed))
    return Log(address, topics, encode(types, values), 1, 0)


@pytest.mark.parametrize("kind", ["euler_swap", "stableswap"])
def test_every_recorded_swap_is_explained(kind: str) -> None:
    """Of the 241 transactions, some in one block, all are explained; a sample of them in `make test`."""
    blocks = list(recorded_blocks(kind))
    chosen = Random(kind).sample(blocks, min(examples(25, full=len(blocks)), len(blocks)))
    explained = 0
    for block in chosen:
        found = block.verify()
        assert [(each.outcome, each.reason) for each in found] == [(Outcome.EQUAL, "")] * len(block.sent)
        for swap, (key, sold, bought, amount_in, amount_out) in zip(found, block.sent, strict=True):
            amounts = swap.event.amounts
            assert (swap.event.key, amounts.sold, amounts.bought) == (key, sold, bought)
            assert (amounts.amount_in, amounts.amount_out) == (amount_in, amount_out)
            explained += 1
    assert explained >= len(chosen)


def test_the_recorded_swaps_are_many_and_share_blocks() -> None:
    blocks = list(recorded_blocks())
    assert sum(len(block.sent) for block in blocks) == 241
    assert sum(len(block.sent) > 1 for block in blocks) > 40
    assert {pool.family for block in blocks for pool in block.pools.values()} == {
        "euler_swap", "curve_meta", "stableswap",
    }  # fmt: skip


@pytest.mark.parametrize(
    "foreign",
    [
        lambda vault, account: event_of(vault, _DEPOSIT, (STRANGER, account), ("uint256", "uint256"), 5, 5),
        lambda vault, account: event_of(vault, _BORROW, (account,), ("uint256",), 5),
        lambda vault, _: event_of(vault, "GovSetCaps(uint16,uint16)", (), ("uint16", "uint16"), 1, 1),
    ],
    ids=["deposit", "loan", "caps"],
)
def test_what_somebody_else_does_with_the_vaults_before_a_swap_is_reported(foreign: Any) -> None:
    """Also in the transaction of the swap."""
    for block in [each for each in recorded_blocks("euler_swap") if len(each.sent) == 1][:10]:
        (pool,) = block.pools.values()
        event = block.swaps(block.logs)[0]
        deposit = next(
            log for log in block.logs if log.topics[0] in map(topic_of, (_DEPOSIT, "Repay(address,uint256)"))
        )
        account = f"0x{deposit.topics[-1][-40:]}"
        change = foreign(pool.shared_states[-1].address, account)
        (found,) = block.verify(inserted(block.logs, 0, change))
        assert (found.outcome, found.reason.split(" (")[0]) == (Outcome.NOT_EXPLAINED, _FOREIGN)
        (found,) = block.verify(inserted(block.logs, event.first_log + 1, change))
        assert found.outcome is Outcome.EQUAL


def test_a_swap_that_lenders_allowed_is_quoted_without_their_limits() -> None:
    """They change with time: what the state at the parent block allows can be a little less."""
    for block in [each for each in recorded_blocks("euler_swap") if len(each.sent) == 1][:10]:
        (pool,) = block.pools.values()
        state = {**pool.state(), "deposits": ["0", "0"], "collateral": ["0", "0"], "collateral_rates": ["0", "0"]}
        poor = pool.from_state(pool.identity, state)
        with pytest.raises(InsufficientLiquidity):
            poor.swap(pool.tokens[block.sent[0][1]], pool.tokens[block.sent[0][2]], block.sent[0][3])
        (found,) = block.verify(pools={pool.key: poor})
        assert (found.outcome, found.quoted) == (Outcome.EQUAL, block.sent[0][4])


def test_what_somebody_else_does_with_a_base_pool_before_a_swap_is_reported() -> None:
    tried = 0
    for block in recorded_blocks("stableswap"):
        meta = block.swaps(block.logs)[0].key
        if block.pools[meta].family != "curve_meta":
            continue
        tried += 1
        base = block.pools[meta].shared_states[0].address
        arrays = ("uint256[]", "uint256[]", "uint256", "uint256")
        change = event_of(base, _ADD_LIQUIDITY, (STRANGER,), arrays, [5, 0], [0, 0], 1, 1)
        found = block.verify(inserted(block.logs, 0, change))[0]
        assert (found.outcome, found.reason.split(" (")[0]) == (Outcome.NOT_EXPLAINED, _FOREIGN)
    assert tried > 30


def test_an_amount_that_the_swap_did_not_pay_is_not_equal() -> None:
    tried = 0
    for kind in ("euler_swap", "stableswap"):
        for block in [each for each in recorded_blocks(kind) if len(each.sent) == 1][:12]:
            event = block.swaps(block.logs)[0]
            log = block.logs[event.first_log]
            words = [int.from_bytes(log.data[at : at + 32]) for at in range(0, len(log.data), 32)]
            place = words.index(event.amounts.amount_out)
            words[place] += 1
            changed = log._replace(data=b"".join(each.to_bytes(32) for each in words))
            logs = [changed if each is log else each for each in block.logs]
            (found,) = block.verify(logs)
            assert found.outcome is not Outcome.EQUAL
            tried += 1
    assert tried == 24


def test_a_pool_that_had_another_state_is_not_equal() -> None:
    for block in [each for each in recorded_blocks("stableswap") if len(each.sent) == 1][:10]:
        key = block.sent[0][0]
        pool = block.pools[key]
        state = pool.state()
        reserves = state["reserves"]
        assert isinstance(reserves, list)
        more = [*(str(int(each) * 3 // 2) for each in reserves[:-1]), reserves[-1]]
        wrong = pool.from_state(pool.identity, {**state, "reserves": more})
        found = block.verify(pools={**block.pools, key: wrong})
        assert found[0].outcome is Outcome.DIFFERENT


def test_a_swap_that_is_not_explained_leaves_pools_of_the_same_base_pool_unknown() -> None:
    block = next(
        each
        for each in recorded_blocks("stableswap")
        if len(each.sent) > 1 and len({swap[0] for swap in each.sent[:2]}) == 2
    )
    first = block.swaps(block.logs)[0]
    log = block.logs[first.first_log]
    lied = log._replace(data=log.data[:-32] + (first.amounts.amount_out + 1).to_bytes(32))
    found = block.verify([lied if each is log else each for each in block.logs])
    assert found[0].outcome is not Outcome.EQUAL
    assert found[1].outcome is Outcome.NOT_EXPLAINED


@pytest.mark.parametrize("kind", ["euler_swap", "stableswap"])
def test_earlier_swaps_alone_lead_from_the_parent_block_to_a_swap(kind: str) -> None:
    """So that a recording of them can be replayed; a swap in another pool that changed shared contracts prevents it."""
    alone = 0
    for block in recorded_blocks(kind):
        changed: set[str] = set()
        for swap in block.verify():
            assert swap.pool is not None
            shared = {each.address for each in swap.pool.shared_states}
            others = [key for key in changed if key != swap.event.key]
            if any(shared & {each.address for each in block.pools[key].shared_states} for key in others):
                assert swap.earlier is None
            if swap.earlier is not None:
                pool, amount_out = swap.earlier.pool_at_parent, 0
                for event in (*swap.earlier.swaps, swap.event):
                    sold, bought = (
                        each if isinstance(each, str) else pool.tokens[each]
                        for each in (event.amounts.sold, event.amounts.bought)
                    )
                    amount_out, pool = pool.swap(sold, bought, event.amounts.amount_in)
                assert amount_out == swap.event.amounts.amount_out
                alone += bool(swap.earlier.swaps)
            changed.add(swap.event.key)
    assert alone or kind == "stableswap"


def paid(name: str) -> Iterator[tuple[Pool, int, int, str, str]]:
    """Yield pools with swaps that their contracts paid: the amounts, and the tokens."""
    for swap in replay_recorded_swaps(vectors_file(name)):
        if swap.after is None or swap.expected is None:
            continue
        before, after = (each.state()["reserves"] for each in (swap.pool, swap.after))
        assert isinstance(before, list)
        assert isinstance(after, list)
        changes = [int(b) - int(a) for a, b in zip(before, after, strict=True)]
        sold = next(k for k, change in enumerate(changes) if change > 0)
        bought = next(k for k, change in enumerate(changes) if change < 0)
        yield swap.pool, changes[sold], swap.expected, swap.pool.tokens[sold], swap.pool.tokens[bought]


def verified(pool: Pool, kind: str, logs: Sequence[Log]) -> VerifiedSwap:
    numbered = [log._replace(log_index=number) for number, log in enumerate(logs)]
    (event,) = find_swaps(numbered)
    (found,) = verify_swaps(known_pools(kind, {pool.key: pool}), {}, numbered, {event.first_log})
    return found


def test_a_vault_of_gmx_keeps_its_books_before_the_event_of_a_swap() -> None:
    """In the order of `swap` in gmx-io/gmx-contracts @fe55c4b contracts/core/Vault.sol."""
    checked = 0
    for pool, amount_in, amount_out, sold, bought in list(paid("gmx_vault"))[:20]:
        books = [
            event_of(pool.address, f"{name}(address,uint256)", (), ("address", "uint256"), token, 7)
            for name, token in (
                ("UpdateFundingRate", sold),
                ("IncreaseUsdgAmount", sold),
                ("DecreaseUsdgAmount", bought),
                ("IncreasePoolAmount", sold),
                ("DecreasePoolAmount", bought),
            )
        ]
        fees = event_of(
            pool.address, "CollectSwapFees(address,uint256,uint256)", (), ("address", *["uint256"] * 2), sold, 1, 1
        )
        swap = event_of(
            pool.address,
            "Swap(address,address,address,uint256,uint256,uint256,uint256)",
            (),
            (*["address"] * 3, *["uint256"] * 4),
            *(STRANGER, sold, bought, amount_in, amount_out, amount_out, 30),
        )
        logs = [books[0], fees, *books[1:], swap]
        if verified(pool, "gmx_vault", [swap]).outcome is not Outcome.EQUAL:
            continue  # the vault counts what it takes in another way than its reserves change
        checked += 1
        assert verified(pool, "gmx_vault", logs).outcome is Outcome.EQUAL
        bought_usdg = event_of(
            pool.address, "BuyUSDG(address,address,uint256,uint256,uint256)", (), ("uint256",) * 5, *[0] * 5
        )
        assert verified(pool, "gmx_vault", [*books[1:4:2], bought_usdg, *logs]).outcome is Outcome.NOT_EXPLAINED
    assert checked > 5


def test_a_pair_of_smardex_announces_its_reserves_before_the_event_of_a_swap() -> None:
    """In the order of SmarDex-Dev/smart-contracts @132a9c8f contracts/core/SmardexPair.sol."""
    checked = 0
    for swap in replay_recorded_swaps(vectors_file("smardex")):
        pool, after = swap.pool, swap.after
        if (
            not isinstance(after, SmarDex)
            or not isinstance(pool, SmarDex)
            or swap.expected is None
            or not pool.keeps_protocol_fee
        ):
            continue
        change = [b - a for a, b in zip(pool.reserves, after.reserves, strict=True)]
        event = event_of(pool.address, "Swap(address,address,int256,int256)", (STRANGER,) * 2, ("int256",) * 2, *change)
        sync = event_of(pool.address, f"Sync({','.join(['uint256'] * 6)})", (), ("uint256",) * 6, *[1] * 6)
        assert verified(pool, "smardex", [sync, event]).outcome is Outcome.EQUAL
        assert verified(pool, "smardex", [sync, sync, event]).outcome is Outcome.NOT_EXPLAINED
        checked += 1
    assert checked > 5


def test_a_pair_of_ring_announces_its_reserves_before_the_event_of_a_swap() -> None:
    pool = valid_pool()
    amount_in = 10**18
    amount_out, _ = pool.swap(pool.tokens[0], pool.tokens[1], amount_in)
    wrapper = pool.shared_states[0].address
    wrap = event_of(wrapper, "Wrap(address,uint256,address)", (STRANGER,) * 2, ("uint256",), amount_in)
    sync = event_of(pool.address, "Sync(uint112,uint112)", (), ("uint112",) * 2, 1, 1)
    name = "Swap(address,uint256,uint256,uint256,uint256,address)"
    swap = event_of(pool.address, name, (STRANGER,) * 2, ("uint256",) * 4, amount_in, 0, 0, amount_out)
    assert verified(pool, "ring_pair", [wrap, sync, swap]).outcome is Outcome.EQUAL
    assert verified(pool, "ring_pair", [sync, wrap, sync, swap]).outcome is Outcome.NOT_EXPLAINED
