"""Folders for stores: a killed process leaves one, and the next process removes it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from swapcli.state.temporary_folders import store_folder

_OLD_S = 1_000_000_000
_HOLD = """
import os, sys, time
from swapcli.state.temporary_folders import store_folder
with store_folder(sys.argv[1]) as folder:
    (folder / "copy").write_bytes(b"x")
    if os.fork():
        print(folder, flush=True)
    time.sleep(60.0)
"""


def test_what_a_killed_process_has_left_is_removed_once_its_children_have_ended(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as killed:
        assert killed.stdout
        left = Path(killed.stdout.readline().strip())
        killed.kill()
        os.utime(left, (_OLD_S, _OLD_S))
        try:
            with store_folder(str(tmp_path)):
                assert left.exists()
        finally:
            os.killpg(killed.pid, 9)
        killed.stdout.read()  # it ends with the child
    with store_folder(str(tmp_path)) as folder:
        assert list(tmp_path.iterdir()) == [folder]
    assert not list(tmp_path.iterdir())


def test_a_folder_that_another_process_has_just_made_stays(tmp_path: Path) -> None:
    new = tmp_path / "swapcli-stores-new"
    new.mkdir()
    with store_folder(str(tmp_path)):
        assert new.exists()
