"""Files are read whole or by lines, without their byte order mark, and written all or not at all."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from swapcli.core.errors import InvalidInput
from swapcli.faces.cli.files import is_regular, read_bounded_file, read_file, read_lines, write_text_file
from tests.examples import few_rows
from tests.support.command import run_swapcli


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_file_is_read_as_plain_utf8(tmp_path: Path, encoding: str) -> None:
    file = tmp_path / "orders"
    file.write_bytes("ETH ₮\nUSDC\n".encode(encoding))
    expected = "ETH ₮\nUSDC\n".encode()
    assert read_file(str(file)) == expected
    assert b"".join(line.rstrip(b"\n") + b"\n" for line in read_lines(str(file)) if line.strip()) == expected
    assert is_regular(str(file))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_lines_have_any_end(tmp_path: Path, end: str, encoding: str) -> None:
    file = tmp_path / "orders"
    file.write_bytes(f"ETH{end}{end}USDC{end}₮".encode(encoding))
    assert [line.decode().rstrip("\r\n") for line in read_lines(str(file))] == ["ETH", "", "USDC", "₮"]


def test_a_file_that_fails_while_it_is_read_is_named() -> None:
    with pytest.raises(InvalidInput, match="cannot read /proc/self/mem: Input/output error"):
        list(read_lines("/proc/self/mem"))


def test_a_file_that_is_too_large_or_missing_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "large"
    file.write_bytes(b"x" * 11)
    assert read_bounded_file(str(file), 11) == b"x" * 11
    with pytest.raises(InvalidInput):
        read_bounded_file(str(file), 10)
    for name in (str(tmp_path / "none"), str(tmp_path), "", "a\0b"):
        assert not is_regular(name)
        with pytest.raises(InvalidInput):
            read_file(name)


def test_a_file_that_cannot_be_written_stays_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "out"
    write_text_file(str(file), "old")
    with pytest.raises(InvalidInput):
        write_text_file(str(file), "\ud800")
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


ROUTE = ("route", "base", "ETH", "USDC", "1", "--offline")


@pytest.mark.parametrize(
    ("command", "old", "new"),
    few_rows(
        [
            (("config", "set", "slippage", "0.4", "--config", "LINK"), "slippage: 0.3\n", "slippage: "),
            (("config", "unset", "max_hops", "--config", "LINK"), "max_hops: 3\n", ""),
            (("config", "init", "--replace", "--config", "LINK"), "slippage: 0.3\n", "#"),
            ((*ROUTE, "--json", "--output", "LINK"), "old", '{"success"'),
            ((*ROUTE, "--format=svg", "--output", "LINK"), "old", "<svg"),
            (
                ("depth", "base", "ETH", "USDC", "--amounts", "1", "--offline", "--format=svg", "-o", "LINK"),
                "old",
                "<svg",
            ),
            (("market", "export", "base", "LINK"), "old", "{"),
            (("keys", "create", "me", "--keys-file", "LINK"), '{"format": "swap-keys/1", "keys": []}', "{"),
            (("route", "base", "--batch", "-", "--offline", "--results", "LINK"), "", "{"),
        ],
        4,
    ),
    ids=lambda value: " ".join(value[:2]) if isinstance(value, tuple) else "",
)
def test_every_file_is_written_behind_its_link_with_its_mode(
    command: tuple[str, ...], old: str, new: str, tmp_path: Path
) -> None:
    real, link = tmp_path / "real" / "file", tmp_path / "link"
    real.parent.mkdir()
    real.write_text(old)
    real.chmod(0o640)
    link.symlink_to("real/file")
    order = b'{"tokenIn": "ETH", "tokenOut": "USDC", "amount": "1"}\n'
    ran = run_swapcli(*[str(link) if word == "LINK" else word for word in command], stdin=order)
    assert ran.exit_code == 0, ran.stderr
    assert link.is_symlink()
    assert real.read_text() != old
    assert real.read_text().startswith(new)
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
