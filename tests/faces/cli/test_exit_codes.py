"""Errors become exit statuses in one table."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from errno import EACCES, ELOOP, ENAMETOOLONG
from pathlib import Path

import pytest

from swapcli.core.encoding.disk_errors import read_error
from swapcli.core.errors import InvalidAmount, NoRoute, SwapcliError
from swapcli.faces.cli import exit_codes
from tests.examples import few_rows
from tests.faces.cli.json_commands import APPROVAL
from tests.support.command import run_swapcli


def tree(root: type[SwapcliError]) -> Iterator[type[SwapcliError]]:
    for child in root.__subclasses__():
        yield child
        yield from tree(child)


def test_every_error_raised_on_purpose_has_a_status_of_its_own() -> None:
    for error in tree(SwapcliError):
        assert exit_codes.status_of(error.__new__(error)) not in (exit_codes.OK, exit_codes.INTERNAL), error


def test_every_status_has_a_meaning() -> None:
    assert set(exit_codes.STATUS.values()) < set(exit_codes.MEANING)
    assert sorted(exit_codes.MEANING) == [0, 1, 2, 3, 4, 5, 6, 7, 8, 74, 75, 130]


def test_an_error_takes_the_status_of_its_branch() -> None:
    assert exit_codes.status_of(InvalidAmount("x")) == 2
    assert exit_codes.status_of(NoRoute("x")) == 3


def test_what_was_not_raised_on_purpose_is_a_defect() -> None:
    assert exit_codes.status_of(KeyError("x")) == exit_codes.INTERNAL


@pytest.mark.parametrize(("statuses", "status"), [([], 0), ([0, 0], 0), ([0, 3], 3), ([3, 2, 0], 2), ([75, 1, 2], 1)])
def test_a_batch_ends_with_its_worst(statuses: list[int], status: int) -> None:
    assert exit_codes.worst(statuses) == status


ACCOUNT = "0x" + "11" * 20
HASH = "5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060"

MISTAKES = [
    # values of options
    ("route base ETH USDC 1 --live alwys", '--live: no value "alwys"', "did you mean --live require?"),
    ("route --live alwys base ETH USDC 1", '--live: no value "alwys"', "did you mean --live require?"),
    ("route base ETH USDC 1 --live off", '--live: no value "off"', "--offline uses no node"),
    ("pools base --live never", '--live: no value "never"', "--offline uses no node"),
    ("pools base --live=never", '--live: no value "never"', "--offline uses no node"),
    (f"calldata base ETH USDC 1 --destination {ACCOUNT} --check alway", '--check: no value "alway"', "--check always?"),
    ("route base ETH USDC 1 --watch 0s", "--watch takes a number of seconds from 0.1 to 3,600", "remove the number"),
    ("route base ETH USDC 1 --slippage", "--slippage needs a value", "see swapcli route --help"),
    ("serve --networks", "--networks needs a value", "see swapcli serve --help"),
    ("route base ETH USDC 1 --format yaml", 'no format "yaml"', "json, plain, table, csv, svg, mermaid"),
    ("route base ETH USDC 1 --slipage 1", 'no option "--slipage"', "did you mean --slippage?"),
    ("route base ETH USDC 1 --format table --get route", "so it cannot be combined with --format table", ""),
    ("route base ETH USDC 1 --exclude-protocols uniswapv33", "no protocol uniswapv33", "uniswapV3"),
    ('route base ETH USDC 1 --only-protocols ""', '--only-protocols: expected a list of names, not ""', ""),
    ('route base ETH USDC 1 --only-protocols " , "', '--only-protocols: expected a list of names, not " , "', ""),
    ('depth base ETH USDC --exclude-protocols ""', '--exclude-protocols: expected a list of names, not ""', ""),
    ('sync base --protocols ""', '--protocols: expected a list of names, not ""', ""),
    ('serve --networks ""', '--networks: expected a list of names, not ""', ""),
    ('compare base ETH USDC 1 --aggregators=""', '--aggregators: expected a list of names, not ""', ""),
    ("pools base --limit x", "--limit: expected a whole number from 0", ""),
    ("serve --port abc", "--port: expected a whole number from 0 to 65535", ""),
    ("serve --workers 0", "--workers: expected a whole number from 1 to 256", ""),
    ("health --retries x", "--retries: expected a whole number from 0 to 100", ""),
    ("health --api-url foo", "--api-url: expected an http or https address", ""),
    # the network in a different place
    ("route ETH USDC 1.5 base", 'no network "ETH"', "NETWORK comes first: swapcli route base ETH USDC 1.5"),
    ("compare ETH USDC 1 Base", 'no network "ETH"', "NETWORK comes first: swapcli compare Base ETH USDC 1"),
    ("price ETH USDC base", 'no network "ETH"', "NETWORK comes first: swapcli price base ETH USDC"),
    ("pools ETH USDC", 'no network "ETH"', "NETWORK comes first: swapcli pools base ETH USDC"),
    ("price eth usdc", 'no network "eth"', "NETWORK comes first: swapcli price base eth usdc"),
    ("tokens usdc", 'no network "usdc"', "NETWORK comes first: swapcli tokens base usdc"),
    ("tokens usd base", 'no network "usd"', "NETWORK comes first: swapcli tokens base usd"),
    ("tokens eth", 'no network "eth"', "did you mean ethereum?"),
    ("price etherum ETH", 'no network "etherum"', "did you mean ethereum?"),
    # numbers without their unit
    ("route base ETH USDC 1 --slippage 50", "slippage must be between 0 and 49 percent, not 50", "write 50bps"),
    ("route base ETH USDC 1 --slippage 101", "slippage must be between 0 and 49 percent, not 101", "write 101bps"),
    (
        "route base ETH USDC 1 --slippage 101 --api-version v1",
        "slippage must be between 0.1 and 100 percent, not 101",
        "write 101bps",
    ),
    ("config set slippage 101", "slippage: expected a percentage from 0 to 100", ""),
    (f"decode {APPROVAL} --slippage 101 --network base", "slippage must be between 0 and 100 percent, not 101", ""),
    # values of options that need none
    (
        "compare base ETH USDC 1 --aggregators lify",
        '--aggregators: no value "lify"',
        "did you mean --aggregators lifi?",
    ),
    ("compare base ETH USDC 1 --aggregators zzzz", '--aggregators: no value "zzzz"', "use one of 0x, "),
    ("calldata base ETH USDC 1 --check sometimes", '--check: no value "sometimes"', "use one of auto, always, never"),
    ("route base ETH USDC 1 --watch abc", '--watch: no value "abc"', "write a number of seconds, such as --watch 5"),
    ("mcp --http banana", '--http: no value "banana"', "write a port, such as --http 8001"),
    # words between tokens
    ("route base ETH to USDC 1", "unexpected argument", 'leave out "to": swapcli route base ETH USDC 1'),
    ("route base 1 ETH to USDC", "unexpected argument", 'leave out "to": swapcli route base 1 ETH USDC'),
    ("route base ETH USDC for 1", "unexpected argument", 'leave out "for": swapcli route base ETH USDC 1'),
    ("compare base 1 ETH -> USDC", "->", 'leave out "->": swapcli compare base 1 ETH USDC'),
    ("depth base ETH to USDC", "unexpected argument", 'leave out "to": swapcli depth base ETH USDC'),
    ("pools base ETH to USDC", "unexpected argument", 'leave out "to": swapcli pools base ETH USDC'),
    ("price base ETH in USDC", 'no token "in"', "write swapcli price base ETH --in USDC"),
    # too few and too many words
    ("route base", "TOKEN_IN, TOKEN_OUT and AMOUNT are required", "see swapcli route --help"),
    ("compare base ETH USDC", "swapcli compare base ETH USDC 1.5", "see swapcli compare --help"),
    ("depth base ETH", "swapcli depth base ETH USDC", "see swapcli depth --help"),
    ("route ETH USDC 1", "no network given", "see swapcli route --help"),
    ("price base", "swapcli price base ETH", "see swapcli price --help"),
    ("price ETH", '"ETH" is not a network', "see swapcli price --help"),
    (f"balance {ACCOUNT}", "is not a network", "see swapcli balance --help"),
    ("balance base", "no account given", "see swapcli balance --help"),
    ("balance base ETH", '"ETH" is not an EVM address', "me.eth"),
    ("balance base 0x123", '"0x123" is not an EVM address', "copy the whole address"),
    ("allowance", "no network given", "use one of base"),
    (
        "allowance base",
        "OWNER and TOKEN are required, for example swapcli allowance base 0x2222",
        "swapcli allowance --help",
    ),
    (f"allowance base {ACCOUNT}", f"for example swapcli allowance base {ACCOUNT} USDC", "swapcli allowance --help"),
    ("allowance base DAI", f"for example swapcli allowance base 0x{'22' * 20} DAI", "swapcli allowance --help"),
    ("execute", "stdin is empty", "AMOUNT --json | swapcli execute --destination ADDRESS"),
    (f"execute --destination {ACCOUNT}", "stdin is empty", f"--json | swapcli execute --destination {ACCOUNT}"),
    ("execute --slippage 1", "stdin is empty", "swapcli execute --slippage 1 --destination ADDRESS"),
    ("market import", "missing argument 'FILE'", "swapcli market import FILE"),
    ("config set slippage", "missing argument 'VALUE'", "swapcli config set slippage VALUE"),
    ("keys revoke", "missing argument 'ID|NAME'", "swapcli keys revoke ID|NAME"),
    ("verify base", "give a transaction hash, or --recent 3", "swapcli verify --help"),
    (f"verify base 0x{HASH} --recent 3", "--recent finds the swaps itself", "swapcli verify --help"),
    (f"verify base 0x{HASH} --max-requests 3", "--max-requests needs --recent", "swapcli verify --help"),
    ("record base", "give a transaction hash, --pool POOL, or --recent 3", "swapcli record --help"),
    (f"record base 0x{HASH} --pool {ACCOUNT}", "find the swaps themselves", "swapcli record --help"),
    (f"record base 0x{HASH} --max-requests 3", "--max-requests needs --pool or --recent", "swapcli record --help"),
    ("record base --recent 51", "--recent: expected a whole number from 1 to 50, not", ""),
    ("verify base --recent 0", '--recent: expected a whole number from 1 to 50, not "0"', ""),
    ("verify base --recent 3 --max-requests x", "--max-requests: expected a whole number from 1 to 100,000, not", ""),
    ("market", "missing command", "import, export, info, remove"),
    ("config", "missing command", "show, get, set"),
    ("pools base ETH USDC DAI", 'unexpected argument "DAI"', "its arguments are [NETWORK] [TOKEN] [TOKEN]"),
    ("config path x", 'unexpected argument "x"', "it takes only options"),
    # names
    ("rout base ETH USDC 1", 'no command "rout"', "did you mean route"),
    ("router deploy", 'no command "deploy"', "did you mean deploy-payload?"),
    ("tokens bse", 'no network "bse"', "did you mean base?"),
    ("tokens base zzzzzzzz", "no token on base matches", "lists all 62"),
    ("price base ETHH", 'no token "ETHH"', "did you mean ETH?"),
    ("price base ETH --in USDD", 'no token "USDD"', "USDC"),
    ("pools base ETH ETH", "cannot be the same", "name two different tokens"),
    ("schema rout", 'no document "rout"', "did you mean route"),
    ("route base ETH USDC 1 --offline --watch --view line", "cannot be combined with --view", "add --format plain"),
    ("help rout", 'no topic "rout"', "did you mean route"),
    ("completion bsh", "did you mean bash?", "see swapcli completion --help"),
    ("config set slipage 1", 'no setting "slipage"', "did you mean slippage?"),
    ("networks bas", 'no network "bas"', "did you mean base?"),
    ("networks add etherum", 'neither a file nor a network: "etherum"', "did you mean ethereum?"),
    ("networks remove base", "base is built in", ""),
    # endings of files
    ("route base ETH USDC 1 -o out.pdf", "does not write .pdf", "end the name in .json, .csv, .svg, .mmd or .txt"),
    ("route base --batch x --results o.xls", "does not write .xls", "end the name in .json, .jsonl or .csv"),
    ("route base --batch x --results o.svg", "does not print svg", "end the name in .json, .jsonl or .csv"),
    ("tokens base -o out.svg", "does not print svg", "end the name in .json, .csv or .txt"),
    # files, hashes and calldata
    ("execute /dev/null", "/dev/null is empty", "--json | swapcli execute - --destination ADDRESS"),
    ("execute nofile.json", "cannot read nofile.json: No such file", "check its name and its folder"),
    ("route base ETH USDC 1 --market /nonexistent", "cannot read /nonexistent", "check its name and its folder"),
    ("route base ETH USDC 1 --market /", "cannot read /: Is a directory", "give a file in it"),
    ("verify base 0x12", "0x and 64 hex digits", "this has 2 digits"),
    (f"verify base {ACCOUNT}", "0x and 64 hex digits", "that is an address"),
    (f"verify base {HASH}", "0x and 64 hex digits", f"write 0x in front: 0x{HASH}"),
    ("decode 0x12", "a selector of 4 bytes", "copy all of it"),
    ("decode hello", "is not calldata", "give 0x and hexadecimal digits"),
]
"""Command lines with one mistake each, and what is said of it; where the message says the way out, there is no hint."""


@pytest.mark.parametrize(("line", "message", "hint"), few_rows(MISTAKES, 40))
def test_a_mistake_of_any_command_is_explained(line: str, message: str, hint: str) -> None:
    ran = run_swapcli(*shlex.split(line))
    assert (ran.exit_code, ran.stdout) == (2, "")
    said, _, advice = ran.stderr.partition("hint:")
    assert said.startswith("error: ")  # and no note before it
    assert message in said
    assert hint in advice


def test_a_file_that_cannot_be_read_says_what_to_do(tmp_path: Path) -> None:
    for number, hint in (
        (EACCES, "you are not allowed to read it"),
        (ELOOP, "a link to itself"),
        (ENAMETOOLONG, "not a file name"),
    ):
        error = read_error("market.json", OSError(number, os.strerror(number)))
        assert error.hint is not None
        assert hint in error.hint
    link = tmp_path / "loop"
    link.symlink_to(link)
    assert "a link to itself" in run_swapcli("market", "import", str(link), "--store", str(tmp_path)).stderr
    (tmp_path / "market.json").write_text("{}")
    mistyped = run_swapcli("market", "import", str(tmp_path / "maket.json"), "--store", str(tmp_path))
    assert f"did you mean {tmp_path}/market.json?" in mistyped.stderr


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (("1", "--view", "tre"), '--view: no view "tre"', "views: table, tree, line"),
        (("1", "--view", "tree", "--get", "route"), "--view cannot be combined with --get", "remove one"),
        (("1", "-o", ""), "--output needs a file name", "write --output FILE"),
        (("1", "2"), 'unexpected argument "2"', "--help"),
        (("$0",), "amount must be above zero", ""),
        (("0%",), '"0%" is not a valid share of a balance', "above 0%"),
        (("all", "--reverse"), "AMOUNT all depends on the balance to sell", "remove --reverse"),
        (("1", "--get", "route[0].percent"), 'no field "route[0]"', "route.0.percent"),
    ],
)
def test_a_mistake_is_named_with_a_way_out(words: tuple[str, ...], message: str, hint: str) -> None:
    ran = run_swapcli("route", "base", "ETH", "USDC", *words)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert message in ran.stderr
    assert hint in ran.stderr.partition("hint:")[2]
