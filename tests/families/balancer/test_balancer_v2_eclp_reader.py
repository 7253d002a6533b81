"""E-CLPs of Balancer V2 are found and read, with the rates of their providers.

No artifact of their pools is published: eth_abi encodes the results, with the types of the published sources.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from eth_abi.abi import encode

from swapcli.core.networks.catalogue import find_network
from swapcli.families.balancer import balancer_v2_reader as balancer_v2
from swapcli.families.reading.call_encoding import encode_call
from swapcli.families.reading.calls import ContractCall, Log, ReturnData
from swapcli.families.reading.contract_kinds import KINDS
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead, SkippedItem, run_batched
from swapcli.families.reading.pool_readers import ref_of_pool
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.testing.strategies import ADDRESS, TOKENS
from tests.families.balancer.test_balancer_v2_eclp import POOL_ID, build
from tests.families.recorded import read_vectors
from tests.support.outside_ids import topic_of

VAULT = "0xba12222222228d8ba445958a75a0704d566bf2c8"
ZERO, PROVIDER = "0x" + "00" * 20, "0x" + "9a" * 20
RATE = 1_050_000_000_000_000_007
RESERVES = (3 * 10**23, 10**24)


class Answers:
    """Results of calls; any other call reverts."""

    def __init__(self, provider: str = ZERO, is_paused: bool = False) -> None:
        recorded = read_vectors("balancer_v3_gyro_eclp")["pools"][0]
        params, derived = recorded["params_1e18"], recorded["derived_1e38"]
        points = [int(component) for name in ("tau_alpha", "tau_beta") for component in derived[name]]
        numbers = [int(params[name]) for name in ("alpha", "beta", "c", "s", "lambda")]
        numbers += points + [int(derived[name]) for name in ("u", "v", "w", "z", "d_sq")]
        tokens = encode(["address[]", "uint256[]", "uint256"], [TOKENS[:2], RESERVES, 0])
        self.rounds = 0
        self.results: dict[tuple[str, bytes], bytes] = {
            (VAULT, encode_call("getPoolTokens(bytes32)", POOL_ID)): tokens,
            (ADDRESS, encode_call("getPoolId()")): bytes.fromhex(POOL_ID[2:]),
            (ADDRESS, encode_call("getVault()")): encode(["address"], [VAULT]),
            (ADDRESS, encode_call("getECLPParams()")): encode(["int256"] * 14, numbers),
            (ADDRESS, encode_call("getSwapFeePercentage()")): encode(["uint256"], [10**15]),
            (ADDRESS, encode_call("getPausedState()")): encode(["bool", "uint256", "uint256"], [is_paused, 0, 0]),
            (ADDRESS, encode_call("rateProvider0()")): encode(["address"], [provider]),
            (ADDRESS, encode_call("rateProvider1()")): encode(["address"], [ZERO]),
        }
        if provider == PROVIDER:
            self.results[PROVIDER, encode_call("getRate()")] = encode(["uint256"], [RATE])

    def read(self, read: BatchRead[Any]) -> Any:
        (result,) = run_batched([(ADDRESS, read)], self._call)
        return result

    def register(self) -> Any:
        base = find_network("base")
        protocols = tuple(each for each in base.protocols if "balancer_v2" in _kinds(each.family))
        topic = topic_of(KINDS["balancer_v2"].created[0])
        log = Log(VAULT, (topic, POOL_ID, f"0x{ADDRESS[2:]:0>64}"), b"", 1, 0)
        return self.read(balancer_v2.read_created(Factory(VAULT, "balancer_v2", protocols), log, None))

    def _call(self, calls: Sequence[ContractCall]) -> list[ReturnData]:
        self.rounds += 1
        return [self.results.get((call.to, call.calldata)) for call in calls]


def _kinds(family: str | None) -> list[str]:
    return [kind for kind, traits in KINDS.items() if family in traits.families]


def test_a_registered_eclp_is_found_and_read() -> None:
    answers = Answers()
    ref = answers.register()
    assert isinstance(ref, PoolRef)
    assert (ref.family, ref.protocol, ref.tokens) == ("balancer_v2_eclp", "balancerGyroECLP", TOKENS[:2])
    answers.rounds = 0
    pool = answers.read(balancer_v2.load(ref._replace(decimals=(18, 18))))
    assert answers.rounds == 1
    assert pool.state() == build(0, RESERVES, fee_ppm=1000).state()
    known = ref_of_pool(pool, find_network("base"))
    assert known is not None
    assert answers.read(balancer_v2.load(known)) == pool


def test_rates_are_read_from_their_providers() -> None:
    answers = Answers(PROVIDER)
    pool = answers.read(balancer_v2.load(answers.register()._replace(decimals=(18, 18))))
    assert pool.rates == (RATE, 10**18)
    assert pool.changes_without_events


@pytest.mark.parametrize(
    ("answers", "reason"),
    [(Answers(is_paused=True), "the pool is paused"), (Answers("0x" + "77" * 20), "getRate()")],
)
def test_an_eclp_that_cannot_swap_is_left_out(answers: Answers, reason: str) -> None:
    skipped = answers.read(balancer_v2.load(answers.register()._replace(decimals=(18, 18))))
    assert isinstance(skipped, SkippedItem)
    assert reason in skipped.reason
