"""A decoded call with its swap, approval or permit, independent of any market."""

from __future__ import annotations

from math import ceil

from swapcli.core.model.network import FIBROUS
from swapcli.core.model.swap_terms import after_fee
from swapcli.core.model.transaction import NOBODY, PERMIT, PERMIT2
from swapcli.core.model.units import BPS, PPM
from swapcli.core.records import NamedTuple

SENDER = "0x0000000000000000000000000000000000000001"
"""The recipient value that stands for the sender in Universal Routers (`ActionConstants.MSG_SENDER`)."""

WHOLE_E18 = 10**18
"""100% in the finest unit of routers' shares: parts of 10^18."""

_UNLIMITED = 1 << 128
"""Far more base units than any token has: the largest supplies, of meme coins, are around 2^110."""


class PoolHint(NamedTuple):
    """How a call identifies a pool.

    `key` is its address, or its id if one contract has many pools, None if the router derives the pool from its tokens
    and `tier`: the fee in ppm, or the tick spacing of some forks. `kind` is the router's name for the kind of pool,
    `fork` the router's number for the fork. `coin_out` is the position of the bought token among the pool's tokens.
    `family` is the pool's family, empty if the call does not determine it. `contract` is the contract to call for a
    swap in the pool, None if that is the pool itself or the router. `extra_felts` describe the pool in a call on
    Starknet; None elsewhere. `pool_key` is the encoded key that identifies the pool in that contract, empty if the call
    has none.
    """

    key: str | None = None
    kind: str = ""
    tier: int | None = None
    fork: int | None = None
    protocol_id: int | None = None
    coin_out: int | None = None
    family: str = ""
    contract: str | None = None
    extra_felts: tuple[int, ...] | None = None
    pool_key: bytes = b""


class DecodedSwap(NamedTuple):
    """One swap in a call. It sells `amount_in` base units, or `share_ppm` of the router's balance of `token_in` at that
    point.

    `token_out` is None if only the pool determines it. The native token has the zero address.
    """

    token_in: str
    token_out: str | None
    pool: PoolHint
    share_ppm: int | None = PPM
    amount_in: int | None = None


class DecodedApproval(NamedTuple):
    """Permission for `spender` to take `amount` of a token. The permission lasts until `expiration_s` (Unix) if Permit2
    records it.

    `token` is None if the token is the called contract. `deadline_s` is the deadline of a permit's signature, None for
    an approval by transaction.
    """

    token: str | None
    spender: str | None
    amount: int
    expiration_s: int | None = None
    deadline_s: int | None = None

    @property
    def is_unlimited(self) -> bool:
        """Whether the amount is so large that the approval covers any balance the sender will ever hold."""
        return self.amount >= _UNLIMITED


class DecodedMessage(NamedTuple):
    """A message to sign, and the effects of signing it, if the message standard is known.

    `title` names the message in a sentence, empty if its kind is unknown. `is_judged` means that the fields cover all
    effects; other messages are dangerous, whatever they contain. `contract_name` is the name of the contract in the
    domain. `owner` is the account whose tokens the message concerns, `account` the one whose wallet must sign. A signed
    order `sells` and `buys` (token, amount in base units), for `recipients`, until `deadline_s` (Unix). `domain_hash`
    is the hash of the domain, which the contract must report; empty if it is unknown. `problems` are sentences about
    why the message is dangerous. Example: `DecodedMessage("a permit (EIP-2612)", "Permit")`.
    """

    title: str
    primary_type: str = ""
    contract_name: str | None = None
    owner: str | None = None
    account: str | None = None
    approvals: tuple[DecodedApproval, ...] = ()
    sells: tuple[tuple[str, int], ...] = ()
    buys: tuple[tuple[str, int], ...] = ()
    recipients: tuple[str, ...] = ()
    deadline_s: int | None = None
    is_permit2: bool = False
    is_judged: bool = False
    domain_hash: bytes = b""
    problems: tuple[str, ...] = ()


class DecodedFee(NamedTuple):
    """The fee of an integrator, in basis points of the output or of the surplus.

    `fee_bps` has a fraction only if the router supports fractions.
    """

    recipient: str
    fee_bps: float
    surplus_bps: int = 0

    def left_of(self, amount_out: int) -> int:
        """Return an output less the fee. The fee is rounded up to whole basis points."""
        return after_fee(amount_out, min(ceil(self.fee_bps), BPS))


class DecodedPayment(NamedTuple):
    """A payment by a swap to an address other than the recipient: a fee, a transfer or a pool's output.

    The payment is `amount` base units of `token` (the zero address means the native token), or `share_e18` parts of
    10^18 of the router's balance at that point. An integrator may instead get `surplus_bps` of the output above the
    quote.
    """

    token: str
    recipient: str
    share_e18: int | None = None
    amount: int | None = None
    surplus_bps: int = 0


class DecodedOrder(NamedTuple):
    """The order and the terms of a decoded swap; amounts are in base units.

    `amount_in` is 0 if the call does not contain it: the router then sells its whole balance. For an exact-output swap,
    `amount_in` is the maximum input, and `min_received` is the output. `amount_out` is the quoted output if the call
    contains it. `deadline_s` is None if the router does not enforce a deadline.

    `min_received` is the enforced minimum. `promised_received` is the sum of the minimums in the parts of the call, if
    that sum is higher. `max_amount_in` is the most that the call can take from the sender, if that is more than
    `amount_in`.
    """

    token_in: str
    token_out: str
    amount_in: int
    min_received: int
    recipient: str
    is_native_in: bool = False
    is_native_out: bool = False
    amount_out: int | None = None
    deadline_s: int | None = None
    has_deadline: bool = False
    is_exact_out: bool = False
    promised_received: int | None = None
    max_amount_in: int | None = None


class DecodedCall(NamedTuple):
    """A decoded call of a router (if `dialect` is set) or of a token. `function` is the function's name, empty if
    unknown.

    `router` is the router named in the call, if the call goes to another contract. `oddities` are sentences about
    features that swapcli's own calls never have; `trailing_bytes` counts the bytes, or on Starknet the felts, after the
    end of the call. `payments` are all payments to addresses other than the recipient. `releases` are the router
    releases that interpret the call in this way; empty if the release does not matter, or if no known release does.
    `message` is set if a message is signed instead of a transaction; `approval` is then the first approval that the
    message grants.
    """

    function: str
    selector: str = ""
    dialect: str | None = None
    order: DecodedOrder | None = None
    swaps: tuple[DecodedSwap, ...] = ()
    fee: DecodedFee | None = None
    permit: DecodedApproval | None = None
    approval: DecodedApproval | None = None
    router: str | None = None
    oddities: tuple[str, ...] = ()
    trailing_bytes: int = 0
    payments: tuple[DecodedPayment, ...] = ()
    releases: tuple[str, ...] = ()
    message: DecodedMessage | None = None

    @property
    def approvals(self) -> tuple[DecodedApproval, ...]:
        """The approvals that the call grants: by an approval transaction, by a permit in the call, or by a message to
        sign."""
        signed = self.message.approvals if self.message else ()
        return tuple(dict.fromkeys(each for each in (self.approval, self.permit, *signed) if each is not None))

    @property
    def wraps(self) -> bool:
        """Whether the call wraps or unwraps the native token by calling the wrapped token directly, without a
        router."""
        return self.dialect is None and self.order is not None


def enforcer_of_call(call: DecodedCall) -> str:
    """Return the name of the enforcer of a decoded swap's deadline: a router's dialect, `PERMIT`, or `NOBODY`."""
    order = call.order
    if order is None or order.deadline_s is None:
        return NOBODY
    return PERMIT if call.dialect == FIBROUS and call.permit else call.dialect or NOBODY


def enforcer_of_approval(approval: DecodedApproval, *, is_signed_for_permit2: bool = False) -> str:
    """Return the name of the enforcer of an approval's expiry. It is Permit2 if Permit2 records the approval or checks
    its signature."""
    if approval.expiration_s is not None:
        return PERMIT2
    if approval.deadline_s is None:
        return NOBODY
    return PERMIT2 if is_signed_for_permit2 else PERMIT
