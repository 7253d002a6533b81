"""Rehearse a swap on a node after a block: approvals, the swap, and then trials with the bought tokens.

A node with `eth_simulateV1` simulates the transactions themselves (`block_simulation`). On other nodes, the contract of
`swapcli.payload.evm.simulation` replaces the code of the sender, of the recipient and of a wallet that no one owns, so
that each of them can act after the swap; a second call has a sender without code (`plain_sender`). The same round trips
read the code of the traded tokens, and their standard slots and functions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from swapcli.core.encoding.abi import WORD, encode_address, encode_word
from swapcli.core.errors import InvalidInput, UpstreamRejected
from swapcli.core.model.order import UNOWNED_ADDRESS, ZERO_ADDRESS
from swapcli.core.model.transaction import Transaction
from swapcli.core.records import NamedTuple
from swapcli.families.reading.calls import ContractCall
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
    is_code_of_contract,
    read_context,
    rehearsal_of,
)
from swapcli.payload.simulation.plain_sender import PlainSwap, are_near
from swapcli.payload.simulation.sender_balances import SenderBalances, balance_calls, decode_balances
from swapcli.payload.simulation.simulated_reads import SimulatedRead, run_simulated, side_by_side, simulated
from swapcli.payload.simulation.swap_simulation import (
    SimulationGrant,
    codes_call,
    granted_input,
    lacking,
    malformed_answer,
    own_code,
    read_codes,
    require_answer,
)
from swapcli.state.rpc.node import Account, BlockId, HypotheticalCall, StateOverride, StateOverrideNode
from swapcli.state.transfers.token_slots import balance_search

WALLET: Final = UNOWNED_ADDRESS
"""A wallet that no one owns."""

_LOOKER: Final = "0x4c19e0b7d3a85f2691be70d4c8a6f5132e9d47b1"
"""An arbitrary address with the simulation's contract, which makes several calls in one."""
_RECIPIENT_CODE: Final = "0xd20b9c6f41e7835ab9c4f06d1e82a75391c3f8e6"
"""An arbitrary address with the recipient's own code during a rehearsal."""
_PLENTY_WEI: Final = 10**24  # a million whole tokens, for the gas of the trials
_SLOT_READER: Final = bytes.fromhex("60005b8036111560155780355481526020016002565b366000f3")
"""EVM code that returns the words in the slots in its calldata: for (i = 0; i < calldatasize; i += 32) mstore(i,
sload(...)). It replaces a token's code, whose storage stays."""
_OWNER: Final = "owner()"
_IMPLEMENTATION: Final = "implementation()"
_SLOTS: Final = {**IMPLEMENTATION_SLOTS, BEACON_SLOT[0]: BEACON_SLOT[1]}


class TokenInspection(NamedTuple):
    """The facts about a token: its code followed by its implementation's, the addresses in its standard slots by name,
    its owner, whether it reports that it is paused, and the accounts that it reports as blocked."""

    code: bytes
    slots: Mapping[str, str]
    owner: str | None
    is_paused: bool
    blocked: tuple[str, ...]


class RehearsedSwap(NamedTuple):
    """A rehearsal, the facts read about each token by its address, and the return data of the additional calls.

    If `is_alike` is false, a sender without code is treated differently from one with the simulation's code. If
    `is_complete` is false, only the sender with the simulation's code could be simulated.
    """

    rehearsal: Rehearsal
    tokens: Mapping[str, TokenInspection]
    answers: tuple[bytes, ...]
    is_alike: bool = True
    is_complete: bool = True


class _Made(NamedTuple):
    """A rehearsal with the codes of other contracts, and the same for a sender without code, with these trials."""

    rehearsal: Rehearsal
    codes: Mapping[str, bytes]
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
    """Rehearse a swap, in two round trips, or three if the node simulates no blocks. A sender that lacks a token with
    an unusual storage of balances takes one more, and a token behind a beacon two more. Additional `calls` are made
    first; a failed one returns nothing. `gas_price_wei` is the network's usual gas price.

    Raises the same errors as `simulate_swaps`.
    """
    try:
        return run_simulated(node, at, _Rehearser(node, swap, sender, gas_price_wei).read(trials, calls))
    except UpstreamRejected as error:
        error.hint = error.hint or "simulating needs a node that supports state overrides and still has the block"
        raise


class _Rehearser:
    """Rehearses one swap. The node is used only to name it in errors: requests are yielded."""

    def __init__(self, node: StateOverrideNode, swap: SimulatedCall, sender: str, gas_price_wei: int) -> None:
        self._node, self._swap, self._sender, self._gas_price_wei = node, swap, sender, gas_price_wei
        self._owners = list(dict.fromkeys((sender, swap.recipient)))
        self._tokens = [token for token in dict.fromkeys((swap.token_in, swap.token_out)) if token != ZERO_ADDRESS]

    def read(self, trials: Sequence[Trial], calls: Sequence[Transaction]) -> SimulatedRead[RehearsedSwap]:
        """Read the facts, then rehearse the swap on them."""
        swap, sender = self._swap, self._sender
        balances_in = [] if swap.token_in == ZERO_ADDRESS else balance_calls(sender, swap)
        reads = [Transaction(call.to, f"0x{call.calldata.hex()}") for call in balances_in]
        getters = [_look(token, each, owner) for token in self._tokens for each, owner in self._getters()]
        search = balance_search(swap.token_in, sender, swap.amount_in) if balances_in else None
        codes, outputs, context, slots, marks = yield from side_by_side(
            self._read_codes([*self._owners, *self._tokens]),
            self._read_outputs([*reads, *getters, *calls]),
            read_context(self._owners, self._gas_price_wei),
            side_by_side(*map(_read_slots, [sender] * len(self._tokens), self._tokens)),
            simulated(search.marked if search else ()),
        )
        balances, grants = SenderBalances(Account(0, b""), swap.amount_in), []
        if search:
            balances = decode_balances(Account(0, b""), swap, [outputs[each] for each in reads])
            if SimulationGrant.TOKEN in lacking(swap, balances):
                slot = yield from search.find_slot(marks, balances.balance_in)
                grants.append(granted_input(swap, slot))
        held = dict(zip(self._tokens, slots, strict=True))
        targets = {token: _targets(codes[token], held[token]) for token in self._tokens}
        named = [target for each in targets.values() for target in each]
        made: _Made = yield from self._rehearse(trials, balances, grants, codes, context, named)
        of_beacons = yield from self._read_beacons(held)
        inspections = {}
        for token in self._tokens:
            code = b"".join((codes[token], *(made.codes[each] for each in targets[token]), of_beacons.get(token, b"")))
            inspections[token] = self._inspection(token, code, held[token], outputs)
        answers = tuple(outputs[each] for each in calls)
        is_alike = made.plain is None or _are_alike(made.rehearsal, made.plain, made.plain_trials)
        is_complete = made.is_complete and not (made.plain_trials and made.plain is None)
        return RehearsedSwap(made.rehearsal, inspections, answers, is_alike=is_alike, is_complete=is_complete)

    def _rehearse(
        self,
        trials: Sequence[Trial],
        balances: SenderBalances,
        grants: Sequence[StateOverride],
        codes: Mapping[str, bytes],
        context: TransactionContext | None,
        named: Sequence[str],
    ) -> SimulatedRead[_Made]:
        """Rehearse the swap and read the codes of the `named` contracts, in one round if the node simulates blocks.

        Otherwise the node makes two calls: one for a sender with the simulation's code, and one for a sender without
        code.
        """
        if context is not None and context.can_simulate_blocks:
            with_code = frozenset(owner for owner in self._owners if is_code_of_contract(codes[owner]))
            planned = BlockSwap(self._swap, self._sender, balances.allowances, tuple(grants), context, with_code)
            outcomes, named_codes = yield from side_by_side(
                simulated([planned.block(trial) for trial in trials or (None,)]), self._read_codes(named)
            )
            rehearsal = rehearsal_of(planned, outcomes, trials)
            if rehearsal is not None:
                return _Made(rehearsal, named_codes)
        plain = None if context is None else PlainSwap.of(self._swap, self._sender, trials)
        router = self._swap.router
        (answer,), named_codes, router_codes, approved = yield from side_by_side(
            simulated([self._acting_call(trials, balances, grants, codes, context)]),
            self._read_codes(named),
            self._read_codes([router]),
            plain.read_grants() if plain else side_by_side(),
        )
        try:
            rehearsal = decode_rehearsal(require_answer(self._node, answer), self._swap, balances.allowances)
        except InvalidInput as error:
            raise malformed_answer(self._node, error) from None
        made = _Made(rehearsal, named_codes)
        if plain is None or approved is None or context is None:
            return made._replace(is_complete=False)
        if not router_codes[router]:
            return made
        (answer,) = yield [plain.call(router_codes[router], [*grants, *approved], context)]
        return made._replace(plain=plain.read(answer), plain_trials=tuple(k for k, _ in plain.made))

    def _acting_call(
        self,
        trials: Sequence[Trial],
        balances: SenderBalances,
        grants: Sequence[StateOverride],
        codes: Mapping[str, bytes],
        context: TransactionContext | None,
    ) -> HypotheticalCall:
        """Return the call in which the simulation's code acts for the sender, the recipient and a wallet."""
        calldata = encode_rehearse(self._swap, balances.allowances, trials)
        overrides = [StateOverride(WALLET, code=runtime_code(ZERO_ADDRESS)), *grants, *self._accounts(codes, context)]
        call = ContractCall(self._sender, calldata)
        return acting_call(self._swap, call, overrides, context, self._sender, len(trials))

    def _read_beacons(self, held: Mapping[str, Mapping[str, str]]) -> SimulatedRead[dict[str, bytes]]:
        """Return the code of the implementations named by beacons, by token, in two rounds if there are any."""
        beacons = {token: slots[BEACON_SLOT[0]] for token, slots in held.items() if BEACON_SLOT[0] in slots}
        asked = {token: _look(beacon, _IMPLEMENTATION, "") for token, beacon in beacons.items()}
        if not asked:
            return {}
        outputs = yield from self._read_outputs(list(asked.values()))
        named = {token: target for token, look in asked.items() if (target := address_in(outputs[look]))}
        codes = yield from self._read_codes(list(named.values()))
        return {token: codes[target] for token, target in named.items()}

    def _getters(self) -> list[tuple[str, str]]:
        """Return the functions to call on each token, with the account in their argument; empty if there is none."""
        plain = [(_OWNER, ""), *((each, "") for each in PAUSED_GETTERS)]
        return [*plain, *((each, owner) for each in BLOCKED_GETTERS for owner in self._owners)]

    def _inspection(
        self, token: str, code: bytes, slots: Mapping[str, str], outputs: Mapping[Transaction, bytes]
    ) -> TokenInspection:
        blocked = dict.fromkeys(
            owner for each, owner in self._getters() if owner and _is_true(outputs[_look(token, each, owner)])
        )
        is_paused = any(_is_true(outputs[_look(token, each, "")]) for each in PAUSED_GETTERS)
        return TokenInspection(code, slots, address_in(outputs[_look(token, _OWNER, "")]), is_paused, tuple(blocked))

    def _read_codes(self, addresses: Sequence[str]) -> SimulatedRead[dict[str, bytes]]:
        """Return the codes of contracts by address."""
        (answer,) = yield [codes_call(self._sender, addresses)]
        return dict(zip(addresses, read_codes(self._node, answer, len(addresses)), strict=True))

    def _read_outputs(self, looks: Sequence[Transaction]) -> SimulatedRead[dict[Transaction, bytes]]:
        """Return the return data of transactions made by one contract; empty for failed ones."""
        looker = (StateOverride(_LOOKER, code=runtime_code(ZERO_ADDRESS)),)
        (answer,) = yield [HypotheticalCall(self._sender, ContractCall(_LOOKER, encode_look(looks)), looker)]
        try:
            return dict(zip(looks, decode_look(require_answer(self._node, answer), len(looks)), strict=True))
        except InvalidInput as error:
            raise malformed_answer(self._node, error) from None

    def _accounts(self, codes: Mapping[str, bytes], context: TransactionContext | None) -> list[StateOverride]:
        """Return the state in which the sender and the recipient act for the rehearsal."""
        overrides = []
        for owner in self._owners:
            is_sender = owner == self._sender
            home, elsewhere = own_code(codes[owner]) if is_sender else own_code(codes[owner], _RECIPIENT_CODE)
            overrides += [StateOverride(owner, code=runtime_code(home)), *elsewhere]
        means = StateOverride(self._sender, self._swap.value_wei + _PLENTY_WEI)
        if context is not None:
            return [*overrides, *filter(None, [context.funding(self._sender, self._swap.value_wei, 0)])]
        return [*overrides, means]


def _are_alike(acting: Rehearsal, plain: Rehearsal, positions: Sequence[int]) -> bool:
    """Return whether two rehearsals have the same results for the trials at these positions in the first one."""
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


def _read_slots(sender: str, token: str) -> SimulatedRead[dict[str, str]]:
    """Return the addresses in the standard slots of a token, by slot name."""
    calldata = b"".join(map(encode_word, _SLOTS.values()))
    (answer,) = yield [
        HypotheticalCall(sender, ContractCall(token, calldata), (StateOverride(token, code=_SLOT_READER),))
    ]
    words = {name: (answer or b"")[WORD * k : WORD * (k + 1)] for k, name in enumerate(_SLOTS)}
    return {name: address for name, word in words.items() if (address := address_in(word))}


def _targets(code: bytes, slots: Mapping[str, str]) -> list[str]:
    """Return the contracts whose code a token runs besides its own."""
    minimal = minimal_proxy_target(code)
    return list(dict.fromkeys([*slots.values(), *([minimal] if minimal else [])]))
