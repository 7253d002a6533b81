"""Receipts: those of transactions that are not mined yet, and malformed ones, each have their error."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from swapcli.core.errors import InvalidUpstreamResponse, NotMined, UpstreamError
from swapcli.state.rpc.receipt import not_mined
from tests.chain.node.responses import answer
from tests.chain.node.server import Refused, Server, node_of, serving


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(answer) as running:
        yield running


MINED = "0x" + "ab" * 32
RECEIPT = {
    "transactionHash": MINED,
    "blockNumber": "0x6",
    "blockHash": f"0x{6:064x}",
    "status": "0x1",
    "gasUsed": "0x30d40",
    "effectiveGasPrice": "0x7",
    "logs": [],
}
PENDING = {"blockNumber": None, "blockHash": None}


@pytest.mark.parametrize(
    ("changes", "kind", "problem"),
    [
        (PENDING, NotMined, "is pending: it is not mined yet"),
        ({"blockHash": None}, NotMined, "is pending"),
        (PENDING | {"logs": None, "status": None}, NotMined, "is pending"),
        ({"blockHash": "0x" + "00" * 32}, NotMined, "is only preconfirmed: it is not mined yet"),
        ({"logs": None}, InvalidUpstreamResponse, "a receipt without events"),
        ({"logs": [None]}, InvalidUpstreamResponse, "an event that is not an object"),
        ({"blockHash": "0x77"}, InvalidUpstreamResponse, "not a 32-byte word"),
        ({"blockNumber": 6}, InvalidUpstreamResponse, "not a number"),
        ({"status": None}, InvalidUpstreamResponse, "not a number"),
        ({"transactionHash": "0x" + "cd" * 32}, InvalidUpstreamResponse, "the receipt of a different transaction"),
    ],
)
def test_an_odd_receipt_is_named(
    server: Server, changes: dict[str, object], kind: type[UpstreamError], problem: str
) -> None:
    server.answering = lambda _: RECEIPT | changes
    with node_of(server) as node, pytest.raises(kind, match=problem) as caught:
        node.read_receipt(MINED)
    assert caught.value.is_retryable is (kind is NotMined)


@pytest.mark.parametrize(
    ("found", "is_pending"),
    [(None, False), ({"hash": MINED, "blockNumber": None}, True), (Refused(-32_601, "no"), False)],
)
def test_a_transaction_without_a_receipt_may_be_pending(server: Server, found: object, is_pending: bool) -> None:
    def answering(request: dict[str, Any]) -> object:
        if request["method"] == "eth_getTransactionReceipt":
            return None
        if isinstance(found, Refused):
            raise found
        return found

    server.answering = answering
    with node_of(server) as node:
        if is_pending:
            with pytest.raises(NotMined, match="is pending"):
                node.read_receipt(MINED)
        else:
            assert node.read_receipt(MINED) is None


def test_the_error_is_about_its_transaction() -> None:
    assert not_mined(MINED, "is pending").details == {"transaction": MINED}
