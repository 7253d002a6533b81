"""A file keeps what it is to others when it is written: its links, its mode and its owner."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from swapcli.state.file_writing import write_file

OTHER_USER = 12345


def test_a_new_file_gets_the_mode_under_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_file(str(tmp_path / "plain"), b"new")
        write_file(str(tmp_path / "secret"), b"new", mode=0o600, durable=True)
    finally:
        os.umask(before)
    assert [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("plain", "secret")] == [0o640, 0o600]
    assert sorted(each.name for each in tmp_path.iterdir()) == ["plain", "secret"]


@pytest.mark.parametrize("durable", [False, True])
def test_the_file_behind_links_is_written(tmp_path: Path, durable: bool) -> None:
    real, folder = tmp_path / "real" / "file", tmp_path / "links"
    real.parent.mkdir()
    folder.mkdir()
    real.write_bytes(b"old")
    (folder / "near").symlink_to("../real/file")
    (folder / "far").symlink_to("near")
    write_file(str(folder / "far"), b"new", durable=durable)
    assert real.read_bytes() == b"new"
    assert [(folder / name).is_symlink() for name in ("near", "far")] == [True, True]
    assert [each.name for each in real.parent.iterdir()] == ["file"]
    assert sorted(each.name for each in folder.iterdir()) == ["far", "near"]


def test_a_link_to_a_missing_file_creates_it(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("target")
    write_file(str(tmp_path / "link"), b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_bytes() == b"new"


def test_a_link_that_leads_to_itself_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(OSError, match="symbolic links"):
        write_file(str(tmp_path / "loop"), b"new")
    assert (tmp_path / "loop").is_symlink()


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o755, 0o2660])
def test_an_existing_file_keeps_its_mode(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"old")
    file.chmod(mode)
    write_file(str(file), b"new", mode=0o600)
    assert (file.read_bytes(), stat.S_IMODE(file.stat().st_mode)) == (b"new", mode)


def test_both_names_of_a_file_get_the_content(tmp_path: Path) -> None:
    file, second = tmp_path / "file", tmp_path / "second"
    file.write_bytes(b"old and longer")
    second.hardlink_to(file)
    write_file(str(second), b"new")
    assert file.read_bytes() == b"new"
    assert file.samefile(second)


def test_a_reader_keeps_the_old_content(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"old")
    with file.open("rb") as reader:
        write_file(str(file), b"new")
        assert reader.read() == b"old"


def test_a_pipe_gets_the_content(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_file(str(tmp_path / "pipe"), b"new")
        assert os.read(reader, 9) == b"new"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_the_file_behind_a_descriptor_is_written(tmp_path: Path) -> None:
    """As with `--output /dev/stdout > file`, also after the file was removed."""
    with (tmp_path / "file").open("w+b") as stream:
        write_file(f"/proc/self/fd/{stream.fileno()}", b"new")
        assert (tmp_path / "file").read_bytes() == b"new"
        (tmp_path / "file").unlink()
        write_file(f"/proc/self/fd/{stream.fileno()}", b"unnamed")
        assert stream.read() == b"unnamed"
    assert not list(tmp_path.iterdir())


def test_an_existing_file_keeps_its_owner(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"old")
    if os.geteuid() == 0:  # others cannot give files away
        os.chown(file, OTHER_USER, OTHER_USER + 1)
    file.chmod(0o640)
    before = file.stat()
    write_file(str(file), b"new")
    after = file.stat()
    assert (after.st_uid, after.st_gid, after.st_mode) == (before.st_uid, before.st_gid, before.st_mode)
    assert file.read_bytes() == b"new"


def test_a_file_that_cannot_be_replaced_is_written_in_place() -> None:
    """A file of root that everyone may write, and one in a folder where no file can be created."""
    with TemporaryDirectory() as parent:
        shared, locked = Path(parent, "shared"), Path(parent, "locked")
        for folder in (shared, locked):
            folder.mkdir()
            (folder / "file").write_bytes(b"old and longer")
            (folder / "file").chmod(0o666)
        Path(parent).chmod(0o755)
        shared.chmod(0o777)
        locked.chmod(0o555)
        files = (shared / "file", locked / "file")
        before = [file.stat() for file in files]
        is_root = os.geteuid() == 0
        if is_root:
            os.seteuid(OTHER_USER)
        try:
            for file in files:
                write_file(str(file), b"new")
        finally:
            if is_root:
                os.seteuid(0)
            locked.chmod(0o755)
        assert [file.read_bytes() for file in files] == [b"new", b"new"]
        assert [file.stat().st_uid for file in files] == [each.st_uid for each in before]
        assert [len(list(folder.iterdir())) for folder in (shared, locked)] == [1, 1]


def test_a_full_disk_leaves_the_old_content(tmp_path: Path) -> None:
    """A process that may write only 4 bytes per file stands for a full disk."""
    file = tmp_path / "file"
    file.write_bytes(b"old")
    program = (
        "import resource, signal, sys\n"
        "from swapcli.state.file_writing import write_file\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4, 4))\n"
        "write_file(sys.argv[1], b'too long')\n"
    )
    ran = subprocess.run([sys.executable, "-c", program, str(file)], capture_output=True, text=True, check=False)
    assert "OSError: [Errno 27]" in ran.stderr
    assert file.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [file]
