"""Events of pools and factories are those of published ABIs: `events.json` has topics, indexed places and sources."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from swapcli.families.balancer.rows import balancer_id_in_first_topic
from swapcli.families.order_books.rows import clober_book_in_first_topic
from swapcli.families.reading.calls import Log
from swapcli.families.reading.contract_kinds import KINDS, topic_of
from swapcli.families.row import address_in_first_topic, first_topic
from swapcli.state.mined.swap_events import swap_shapes
from tests.support import outside_ids

EVENTS: Final[dict[str, dict[str, Any]]] = {
    each["signature"]: each for each in json.loads(Path(__file__).with_name("events.json").read_text())
}
NOT_YET_SEEN: Final = {
    "SetFee(uint24,uint24)",
    "FeeAdjustment(uint24,uint24)",
    "NewParameters(uint256,uint256,uint256,uint256,uint256,uint256,uint256)",
    "ClaimAdminFee(address,uint256[3])",
}
"""Events of Solidly V3, Ramses and older versions of Curve that no source has yet. The set may only become smaller."""
SWAPS_NOT_YET_SEEN: Final = {
    "Swap(address,uint256,uint256,uint256,uint256,uint112,uint112,address)",
    "Swap(address,address,address,address,uint256,uint256,uint256)",
}
"""Those of EulerSwap's first version and of Spark's PSM."""
_KEY_IN_FIRST_TOPIC: Final = {
    first_topic,
    address_in_first_topic,
    balancer_id_in_first_topic,
    clober_book_in_first_topic,
}


def _signatures() -> Iterator[tuple[str, str]]:
    for kind, traits in KINDS.items():
        for signature in (*traits.events, *traits.created, *traits.parts, *traits.harmless):
            if "(" in signature:
                yield kind, signature


def test_every_event_is_one_of_a_published_abi() -> None:
    assert {signature for _, signature in _signatures()} - EVENTS.keys() == NOT_YET_SEEN
    topics = {each["topic"] for each in EVENTS.values()}
    assert swap_shapes().keys() - topics == set(map(outside_ids.topic_of, SWAPS_NOT_YET_SEEN))
    followed = {outside_ids.topic_of(signature) for _, signature in _signatures()}
    assert topics <= followed | swap_shapes().keys()
    assert all(each["source"] for each in EVENTS.values())


@pytest.mark.parametrize("signature", EVENTS)
def test_a_topic_is_the_published_one(signature: str) -> None:
    assert topic_of(signature) == EVENTS[signature]["topic"] == outside_ids.topic_of(signature)


def test_a_key_in_the_first_topic_is_indexed_in_the_abi() -> None:
    for kind, traits in KINDS.items():
        for signature, key_of in traits.events.items():
            if signature in EVENTS and key_of in _KEY_IN_FIRST_TOPIC:
                assert 0 in EVENTS[signature]["indexed"], (kind, signature)


def test_a_recorded_balancer_id_begins_with_the_address() -> None:
    creations = json.loads(Path(__file__).with_name("creations.json").read_text())
    (recorded,) = (each for each in creations if each["kind"] == "balancer_v2")
    log = Log("0xba12222222228d8ba445958a75a0704d566bf2c8", ("0x", recorded["id"]), b"", 1, 0)
    assert balancer_id_in_first_topic(log) == recorded["pool"]


def test_a_topic_on_starknet_is_the_published_selector() -> None:
    # starkware-libs/sequencer@60161ba7 crates/apollo_starknet_client/resources/reader/block_post_0_13_1.json
    for name, selector in {
        "Swapped": 0x157717768ACA88DA4AC4279765F09F4D0151823D573537FBBEB950CDBD9A870,
        "Sync": 0xE14A408BAF7F453312EEC68E9B7D728EC5337FBDF671F917EE8C80F3255232,
    }.items():
        assert int(topic_of(name), 16) == selector
