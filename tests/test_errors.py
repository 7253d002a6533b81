"""The drawing of the errors is the tree that there is, and programs can tell its branches apart."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from swapcli import errors
from swapcli.errors import AmbiguousToken, InvalidPoolState, SameToken, SwapcliError

DRAWN = re.compile(r"^([│ ]*)[├└]── (\w+)", re.MULTILINE)


def tree(root: type[SwapcliError], depth: int = 0) -> Iterator[tuple[int, str]]:
    for child in root.__subclasses__():
        if child.__module__ == errors.__name__:
            yield depth, child.__name__
            yield from tree(child, depth + 1)


def test_the_drawing_shows_every_error_in_its_place() -> None:
    drawn = [(len(lines) // 4, name) for lines, name in DRAWN.findall(errors.__doc__)]
    assert drawn == list(tree(SwapcliError))


def test_every_error_has_a_code_of_its_own() -> None:
    classes = [getattr(errors, name) for _, name in tree(SwapcliError)]
    assert len({each.code for each in classes}) == len(classes)
    assert all(re.fullmatch(r"[A-Z_]+", each.code) for each in classes)


def test_details_are_ready_for_json_and_messages_for_people() -> None:
    raised = [
        SameToken(),
        AmbiguousToken("X", "base", ("0x1", "0x2")),
        InvalidPoolState("reserves[0]", "missing", pool="0x3"),
        SwapcliError("plain", hint="do that", details={"a": 1}),
    ]
    for error in raised:
        assert json.loads(json.dumps(error.details)) == error.details
        assert str(error) == error.message
        assert error.message.isprintable()
    assert raised[2].message == "pool 0x3: reserves[0]: missing"
