"""Rehearse a swap on a node after a block: approvals, the swap, and then trials with what was bought.

A node with `eth_simulateV1` simulates the transactions themselves (`block_simulation`). On other nodes, the contract of
`swapcli.payload.evm.simulation` replaces the code of the sender, of the recipient and of a wallet that nobody owns, so
that each of them can act after the swap; a second call has a sender without code (`plain_sender`). The same round trips
read the code of the traded tokens, and what their standard slots and functions say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from swapcli.core.encoding.abi import WORD, encode_address, encode_word
from swapcli.core.errors import InvalidInput, SimulationError, UpstreamRejected
from swapcli.core.model.order import UNOWNED_ADDRESS, ZERO_ADDRESS
from swapcli.core.model.transaction import Transaction
from swapcli.core.records import NamedTuple
from swapcli.families.reading.calls import ContractCall, ReturnData
from swapcli.payload.evm.simulation import (
    Rehearsal,
    SimulatedCall,
    SimulationStatus,
    Trial,
    decode_look,
    decode_rehearsal,
    encode_look,
    encode_rehearse,
    runtime_code,
)
from swapcli.payload.evm.token_powers import (
    BEACON_SLOT,
    BLOCKED_GETTERS,
    IMPLEMENTATION_SLOTS,
    PAUSED_GETTERS,
    address_in,
    minimal_proxy_target,
    selector_of,
)
from swapcli.payload.simulation.block_simulation import (
    BlockSwap,
    TransactionContext,
    acting_call,
    context_call,
    is_code_of_contract,
    probe_blocks,
    read_context,
    rehearsal_of,
    simulate_together,
)
from swapcli.payload.simulation.plain_sender import PlainSwap, are_near
from swapcli.payload.simulation.sender_balances import SenderBalances, balance_calls, decode_balances
from swapcli.payload.simulation.swap_simulation import (
    SimulationGrant,
    codes_call,
    lacking,
    malformed_answer,
    own_code,
    read_codes,
    require_answer,
)
from swapcli.state.rpc.node import Account, BlockId, HypotheticalCall, StateOverride, StateOverrideNode
from swapcli.state.transfers.token_slots import SlotSearch, balance_search

WALLET: Final = UNOWNED_ADDRESS
"""A wallet that nobody owns."""

_LOOKER: Final = "0x4c19e0b7d3a85f2691be70d4c8a6f5132e9d47b1"
"""An arbitrary address that carries the simulation's contract, which makes several calls in one."""
_RECIPIENT_CODE: Final = "0xd20b9c6f41e7835ab9c4f06d1e82a75391c3f8e6"
"""An arbitrary address that carries the recipient's own code during a rehearsal."""
_PLENTY_WEI: Final = 10**24
_SLOT_READER: Final = bytes.fromhex("60005b8036111560155780355481526020016002565b366000f3")
"""Returns the words of the slots in its calldata: for (i = 0; i < calldatasize; i += 32) mstore(i, sload(...)). It
takes the place of a token's code, whose storage stays."""
_OWNER: Final = "owner()"
_IMPLEMENTATION: Final = "implementation()"
_SLOTS: Final = {**IMPLEMENTATION_SLOTS, BEACON_SLOT[0]: BEACON_SLOT[1]}


class TokenInspection(NamedTuple):
    """What is known of a token: its code with that of its implementation behind it, the addresses that its standard
    slots hold by their names, its owner, whether it says that it is paused, and the accounts that it says it blocks."""

    code: bytes
    slots: Mapping[str, str]
    owner: str | None
    is_paused: bool
    blocked: tuple[str, ...]


class RehearsedSwap(NamedTuple):
    """A rehearsal, what was read of each token by its address, and the return data of further calls.

    Without `is_alike`, a sender without code is treated differently from one that acts by the simulation's code.
    Without `is_complete`, only the latter could be simulated.
    """

    rehearsal: Rehearsal
    tokens: Mapping[str, TokenInspection]
    answers: tuple[bytes, ...]
    is_alike: bool = True
    is_complete: bool = True


class _Found(NamedTuple):
    """A rehearsal with the answer to another call; and the same for a sender without code, with these trials."""

    rehearsal: Rehearsal
    behind: ReturnData
    plain: Rehearsal | None = None
    plain_trials: tuple[int, ...] = ()
    is_complete: bool = True


def rehearse(
    node: StateOverrideNode,
    at: BlockId,
    swap: SimulatedCall,
    sender: str,
    trials: Sequence[Trial],
    calls: Sequence[Transaction] = (),
    gas_price_wei: int = 0,
) -> RehearsedSwap:
    """Rehearse a swap, in two round trips, or three if the node simulates no blocks. A sender who lacks a token that
    keeps balances unusually takes one more, a token behind a beacon two. Further `calls` are made before it; one that
    fails returns nothing. `gas_price_wei` is the network's usual gas price.

    Raises as `simulate_swaps`.
    """
    try:
        return _Rehearser(node, at, swap, sender, gas_price_wei).run(trials, calls)
    except UpstreamRejected as error:
        error.hint = error.hint or "to simulate takes a node that knows state overrides and still keeps the block"
        raise


class _Rehearser:
    """Rehearses one swap on a node after one block."""

    def __init__(
        self, node: StateOverrideNode, at: BlockId, swap: SimulatedCall, sender: str, gas_price_wei: int
    ) -> None:
        self._node, self._at, self._swap, self._sender = node, at, swap, sender
        self._gas_price_wei = gas_price_wei
        self._owners = list(dict.fromkeys((sender, swap.recipient)))
        self._tokens = [token for token in dict.fromkeys((swap.token_in, swap.token_out)) if token != ZERO_ADDRESS]

    def run(self, trials: Sequence[Trial], calls: Sequence[Transaction]) -> RehearsedSwap:
        swap, sender = self._swap, self._sender
        getters = [_look(token, each, owner) for token in self._tokens for each, owner in self._getters()]
        balances_in = [] if swap.token_in == ZERO_ADDRESS else balance_calls(sender, swap)
        reads = [Transaction(call.to, f"0x{call.calldata.hex()}") for call in balances_in]
        search = balance_search(swap.token_in, sender, swap.amount_in) if balances_in else None
        probes = probe_blocks()
        probed, (found, looked, scope, *others) = simulate_together(
            self._node,
            probes,
            [
                self._codes_call([*self._owners, *self._tokens]),
                self._look_call([*reads, *getters, *calls]),
                context_call(self._owners),
                *(self._slots_call(token) for token in self._tokens),
                *(search.marked if search else ()),
            ],
            self._at,
        )
        context = read_context(scope, probed, self._owners, self._gas_price_wei)
        codes = self._codes(found, len(self._owners) + len(self._tokens))
        outputs = self._outputs(looked, len(reads) + len(getters) + len(calls))
        slots = [_addresses(answer) for answer in others[: len(self._tokens)]]
        balances, grants = SenderBalances(Account(0, b""), swap.amount_in), []
        if search:
            balances = decode_balances(Account(0, b""), swap, outputs[: len(reads)])
            grants = self._grant(search, others[len(self._tokens) :], balances)
        token_codes = codes[len(self._owners) :]
        targets = [_targets(code, held) for code, held in zip(token_codes, slots, strict=True)]
        behind_call = self._codes_call([target for each in targets for target in each])
        made = self._rehearse(trials, balances, grants, codes[: len(self._owners)], context, behind_call)
        implementations = self._codes(made.behind, sum(map(len, targets)))
        of_beacons = self._beacon_codes(slots)
        inspections, getter_outputs = {}, outputs[len(reads) : len(reads) + len(getters)]
        for token, code, held, target in zip(self._tokens, token_codes, slots, targets, strict=True):
            own, getter_outputs = getter_outputs[: len(self._getters())], getter_outputs[len(self._getters()) :]
            mine, implementations = implementations[: len(target)], implementations[len(target) :]
            inspections[token] = self._inspection(b"".join((code, *mine, of_beacons.get(token, b""))), held, own)
        answers = tuple(outputs[len(reads) + len(getters) :])
        is_alike = made.plain is None or _are_alike(made.rehearsal, made.plain, made.plain_trials)
        is_complete = made.is_complete and not (made.plain_trials and made.plain is None)
        return RehearsedSwap(made.rehearsal, inspections, answers, is_alike=is_alike, is_complete=is_complete)

    def _rehearse(
        self,
        trials: Sequence[Trial],
        balances: SenderBalances,
        grants: Sequence[StateOverride],
        codes: Sequence[bytes],
        context: TransactionContext | None,
        also: HypotheticalCall,
    ) -> _Found:
        """Return the rehearsal and the answer to another call, in one round trip if the node simulates transactions.

        A node that does not is given two calls instead: of a sender who acts by the simulation's code, and of one
        without code.
        """
        if context is not None and context.can_simulate_blocks:
            with_code = frozenset(
                owner for owner, code in zip(self._owners, codes, strict=True) if is_code_of_contract(code)
            )
            planned = BlockSwap(self._swap, self._sender, balances.allowances, tuple(grants), context, with_code)
            blocks = [planned.block(trial) for trial in trials or (None,)]
            outcomes, (behind,) = simulate_together(self._node, blocks, [also], self._at)
            rehearsal = rehearsal_of(planned, outcomes, trials)
            if rehearsal is not None:
                return _Found(rehearsal, behind)
        acting = self._acting_call(trials, balances, grants, codes, context)
        plain = None if context is None else PlainSwap.of(self._swap, self._sender, trials)
        searches = plain.searches() if plain else []
        marked = [call for search in searches for call in search.marked]
        answer, behind, router, *answers = self._node.simulate(
            [acting, also, self._codes_call([self._swap.router]), *marked], self._at
        )
        try:
            rehearsal = decode_rehearsal(require_answer(self._node, answer), self._swap, balances.allowances)
        except InvalidInput as error:
            raise malformed_answer(self._node, error) from None
        found = _Found(rehearsal, behind)
        approved = plain.grants(searches, answers) if plain else None
        if plain is None or approved is None or context is None:
            return found._replace(is_complete=False)
        (code,) = self._codes(router, 1)
        if not code:
            return found
        (answer,) = self._node.simulate([plain.call(code, [*grants, *approved], context)], self._at)
        return found._replace(plain=plain.read(answer), plain_trials=tuple(k for k, _ in plain.made))

    def _acting_call(
        self,
        trials: Sequence[Trial],
        balances: SenderBalances,
        grants: Sequence[StateOverride],
        codes: Sequence[bytes],
        context: TransactionContext | None,
    ) -> HypotheticalCall:
        """Return the call in which the simulation's code acts for the sender, the recipient and a wallet."""
        calldata = encode_rehearse(self._swap, balances.allowances, trials)
        overrides = [StateOverride(WALLET, code=runtime_code(ZERO_ADDRESS)), *grants, *self._accounts(codes, context)]
        call = ContractCall(self._sender, calldata)
        return acting_call(self._swap, call, overrides, context, self._sender, len(trials))

    def _beacon_codes(self, slots: Sequence[Mapping[str, str]]) -> dict[str, bytes]:
        """Return the code of the implementations that beacons name, by token, in two round trips if there are any."""
        beacons = {
            token: held[BEACON_SLOT[0]]
            for token, held in zip(self._tokens, slots, strict=True)
            if BEACON_SLOT[0] in held
        }
        if not beacons:
            return {}
        (looked,) = self._node.simulate(
            [self._look_call([_look(beacon, _IMPLEMENTATION, "") for beacon in beacons.values()])], self._at
        )
        outputs = self._outputs(looked, len(beacons))
        named = {
            token: target for token, output in zip(beacons, outputs, strict=True) if (target := address_in(output))
        }
        (codes,) = self._node.simulate([self._codes_call(list(named.values()))], self._at)
        return dict(zip(named, self._codes(codes, len(named)), strict=True))

    def _getters(self) -> list[tuple[str, str]]:
        """Return the functions to ask each token, with the account to ask for, empty for none."""
        plain = [(_OWNER, ""), *((each, "") for each in PAUSED_GETTERS)]
        return [*plain, *((each, owner) for each in BLOCKED_GETTERS for owner in self._owners)]

    def _inspection(self, code: bytes, slots: Mapping[str, str], outputs: Sequence[bytes]) -> TokenInspection:
        answers = dict(zip(self._getters(), outputs, strict=True))
        blocked = {owner: None for (_, owner), output in answers.items() if owner and _is_true(output)}
        is_paused = any(_is_true(answers[each, ""]) for each in PAUSED_GETTERS)
        return TokenInspection(code, slots, address_in(answers[_OWNER, ""]), is_paused, tuple(blocked))

    def _codes_call(self, addresses: Sequence[str]) -> HypotheticalCall:
        return codes_call(self._sender, addresses)

    def _look_call(self, calls: Sequence[Transaction]) -> HypotheticalCall:
        looker = (StateOverride(_LOOKER, code=runtime_code(ZERO_ADDRESS)),)
        return HypotheticalCall(self._sender, ContractCall(_LOOKER, encode_look(calls)), looker)

    def _slots_call(self, token: str) -> HypotheticalCall:
        calldata = b"".join(map(encode_word, _SLOTS.values()))
        return HypotheticalCall(self._sender, ContractCall(token, calldata), (StateOverride(token, code=_SLOT_READER),))

    def _codes(self, answer: ReturnData, count: int) -> list[bytes]:
        return read_codes(self._node, answer, count)

    def _outputs(self, answer: ReturnData, count: int) -> list[bytes]:
        try:
            return decode_look(require_answer(self._node, answer), count)
        except InvalidInput as error:
            raise malformed_answer(self._node, error) from None

    def _grant(
        self, search: SlotSearch, answers: Sequence[ReturnData], balances: SenderBalances
    ) -> list[StateOverride]:
        """Return the state that grants the input to a sender who lacks it."""
        if SimulationGrant.TOKEN not in lacking(self._swap, balances):
            return []
        slot = search.slot_of_marks(answers)
        if slot is None and search.is_promising(answers, balances.balance_in):
            slot = search.slot_of_separate(self._node.simulate(search.separate, self._at))
        if slot is None:
            raise SimulationError(
                "a simulation needs a sender who holds the input, because its token stores balances in an unknown way",
                hint="name a sender who holds it",
            )
        return [StateOverride(self._swap.token_in, slots=((slot, self._swap.amount_in),))]

    def _accounts(self, codes: Sequence[bytes], context: TransactionContext | None) -> list[StateOverride]:
        """Return the state in which the sender and the recipient act for the rehearsal."""
        overrides = []
        for owner, code in zip(self._owners, codes, strict=True):
            is_sender = owner == self._sender
            home, elsewhere = own_code(code) if is_sender else own_code(code, _RECIPIENT_CODE)
            overrides += [StateOverride(owner, code=runtime_code(home)), *elsewhere]
        means = StateOverride(self._sender, self._swap.value_wei + _PLENTY_WEI)
        if context is not None:
            return [*overrides, *filter(None, [context.funding(self._sender, self._swap.value_wei, 0)])]
        return [*overrides, means]


def _are_alike(acting: Rehearsal, plain: Rehearsal, positions: Sequence[int]) -> bool:
    """Return whether two rehearsals have the same results, of the trials at these positions of the first one."""
    done = SimulationStatus.DONE
    if done not in (acting.run.status, plain.run.status):
        return True
    if acting.run.status is not plain.run.status or not are_near(acting.run.received, plain.run.received):
        return False
    pairs = [(acting.trials[position], trial) for position, trial in zip(positions, plain.trials, strict=True)]
    return all(one.is_done == other.is_done and all(map(are_near, one.grown, other.grown)) for one, other in pairs)


def _look(token: str, signature: str, owner: str) -> Transaction:
    argument = encode_address(owner, "owner") if owner else ""
    return Transaction(token, f"0x{selector_of(signature).hex()}{argument}")


def _is_true(output: bytes) -> bool:
    return len(output) == WORD and int.from_bytes(output) == 1


def _addresses(answer: ReturnData) -> dict[str, str]:
    """Return the addresses in the standard slots of a token, by the names of the slots."""
    words = {name: (answer or b"")[WORD * k : WORD * (k + 1)] for k, name in enumerate(_SLOTS)}
    return {name: address for name, word in words.items() if (address := address_in(word))}


def _targets(code: bytes, slots: Mapping[str, str]) -> list[str]:
    """Return the contracts whose code a token runs beside its own."""
    minimal = minimal_proxy_target(code)
    return list(dict.fromkeys([*slots.values(), *([minimal] if minimal else [])]))
