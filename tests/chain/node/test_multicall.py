"""Many calls in few give what each call gives alone."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from swapcli.chain.contract_functions import encode_call
from swapcli.chain.multicall import BlockReader
from swapcli.chain.node import BlockHeader, BlockId, ContractCall, ReturnData
from swapcli.errors import Unreachable, UpstreamRejected
from tests.chain.node.evm_node import BLOCK, EvmNode, deploy_multicall, sources
from tests.contracts.evm import Chain

NOWHERE = "0x" + "77" * 20
FAILING, ANSWERING = encode_call("token0()"), encode_call("token1()")


class Strict(EvmNode):
    """Refuses what is too large for it, as nodes do."""

    most_bytes = 10**9

    def batch(self, calls: Sequence[ContractCall], at: BlockId) -> list[ReturnData]:
        if any(len(call.calldata) > self.most_bytes for call in calls):
            raise UpstreamRejected("the node refuses: request too large")
        return super().batch(calls, at)


@pytest.fixture
def chain() -> Chain:
    return Chain()


def questions(chain: Chain, count: int) -> list[ContractCall]:
    """A contract that answers, one that burns all gas, and an address without code, in turn."""
    burner = chain.deploy(sources()["Burner"]).address
    kinds = [ContractCall(burner, ANSWERING), ContractCall(burner, FAILING), ContractCall(NOWHERE, ANSWERING)]
    return [kinds[k % 3] for k in range(count)]


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_answers_are_those_of_the_calls_alone(chain: Chain, count: int) -> None:
    asked = questions(chain, count)
    alone = EvmNode(chain).batch(asked, BLOCK)
    assert BlockReader(EvmNode(chain), BLOCK, deploy_multicall(chain)).call(asked) == alone


def test_many_calls_go_in_one_and_only_those_that_failed_are_asked_again(chain: Chain) -> None:
    node = EvmNode(chain)
    answering = [each for each in questions(chain, 300) if each.calldata == ANSWERING]
    BlockReader(node, BLOCK, deploy_multicall(chain)).call(answering)
    assert node.asked == [1]
    BlockReader(node, BLOCK, deploy_multicall(chain)).call([*answering, ContractCall(answering[0].to, b"")])
    assert node.asked == [1, 1, 1]


def test_without_the_contract_calls_go_as_they_are(chain: Chain) -> None:
    asked = questions(chain, 6)
    node = EvmNode(chain)
    view = BlockReader(node, BLOCK, NOWHERE)
    alone = EvmNode(chain).batch(asked, BLOCK)
    assert view.call(asked) == alone
    assert view.call(asked) == alone
    assert node.asked == [1, 1, 6, 6], "that it is missing is found once"


def test_what_is_too_large_for_the_node_is_asked_in_smaller_parts(chain: Chain) -> None:
    node = Strict(chain)
    node.most_bytes = 10_000
    asked = [each for each in questions(chain, 600) if each.calldata == ANSWERING]
    assert BlockReader(node, BLOCK, deploy_multicall(chain)).call(asked) == EvmNode(chain).batch(asked, BLOCK)


def test_a_node_that_refuses_everything_is_given_up(chain: Chain) -> None:
    node = Strict(chain)
    node.most_bytes = 0
    with pytest.raises(UpstreamRejected, match="too large"):
        BlockReader(node, BLOCK, deploy_multicall(chain)).call(questions(chain, 3))


def test_a_node_that_is_down_is_not_asked_for_ever_less(chain: Chain) -> None:
    class Down(Strict):
        def block(self, number: int) -> BlockHeader | None:
            raise Unreachable(f"no connection, not even for block {number}")

    node = Down(chain)
    node.most_bytes = 0
    with pytest.raises(Unreachable):
        BlockReader(node, BLOCK, deploy_multicall(chain)).call(questions(chain, 3))
