"""The output of a sync: progress bars on a terminal, text, and JSON documents."""

from __future__ import annotations

import json
import os
from dataclasses import replace

import pytest

from swapcli.faces.cli.commands.sync.view import build_sync_details, format_step
from swapcli.quoting.stores import StoreInfo
from swapcli.quoting.syncing.results import ChainStep, SyncResult
from swapcli.state.rpc.node import BlockHeader
from swapcli.state.store import open_store
from swapcli.state.sync import Advance, SkipReason
from tests.chain.failure_modes import check_secrets_hidden
from tests.faces.cli.commands.sync.scene import Scene
from tests.state.store.build import only
from tests.support.service_process import TIMEOUT_S
from tests.support.testnet import NOW_S


@pytest.mark.parametrize("color", ["never", "always"])
def test_progress_bars_are_drawn_on_stderr_only(scene: Scene, color: str) -> None:
    ours, theirs = os.openpty()
    with scene.running("--json", "--color", color, stderr=theirs) as process:
        os.close(theirs)
        assert process.stdout is not None
        out, drawn = process.stdout.read(), b""
        try:
            while read := os.read(ours, 65_536):
                drawn += read
        except OSError:  # the terminal is closed
            pass
        finally:
            os.close(ours)
        assert process.wait(timeout=TIMEOUT_S) == 0
    reported = json.loads(out)
    text = drawn.decode()
    assert "creation events" in text
    assert f"{reported['pools']:,} pools, block {reported['state']['block']:,}" in text
    assert ("\x1b[3" in text) == (color == "always")
    check_secrets_hidden(text)


OMISSIONS = (SkipReason("no \x1b[31mreason", 1_200, ("0xa\x1b", "0xb")), SkipReason("thin", 1, ("0xc",)))
BLOCK = BlockHeader(123, "0x" + "ab" * 32, "0x" + "cd" * 32, int(NOW_S) - 90, 7)


def synced(scene: Scene) -> SyncResult:
    scene.sync()
    with open_store(str(scene.file), only(scene.network)) as store:
        return SyncResult(StoreInfo(store.read_summary(), NOW_S), 3, OMISSIONS, 1.5)


def test_the_text_of_a_sync_has_no_control_characters(scene: Scene) -> None:
    result = synced(scene)
    document, sheet = result.document(), build_sync_details(result, scene.network)
    assert document["poolsPerSecond"] == 2.0
    assert document["skipped"] == [
        {"reason": OMISSIONS[0].reason, "count": 1_200, "examples": ["0xa\x1b", "0xb"]},
        {"reason": "thin", "count": 1, "examples": ["0xc"]},
    ]
    assert sheet.lists[-1].rows == (("no ?[31mreason", "1,200", "0xa?"), ("thin", "1", "0xc"))
    assert json.loads(json.dumps(document)) == document
    assert replace(result, seconds=0.0).document()["poolsPerSecond"] == 0.0


@pytest.mark.parametrize(
    ("advance", "words"),
    [
        (Advance(BLOCK), "block 123: 0 pools read again"),
        (Advance(BLOCK, ("a",), ("b", "c")), "block 123: 1 pool read again, 2 pools new"),
        (
            Advance(BLOCK, ("a", "b"), (), ("c",), ("d",), 120),
            "block 123: rewound to 120, 2 pools read again, 1 pool gone, "
            "1 pool changed without an event and was corrected",
        ),
        (
            Advance(BLOCK, changed_without_event=("a", "b")),
            "block 123: 0 pools read again, 2 pools changed without an event and were corrected",
        ),
        (
            Advance(BLOCK, changed_without_event=("a",), unexplained=("a\x1b",)),
            "block 123: 0 pools read again, 1 pool changed without an event and was corrected, "
            "of an unknown version, and now read at every block: a?",
        ),
    ],
)
def test_an_advance_is_shown_as_text_and_as_a_document(advance: Advance, words: str) -> None:
    step = ChainStep("anvil", advance)
    assert format_step(step) == words
    document = step.document()
    facts = {
        "rewoundTo": advance.rewound_to,
        "touched": list(advance.changed),
        "added": list(advance.added),
        "removed": list(advance.removed),
        "drifted": list(advance.changed_without_event),
        "unexplained": list(advance.unexplained),
    }
    assert document == {
        "network": "anvil",
        "block": 123,
        "hash": BLOCK.hash,
        "timestamp": BLOCK.timestamp,
        **{name: fact for name, fact in facts.items() if fact},
    }
