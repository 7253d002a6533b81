"""Pack many calls into a few, all on the state after one block.

Multicall3's `aggregate3` runs a list of calls and reports which failed. All calls share one gas limit, so a contract
that uses up the gas makes later calls fail. Therefore each failed call is retried alone before it counts as failed.
Calls that often fail are sent separately from the start, in the same exchange. If no Multicall3 is deployed, the calls
go to the node individually.

Some nodes ignore the block number of `eth_call` and always respond from their latest block. So each aggregate begins by
reading, from Multicall3, the number of the block on which it runs and the hash of the previous block. Results from
another block raise `BlockMismatch`, and results from another fork raise `ChainReorganized`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from typing import Final
from weakref import WeakKeyDictionary, WeakSet

from swapcli.core.encoding.abi import WORD, decode_bytes, decode_word, encode_word
from swapcli.core.errors import (
    BlockMismatch,
    ChainReorganized,
    InvalidUpstreamResponse,
    UpstreamError,
    UpstreamRejected,
)
from swapcli.core.records import NamedTuple
from swapcli.families.reading.call_encoding import encode_call, invalid_response
from swapcli.families.reading.calls import MULTICALL3, ContractCall, ReturnData
from swapcli.state.rpc.load_sharing import WorkQueue, run_shared
from swapcli.state.rpc.node import BlockHeader, BlockId, HashPinnedNode, Node, RememberingNode, block_number
from swapcli.state.rpc.node_limits import MIN_AGGREGATE_CALLS, LearnedLimit
from swapcli.state.rpc.refusals import is_clearly_too_much, may_shrink

_NAME: Final = "aggregate3((address,bool,bytes)[])"
_PART_REQUESTS: Final = 4
"""Requests that a node accepts at once; each exchange also needs a request for the block."""
_TRUE: Final = encode_word(1)
_CALL_OFFSET: Final = encode_word(3 * WORD)
_PREFIX: Final = encode_call(_NAME) + encode_word(WORD)
_PROBES: Final = (encode_call("getBlockNumber()"), encode_call("getLastBlockHash()"))
_NUMBER_CODE: Final = bytes.fromhex("4360005260206000f3")
"""EVM code that returns the number of the current block: NUMBER, MSTORE at 0, RETURN 32 bytes."""
_CODE_SIZE: Final = b"\x73%s\x3b\x60\x00\x52\x60\x20\x60\x00\xf3"
"""EVM code that returns the size of the code at an address: PUSH20, EXTCODESIZE."""
_FAR_BLOCKS: Final = 10_000
"""On some networks NUMBER is another chain's block number (on Arbitrum, Ethereum's), much further off than a node could
run ahead."""
_MULTICALLS: Final[WeakKeyDictionary[Node, set[str]]] = WeakKeyDictionary()
"""The Multicall3 contracts that have responded on each node."""
_PINNING: Final[WeakKeyDictionary[Node, str]] = WeakKeyDictionary()
"""Nodes that are known to respect block numbers, with their URL at that time, which may change later."""
_TRUTHFUL_HASHES: Final[WeakSet[Node]] = WeakSet()
"""Nodes on which contracts have seen a block's true hash; on some networks they see an artificial one."""


class MulticallReader:
    """Reads a network's state after the block `at`. `multicall` is None if the network has no known Multicall3
    contract.

    If `at` is a `BlockHeader`, calls raise `ChainReorganized` once the chain no longer has that block.
    `contracts_without_output` lists the contracts that returned no data, if nothing proves that the node ran them.

    With `allow_later_blocks`, results from later blocks are accepted too: `answering_blocks` has the blocks from which
    the results came, and the caller must check that nothing changed between them. With `requires_multicall`, a chain
    without the Multicall3 contract is an error.
    """

    def __init__(
        self,
        node: Node,
        at: BlockId,
        multicall: str | None,
        *,
        allow_later_blocks: bool = False,
        requires_multicall: bool = False,
    ) -> None:
        self.node, self.block = node, block_number(at)
        self.contracts_without_output: set[str] = set()
        self.answering_blocks: set[int] = set()
        self._may_run_ahead = allow_later_blocks
        self.at, self._multicall = at, multicall
        self._is_verified = self._are_helpers_verified = True
        self._is_pending = isinstance(at, BlockHeader) and at.is_pending
        self._requires_multicall = requires_multicall
        self._helper_readers: dict[Node, MulticallReader] = {}
        self._to_remember: list[tuple[ContractCall, ReturnData]] = []

    @property
    def multicall_is_missing(self) -> bool:
        """Whether the chain lacks the Multicall3 contract, so that calls are made one by one."""
        return self._multicall is None

    @property
    def width(self) -> int:
        """The number of nodes that share large reads. Callers should read that many times as much at once."""
        return max(len(self._find_helpers()), 1)

    def call(self, calls: Sequence[ContractCall]) -> list[ReturnData]:
        """Return the results in the order of the calls. Raises `UpstreamError`.

        Results that the node remembers are not requested again. New results are remembered once `verify_block` has
        proven them.
        """
        if self._multicall is not None and self._multicall != MULTICALL3:
            calls = [_on_chain(each, self._multicall) for each in calls]
        if not isinstance(self.node, RememberingNode) or not isinstance(self.at, BlockHeader):
            return self._call_node(calls)
        known = self.node.recall(calls, self.at)
        unknown = [k for k in range(len(calls)) if k not in known]
        asked = [calls[k] for k in unknown]
        found = self._call_node(asked) if asked else []
        self._to_remember += zip(asked, found, strict=True)
        answers = {**known, **dict(zip(unknown, found, strict=True))}
        return [answers[k] for k in range(len(calls))]

    def _call_node(self, calls: Sequence[ContractCall]) -> list[ReturnData]:
        """Send calls to the node. If they need many requests, its helpers share them."""
        if len(calls) > _PART_REQUESTS and len(helpers := self._find_helpers()) > 1:
            queue = _CallQueue(calls, len(helpers))
            if queue.requests_left(self.node) <= _PART_REQUESTS:
                return self._call_alone(calls)
            failures = run_shared(helpers, queue, self._run_part)
            self.node.report_helpers(failures, helpers)
            if len(failures) < len(helpers):
                return queue.answers()
        return self._call_alone(calls)

    def _find_helpers(self) -> Sequence[Node]:
        """Return the nodes that share reads: none until a response has shown that there is a Multicall3."""
        if self._is_pending or self._multicall not in _MULTICALLS.get(self.node, ()):
            return ()
        if not isinstance(self.at, BlockHeader):
            return ()
        return self.node.helpers(self.at)

    def _run_part(self, helper: Node, part: _CallPart) -> bool:
        """Let a helper run some calls. Raises `UpstreamError`, also if it responds from another block."""
        reader = self._helper_readers.get(helper)
        if reader is None:
            reader = MulticallReader(helper, self.at, self._multicall, requires_multicall=True)
            self._helper_readers[helper] = reader
        answers = reader._call_alone(part.calls)
        if not reader.verify_block():
            self._are_helpers_verified = False
        self.answering_blocks |= reader.answering_blocks
        part.answers.extend(answers)
        return True

    def _call_alone(self, calls: Sequence[ContractCall]) -> list[ReturnData]:
        order = sorted(range(len(calls)), key=lambda at: not _shares_gas(calls[at]))
        grouped = self._call_in_batches([calls[at] for at in order])
        answers = [answer for _, answer in sorted(zip(order, grouped, strict=True), key=itemgetter(0))]
        failed = [at for at, answer in enumerate(answers) if answer is None and _shares_gas(calls[at])]
        retried = failed if self._multicall else []
        for at, answer in zip(retried, self._call_separately([calls[at] for at in retried]), strict=True):
            answers[at] = answer
        return answers

    @property
    def has_later_answers(self) -> bool:
        """Whether a result came from a later block."""
        return any(number > self.block for number in self.answering_blocks)

    def verify_block(self) -> bool:
        """Return whether all results so far are known to belong to the block; False if that cannot be determined with
        this node.

        Always False for a pending block: its number and parent are checked, but not its transactions. Raises
        `BlockMismatch` if the node ignores block numbers, so that the block of the results is unknown.
        """
        is_proven = self._prove_block()
        if is_proven and self._to_remember and isinstance(self.node, RememberingNode):
            assert isinstance(self.at, BlockHeader)
            self.node.remember(self._to_remember, self.at)
            self._to_remember.clear()
        return is_proven

    def _prove_block(self) -> bool:
        if self.has_later_answers or self._is_pending or not self._are_helpers_verified:
            return False
        if self._is_verified or self.block == 0 or _PINNING.get(self.node) == self.node.redacted_url:
            return self._is_verified or self.block > 0
        earlier = self.block - 1
        number = find_answering_block(self.node, earlier)
        if number is None:
            return False
        if number != earlier:
            raise self._mismatch(number, earlier)
        _PINNING[self.node] = self.node.redacted_url
        return True

    def _call_in_batches(self, calls: Sequence[ContractCall]) -> list[ReturnData]:
        """Return the results; calls that share gas with others must come first."""
        before_rejection: LearnedLimit | None = None
        while self._multicall and calls:
            try:
                answers = self._aggregate(calls, self._multicall)
            except UpstreamError as error:
                # Too many requests for the node at once, or too large ones: fewer may succeed, if it responds at all.
                limits = self.node.limits
                largest = min(limits.aggregate_calls.size, len(calls))
                if not may_shrink(error) or not self._has_block(error) or largest <= MIN_AGGREGATE_CALLS:
                    if before_rejection:
                        limits.aggregate_calls = before_rejection
                    raise
                before_rejection = before_rejection or limits.aggregate_calls.copy()
                limits.aggregate_calls.reject(largest, now_s=limits.now_s)
                continue
            if answers is not None:
                return answers
            self._check_missing(self._multicall)
            self._multicall = None
        return self._call_directly(calls) if calls else []

    def _has_block(self, error: UpstreamError) -> bool:
        """Return whether a node that has rejected an aggregate responds at all; a node that gives the reason does."""
        is_answering = self._is_pending or is_clearly_too_much(error)
        return is_answering or self.node.read_block(self.block) is not None

    def _aggregate(self, calls: Sequence[ContractCall], multicall: str) -> list[ReturnData] | None:
        """Return the answers; None if there is no Multicall3. Calls whose batch ran out of gas count as failed."""
        limits = self.node.limits
        batches = _batches(calls, limits.aggregate_calls.size)
        results = self._run_aggregates(batches, multicall)
        packed = [each for batch, each in zip(batches, results, strict=True) if not batch[0].is_unpackable]
        is_missing = b"" in packed and not any(packed) and not self._requires_multicall
        if is_missing and multicall not in _MULTICALLS.get(self.node, ()):
            return None
        answers: list[ReturnData] = []
        if packed:
            limits.aggregate_calls.accept(len(batches[0]), now_s=limits.now_s)
        for batch, answer in zip(batches, results, strict=True):
            if batch[0].is_unpackable:
                answers.append(answer)
            else:
                answers += [None] * len(batch) if answer is None else self._decode_verified(answer, len(batch))
        return answers

    def _call_separately(self, calls: Sequence[ContractCall]) -> list[ReturnData]:
        """Return the results of calls that failed in a batch, each in a separate aggregate."""
        if not self._multicall or not calls:
            return []
        results = self._run_aggregates([[call] for call in calls], self._multicall)
        return [None if answer is None else self._decode_verified(answer, 1)[0] for answer in results]

    def _run_aggregates(self, batches: Sequence[Sequence[ContractCall]], multicall: str) -> list[ReturnData]:
        packed = [batch[0] if batch[0].is_unpackable else _packed(batch, multicall) for batch in batches]
        return self.node.call_many(packed, self.at)

    def _decode_verified(self, answer: bytes, count: int) -> list[ReturnData]:
        if not answer:
            raise self._empty_response()
        found = _unpacked(answer, count)
        _MULTICALLS.setdefault(self.node, set()).add(str(self._multicall))
        self._check_block(found.number, found.parent_hash)
        return found.answers

    def _call_directly(self, calls: Sequence[ContractCall]) -> list[ReturnData]:
        answers = self.node.call_many(calls, self.at)
        self._is_verified = self._is_verified and isinstance(self.node, HashPinnedNode)
        without_output = {call.to for call, answer in zip(calls, answers, strict=True) if answer == b""}
        self.contracts_without_output |= without_output
        return answers

    def _check_missing(self, multicall: str) -> None:
        """Raise `InvalidUpstreamResponse` if the contract exists after all, or if the node does not run code."""
        try:
            (answer,) = self.node.call_many([ContractCall("", _CODE_SIZE % bytes.fromhex(multicall[2:]))], self.at)
        except UpstreamRejected:
            return  # it runs contracts only
        if answer is None or (len(answer) == WORD and not any(answer)):
            return
        raise self._empty_response()

    def _empty_response(self) -> InvalidUpstreamResponse:
        return InvalidUpstreamResponse(
            f"{self.node.redacted_url} returns nothing for calls at block {self.block}, although there are contracts",
            hint="try again, or set a different node",
            details={"block": self.block},
        )

    def _check_block(self, number: int | None, parent_hash: ReturnData) -> None:
        """Check the block on which an aggregate ran, from the number and the parent hash that its contract saw.

        Raises `BlockMismatch` for another number, unless it is later and later blocks are allowed, and
        `ChainReorganized` for another parent hash on a node whose contracts have seen true ones. A number that is
        missing or belongs to another chain proves nothing: the results stay unverified.
        """
        if number is None or abs(number - self.block) > _FAR_BLOCKS:
            self._is_verified = False
            return
        if self._is_pending and number == self.block - 1:
            return  # some nodes run calls on the pending state in the context of the latest block
        if number != self.block and not (self._may_run_ahead and number > self.block):
            raise self._mismatch(number, self.block)
        self.answering_blocks.add(number)
        if number != self.block:
            return
        if isinstance(self.at, BlockHeader) and parent_hash and len(parent_hash) == WORD:
            if f"0x{parent_hash.hex()}" == self.at.parent_hash:
                _TRUTHFUL_HASHES.add(self.node)
            elif self.node in _TRUTHFUL_HASHES:
                raise ChainReorganized(
                    f"{self.node.redacted_url} responded from a different block {self.block}: the chain was "
                    "reorganized",
                    hint="try again",
                    details={"block": self.block},
                )

    def _mismatch(self, number: int, expected: int) -> BlockMismatch:
        return BlockMismatch(
            f"{self.node.redacted_url} responded with block {number} to a request for block {expected}",
            hint="try again, or set a node that does not ignore block numbers",
            details={"block": expected, "answered": number},
        )


def _shares_gas(call: ContractCall) -> bool:
    """Return whether an aggregate runs the call together with calls of other reads."""
    return not (call.may_revert or call.is_unpackable)


def _batches(calls: Sequence[ContractCall], size: int) -> list[Sequence[ContractCall]]:
    """Return the batches of at most `size` calls that one aggregate makes: those that share gas come first.

    The others are alone, or with those of their group.
    """
    shared = [call for call in calls if _shares_gas(call)]
    batches: list[Sequence[ContractCall]] = [shared[at : at + size] for at in range(0, len(shared), size)]
    others = [call for call in calls if not _shares_gas(call)]
    for group, batch in groupby(others, key=lambda call: "" if call.is_unpackable else call.group):
        together = list(batch)
        step = size if group else 1
        batches += [together[at : at + step] for at in range(0, len(together), step)]
    return batches


def _packed(batch: Sequence[ContractCall], multicall: str) -> ContractCall:
    """Return the call of the Multicall3 contract that makes a batch of calls."""
    probes = [ContractCall(multicall, probe) for probe in _PROBES]
    calldata = encode_aggregate([*probes, *batch])
    return ContractCall(multicall, calldata, is_divisible=len(batch) > MIN_AGGREGATE_CALLS)


class _Unpacked(NamedTuple):
    """The answers to a batch, with the number of the block that it ran on, and the hash of the block before."""

    number: int | None
    parent_hash: ReturnData
    answers: list[ReturnData]


def _unpacked(data: bytes, count: int) -> _Unpacked:
    """Return the answers to a batch of `count` calls. Raises `InvalidUpstreamResponse`."""
    number, parent_hash, *answers = decode_aggregate(data, len(_PROBES) + count)
    return _Unpacked(_decode_number(number), parent_hash, answers)


class AheadReading(NamedTuple):
    """Calls packed into aggregates, to run at the latest block before its number is known."""

    batches: Sequence[Sequence[ContractCall]]
    packed: Sequence[ContractCall]

    @classmethod
    def of(cls, node: Node, calls: Sequence[ContractCall], multicall: str) -> AheadReading:
        """Return the reading for `calls`, without the calls that cannot be in an aggregate."""
        batches = _batches([call for call in calls if not call.is_unpackable], node.limits.aggregate_calls.size)
        return cls(batches, [_packed([_on_chain(call, multicall) for call in batch], multicall) for batch in batches])

    def results(self, node: Node, found: Sequence[ReturnData], block: BlockHeader) -> dict[ContractCall, ReturnData]:
        """Return the results of the calls that ran at `block`, as shown by the block's number and its parent's hash.

        A call that failed in an aggregate with others is omitted, because it may have run out of gas.
        """
        results: dict[ContractCall, ReturnData] = {}
        for batch, data in zip(self.batches, found, strict=True):
            answers = _answers_of(data, len(batch), block)
            if answers is None:
                continue
            _TRUTHFUL_HASHES.add(node)
            pairs = zip(batch, answers, strict=True)
            results.update((call, answer) for call, answer in pairs if answer is not None or not _shares_gas(call))
        return results

    def proves(self, found: Sequence[ReturnData], block: BlockHeader) -> bool:
        """Return whether at least some calls ran on the state of `block`."""
        pairs = zip(self.batches, found, strict=True)
        return any(_answers_of(data, len(batch), block) is not None for batch, data in pairs)


def _answers_of(data: ReturnData, count: int, block: BlockHeader) -> list[ReturnData] | None:
    """Return the answers to a batch; None if it did not run on `block`, as far as its contract could see."""
    try:
        found = _unpacked(data, count) if data else None
    except InvalidUpstreamResponse:
        return None
    if found is None or found.number != block.number or found.parent_hash is None:
        return None
    return found.answers if f"0x{found.parent_hash.hex()}" == block.parent_hash else None


def _on_chain(call: ContractCall, multicall: str) -> ContractCall:
    """Return a call to Multicall3 at its address on this network."""
    return call._replace(to=multicall) if call.to == MULTICALL3 else call


class _CallPart(NamedTuple):
    """Some of the calls, and the results from the node that has taken them."""

    calls: Sequence[ContractCall]
    answers: list[ReturnData]


class _CallQueue(WorkQueue[_CallPart]):
    """Calls that several nodes share."""

    def __init__(self, calls: Sequence[ContractCall], node_count: int) -> None:
        self._calls, self._node_count = calls, node_count
        self._parts: list[_CallPart] = []
        self._returned: list[_CallPart] = []
        self._next = 0

    def take(self, node: Node) -> _CallPart | None:
        """Return the next calls: many at first, to save requests, and few at the end, so that no node waits for
        another."""
        if self._returned:
            return self._returned.pop()
        if self._next == len(self._calls):
            return None
        max_requests = max(_PART_REQUESTS, self.requests_left(node) / (2 * self._node_count))
        first, requests = self._next, 0.0
        while self._next < len(self._calls) and requests < max_requests:
            requests += _request_share(self._calls[self._next], node)
            self._next += 1
        part = _CallPart(self._calls[first : self._next], [])
        self._parts.append(part)
        return part

    def requests_left(self, node: Node) -> float:
        """Return approximately how many requests to this node the remaining calls need."""
        return sum([_request_share(call, node) for call in self._calls[self._next :]])

    def put_back(self, part: _CallPart) -> None:
        """Add calls that a node has not finished."""
        self._returned.append(part)

    def answers(self) -> list[ReturnData]:
        """Return all results in the order of the calls."""
        return [answer for part in self._parts for answer in part.answers]


def _request_share(call: ContractCall, node: Node) -> float:
    """Return the share of a request to this node that a call needs: 1 if the call is sent alone."""
    is_alone = call.is_unpackable or (call.may_revert and not call.group)
    return 1.0 if is_alone else 1.0 / node.limits.aggregate_calls.size


def find_answering_block(node: Node, number: int) -> int | None:
    """Return the block from which a node responds to a request for block `number`; None if that cannot be
    determined."""
    try:
        (answer,) = node.call_many([ContractCall("", _NUMBER_CODE)], number)
    except UpstreamRejected:
        return None  # it runs contracts only
    results = _decode_number(answer)
    return results if results is not None and abs(results - number) <= _FAR_BLOCKS else None


def _decode_number(answer: ReturnData) -> int | None:
    """Return a block number; None if the response is not a word."""
    return int.from_bytes(answer) if answer and len(answer) == WORD else None


def encode_aggregate(calls: Sequence[ContractCall]) -> bytes:
    """Return the calldata of `aggregate3` in which every call is allowed to fail."""
    offsets, tuples = [], []
    at = WORD * len(calls)
    for to, data, *_ in calls:
        entry = b"".join((encode_word(to), _TRUE, _CALL_OFFSET, encode_word(len(data)), data, bytes(-len(data) % WORD)))
        offsets.append(encode_word(at))
        tuples.append(entry)
        at += len(entry)
    return b"".join((_PREFIX, encode_word(len(calls)), *offsets, *tuples))


def decode_aggregate(raw: bytes, count: int) -> list[ReturnData]:
    """Return the results of `count` calls from the return data of `aggregate3`. Raises `InvalidUpstreamResponse`."""
    start = _word_at(raw, 0)
    length = _word_at(raw, start)
    if length != count:
        raise invalid_response(_NAME, f"results of {length} calls instead of {count}")
    base = start + WORD
    return [_decode_result(raw, base + _word_at(raw, base + WORD * k)) for k in range(count)]


def _decode_result(raw: bytes, position: int) -> ReturnData:
    succeeded, content = _word_at(raw, position), position + _word_at(raw, position + WORD)
    data = decode_bytes(raw, _NAME, invalid_response, content)
    return data if succeeded else None


def _word_at(raw: bytes, position: int) -> int:
    return decode_word(raw, _NAME, invalid_response, position)
