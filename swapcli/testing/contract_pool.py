"""Compare a family with its contract on a chain: run the same swaps in both, and read the pool as if from a node."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from importlib import metadata
from random import Random
from typing import TypeVar

from swapcli.core.errors import PoolError
from swapcli.core.model.network import ProtocolInfo
from swapcli.core.model.pool import Pool
from swapcli.core.plugins import FAMILY_GROUP, skipped_plugin
from swapcli.families import is_family, is_kind, reader_name
from swapcli.families.reading.call_encoding import signature_of
from swapcli.families.reading.calls import ContractCall, ReturnData
from swapcli.families.reading.contract_kinds import KINDS
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead, SkippedItem, run_batched
from swapcli.families.reading.pool_readers import PoolReader, pool_reader
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.testing.evm import BaseChain, Chain, RevertedError, selector
from swapcli.testing.pool_laws import swap_or_refuse

T = TypeVar("T")


class ContractPool(ABC):
    """A pool contract on a chain. A family's tests deploy it, and define how to read it and swap in it."""

    @abstractmethod
    def read(self) -> Pool:
        """Return the pool, read with the reader of its kind: see `read_pool`."""

    @abstractmethod
    def sell(self, token_in: str, token_out: str, amount_in: int) -> int | None:
        """Swap on the chain and return the output in base units; None, with no change, if it reverts."""

    def pass_time(self, rng: Random) -> None:
        """Let time pass before a swap, or change prices, for contracts whose swaps depend on time or prices."""
        del rng


def read_pool(chain: BaseChain, kind: str, address: str, decimals: tuple[int, ...]) -> Pool:
    """Read a pool as if from a node: first its reference from a factory, then its state."""
    require_kind(kind)
    family = KINDS[kind].families[0]
    factory, reader = Factory(address, kind, (ProtocolInfo(1, "test", "Test", family),)), require_reader(kind)
    (ref,) = run_batched([(address, reader.read_constants(factory, address))], _sender(chain))
    assert isinstance(ref, PoolRef), ref
    return load_pool(chain, kind, ref._replace(decimals=decimals))


def require_family(name: str) -> None:
    """Require that swapcli finds a family; the error message has the reason if its package was skipped."""
    assert is_family(name), f'swapcli has no family named "{name}": {_why_not_found([name])}'


def require_kind(kind: str) -> None:
    """Require that swapcli finds a kind of contract, like `require_family`."""
    if is_kind(kind):
        return
    names = [entry.name for entry in metadata.entry_points(group=FAMILY_GROUP)]
    for name in names:  # the kinds of a package are known once one of its families has been found
        is_family(name)
    assert is_kind(kind), f'swapcli has no kind of contract named "{kind}": {_why_not_found([kind, *names])}'


def require_reader(kind: str) -> PoolReader:
    """Return the reader of a kind; if there is none, the error message names its expected module."""
    try:
        return pool_reader(kind)
    except ModuleNotFoundError as error:
        module = reader_name(kind)
        if error.name != module:
            raise
        package, _, name = module.rpartition(".")
        problem = f'the kind "{kind}" has no reader: write it in {name}.py beside the class, in the package {package}'
        raise AssertionError(problem) from None


def _why_not_found(names: Sequence[str]) -> str:
    reasons = [reason for name in dict.fromkeys(names) if (reason := skipped_plugin(FAMILY_GROUP, name))]
    return "; ".join(reasons) or "install its package, pip install -e ."


def load_pool(chain: BaseChain, kind: str, ref: PoolRef) -> Pool:
    """Read the state of a pool as if from a node."""
    (pool,) = run_batched([(ref.address, require_reader(kind).load(ref))], _sender(chain))
    assert isinstance(pool, Pool), pool
    return pool


def read_answers(read: BatchRead[T], answers: Mapping[str, ReturnData]) -> T | SkippedItem:
    """Run a reader on recorded return data. `answers` maps function signatures to the data, None if the call reverts.

    If the reader rejects the data, the result is a `SkippedItem` with the reason. Raises `KeyError`, with the
    function's name, for any other function.
    """
    known = {selector(signature): data for signature, data in answers.items()}

    def answer(call: ContractCall) -> ReturnData:
        if call.calldata[:4] not in known:
            raise KeyError(
                f"the reader calls {signature_of(call.calldata)}; answers are given for {', '.join(answers)}"
            )
        return known[call.calldata[:4]]

    (found,) = run_batched([("pool", read)], lambda calls: [answer(call) for call in calls])
    return found


def compare_swaps(
    contract: ContractPool, rng: Random, swaps: int, max_exponent: float = 25.0, name: str = "the contract"
) -> int:
    """Require that random swaps in both directions pay the same in the contract and the family, and end in equal
    states. Return how many swaps paid.

    An amount is 10 to the power of 0 to `max_exponent` base units. `name` begins the message of a failure.
    """
    paid = 0
    for number in range(swaps):
        contract.pass_time(rng)
        pool = contract.read()
        token_in, token_out = rng.sample(pool.tokens, 2)
        amount_in = _random_amount(rng, max_exponent)
        swapped = swap_or_refuse(pool, (token_in, token_out), amount_in)
        sold = contract.sell(token_in, token_out, amount_in) or None
        amount_out, after = swapped or (None, pool)
        trade = f"{name}, swap {number}: {amount_in} of {token_in} for {token_out}"
        assert sold == amount_out, (
            f"{trade}: {_outcomes(contract, sold, pool, (token_in, token_out), amount_in)}\n{pool}"
        )
        if amount_out is None:
            continue
        assert contract.read() == after, f"{trade}: the states after the swap differ"
        paid += 1
    return paid


def record_swaps(contract: ContractPool, rng: Random, swaps: int, max_exponent: float = 25.0) -> dict[str, object]:
    """Swap random amounts like `compare_swaps`, and return the contract's outputs as an entry for the `pools` of a file
    of recorded swaps.

    `write_vectors` writes them into a file. The pool's own `swap` is not called.
    """
    pool = contract.read()
    state = pool.state()
    steps: list[dict[str, object]] = []
    for _ in range(swaps):
        contract.pass_time(rng)
        before = contract.read()
        sold, bought = rng.sample(range(len(before.tokens)), 2)
        amount_in = _random_amount(rng, max_exponent)
        amount_out = contract.sell(before.tokens[sold], before.tokens[bought], amount_in)
        step: dict[str, object] = {"sold": sold, "bought": bought, "amount_in": str(amount_in), "amount_out": None}
        if before.state() != state:
            step["state"] = state = before.state()
        if amount_out:
            step |= {"amount_out": str(amount_out), "state_after": (state := contract.read().state())}
        steps.append(step)
    return {
        "family": pool.family, "address": pool.address, "tokens": list(pool.tokens), "decimals": list(pool.decimals),
        "fee_ppm": pool.fee_ppm, "state": pool.state(), "steps": steps,
    }  # fmt: skip


def _outcomes(contract: ContractPool, sold: int | None, pool: Pool, way: tuple[str, str], amount_in: int) -> str:
    """Return the contract's and the pool's outputs, or why they failed, for the message of a failure."""
    chain = getattr(contract, "chain", None)
    reason = f" ({chain.last_revert})" if isinstance(chain, Chain) and chain.last_revert else ""
    paid = f"the contract pays nothing{reason}" if sold is None else f"the contract pays {sold}"
    try:
        return f"{paid}, the pool pays {pool.swap(*way, amount_in)[0]}"
    except PoolError as error:
        return f"{paid}, the pool does not: {error}"


def _random_amount(rng: Random, max_exponent: float) -> int:
    return int(10 ** rng.uniform(0, max_exponent))


def _sender(chain: BaseChain) -> Callable[[Sequence[ContractCall]], list[ReturnData]]:
    return lambda calls: [_answer(chain, call) for call in calls]


def _answer(chain: BaseChain, call: ContractCall) -> ReturnData:
    try:
        return chain.call(call.to, call.calldata)
    except RevertedError:
        return None
