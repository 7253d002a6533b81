"""Many calls in few, all on the state after one block.

Multicall3's `aggregate3` runs a list of calls and says of each whether it failed. Its gas is shared: a contract that
burns all that it gets starves those behind it. So what fails in company is asked once more alone, and only then failed;
what often fails goes alone at once, in the same exchange.
Where no Multicall3 is deployed, the calls go to the node as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Final

from swapcli.chain.abi import WORD, calldata, nonsense, word
from swapcli.chain.node import Answer, At, Call, Node, number_of
from swapcli.errors import UpstreamRefused

_NAME: Final = "aggregate3((address,bool,bytes)[])"
_PORTION: Final = 400
_LEAST_PORTION: Final = 12
_YES: Final = word(1)
_CALL_OFFSET: Final = word(3 * WORD)
_PREFIX: Final = calldata(_NAME) + word(WORD)


class View:
    """A network's state after one block, `block` being its number. `multicall` is None where no such contract is known.

    Where `at` is a `Block`, a chain that has lost it makes asking raise `Reorganised`.
    """

    def __init__(self, node: Node, at: At, multicall: str | None) -> None:
        self.node, self.at, self.block = node, at, number_of(at)
        self._multicall = multicall
        self._portion = _PORTION

    def ask(self, calls: Sequence[Call]) -> list[Answer]:
        """The answers in the order of the calls. Raises `UpstreamError`."""
        order = sorted(range(len(calls)), key=lambda at: calls[at].may_revert)
        together = self._together([calls[at] for at in order])
        answers = [answer for _, answer in sorted(zip(order, together, strict=True), key=itemgetter(0))]
        failed = [at for at, answer in enumerate(answers) if answer is None and not calls[at].may_revert]
        again = failed if self._multicall else []
        alone = self.node.batch([calls[at] for at in again], self.at) if again else []
        for at, answer in zip(again, alone, strict=True):
            answers[at] = answer
        return answers

    def _together(self, calls: Sequence[Call]) -> list[Answer]:
        """The answers; of the calls, those that may revert stand last."""
        while self._multicall and calls:
            try:
                answers = self._aggregated(calls, self._multicall)
            except UpstreamRefused:
                # Too much for the node at once, or too large: it may still answer less, if it answers at all.
                if self._portion <= _LEAST_PORTION or self.node.block(self.block) is None:
                    raise
                self._portion //= 2
                continue
            if answers is not None:
                return answers
            self._multicall = None
        return self.node.batch(calls, self.at) if calls else []

    def _aggregated(self, calls: Sequence[Call], multicall: str) -> list[Answer] | None:
        """None where there is no Multicall3; calls whose portion ran out of gas count as failed."""
        shared = sum([not call.may_revert for call in calls])
        portions = [calls[at : min(at + self._portion, shared)] for at in range(0, shared, self._portion)]
        told = self.node.batch([*(Call(multicall, pack(portion)) for portion in portions), *calls[shared:]], self.at)
        packed, alone = told[: len(portions)], told[len(portions) :]
        if b"" in packed:
            return None
        answers: list[Answer] = []
        for portion, answer in zip(portions, packed, strict=True):
            answers += [None] * len(portion) if answer is None else unpack(answer, len(portion))
        return answers + alone


def pack(calls: Sequence[Call]) -> bytes:
    """Calldata of `aggregate3`, every call being allowed to fail."""
    offsets, tuples = [], []
    at = WORD * len(calls)
    for to, data, _ in calls:
        entry = b"".join((word(to), _YES, _CALL_OFFSET, word(len(data)), data, bytes(-len(data) % WORD)))
        offsets.append(word(at))
        tuples.append(entry)
        at += len(entry)
    return b"".join((_PREFIX, word(len(calls)), *offsets, *tuples))


def unpack(raw: bytes, count: int) -> list[Answer]:
    """What `aggregate3` returned for `count` calls. Raises `UpstreamNonsense`."""
    start = _number(raw, 0)
    if _number(raw, start) != count:
        raise nonsense(_NAME, f"answers for {_number(raw, start)} calls instead of {count}")
    base = start + WORD
    return [_entry(raw, base + _number(raw, base + WORD * k)) for k in range(count)]


def _entry(raw: bytes, at: int) -> Answer:
    succeeded, content = _number(raw, at), at + _number(raw, at + WORD)
    length, first = _number(raw, content), content + WORD
    if first + length > len(raw):
        raise nonsense(_NAME, "the answer ends in the middle")
    return raw[first : first + length] if succeeded else None


def _number(raw: bytes, at: int) -> int:
    if at + WORD > len(raw):
        raise nonsense(_NAME, "the answer ends in the middle")
    return int.from_bytes(raw[at : at + WORD])
