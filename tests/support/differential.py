"""Compare a family with a contract on a chain: the same swaps in both, with the pool read as from a node each time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from random import Random

from swapcli.core.errors import PoolError
from swapcli.core.model.network import ProtocolInfo
from swapcli.core.model.pool import Pool
from swapcli.families.reading.calls import ContractCall, ReturnData
from swapcli.families.reading.contract_kinds import KINDS
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import run_batched
from swapcli.families.reading.pool_readers import pool_reader
from swapcli.families.reading.pool_ref import PoolRef
from tests.contracts.evm import BaseChain, RevertedError


class ContractPool(ABC):
    """A pool contract on a chain. Tests of a family deploy theirs, and say how it is sold to."""

    @abstractmethod
    def read(self) -> Pool:
        """Return the pool by the reader of its kind: see `read_pool`."""

    @abstractmethod
    def sell(self, token_in: str, token_out: str, amount_in: int) -> int | None:
        """Swap on the chain, and return what was paid; None, and nothing happens, if the contract reverts."""

    def pass_time(self, rng: Random) -> None:
        """Let time pass before a swap, or change prices, for contracts whose swaps depend on them."""
        del rng


def read_pool(chain: BaseChain, kind: str, address: str, decimals: tuple[int, ...]) -> Pool:
    """Read a pool as from a node: its reference by a factory, then its state."""
    family = KINDS[kind].families[0]
    factory, reader = Factory(address, kind, (ProtocolInfo(1, "test", "Test", family),)), pool_reader(kind)
    (ref,) = run_batched([(address, reader.read_constants(factory, address))], _sender(chain))
    assert isinstance(ref, PoolRef), ref
    return load_pool(chain, kind, ref._replace(decimals=decimals))


def load_pool(chain: BaseChain, kind: str, ref: PoolRef) -> Pool:
    """Read the state of a pool as from a node."""
    (pool,) = run_batched([(ref.address, pool_reader(kind).load(ref))], _sender(chain))
    assert isinstance(pool, Pool), pool
    return pool


def compare_swaps(contract: ContractPool, rng: Random, swaps: int, max_exponent: float = 25.0) -> int:
    """Swap random amounts both ways and return how many were paid; amounts and states afterwards must be equal.

    An amount is 10 to the power of 0 to `max_exponent` base units.
    """
    paid = 0
    for _ in range(swaps):
        contract.pass_time(rng)
        pool = contract.read()
        token_in, token_out = rng.sample(pool.tokens, 2)
        amount_in = int(10 ** rng.uniform(0, max_exponent))
        try:
            amount_out, after = pool.swap(token_in, token_out, amount_in)
        except PoolError:
            assert not contract.sell(token_in, token_out, amount_in), (pool, token_in, amount_in)
            continue
        assert contract.sell(token_in, token_out, amount_in) == amount_out, (pool, token_in, amount_in)
        assert contract.read() == after
        paid += 1
    return paid


def _sender(chain: BaseChain) -> Callable[[Sequence[ContractCall]], list[ReturnData]]:
    return lambda calls: [_answer(chain, call) for call in calls]


def _answer(chain: BaseChain, call: ContractCall) -> ReturnData:
    try:
        return chain.call(call.to, call.calldata)
    except RevertedError:
        return None
