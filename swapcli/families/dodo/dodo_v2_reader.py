"""Read DODO V2 pools, each in one round of calls.

The fees are those for a sender unknown to the contract. Owners of private pools can set price, slippage and fees, and
anyone can make a pool update its balances, without a specific event, so pools are read at every block.
"""

from __future__ import annotations

from typing import Final

from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import Pool
from swapcli.families.dodo.dodo_v2 import DodoState
from swapcli.families.reading.build_pool import build_pool
from swapcli.families.reading.call_encoding import invalid_response, read_words, to_address
from swapcli.families.reading.calls import Log
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.reading.views import optional_view, read_addresses, read_views, view, words
from swapcli.families.swap_fees import FEE_PER_PPM

_STATE: Final = "getPMMStateForCall()"
_STORED_TARGET: Final = "_BASE_TARGET_()"
"""The function that vending machines lack."""
_MIN_AMOUNTS: Final = ("_MIN_BASE_SWAP_AMOUNT_()", "_MIN_QUOTE_SWAP_AMOUNT_()")
"""Functions of some private pools only."""
_TOKENS: Final = ("_BASE_TOKEN_()", "_QUOTE_TOKEN_()")
_CREATED: Final = "NewDVM(address,address,address,address)"
_STATES: Final = tuple(DodoState)
"""The states, in the order of the contract's numbers."""


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a pool in one round of calls."""
    values = yield from read_views(
        view("state", ref.address, _STATE, decode=words(7)),
        view("fees", ref.address, "getUserFeeRate(address)", ZERO_ADDRESS, decode=words(2)),
        *(optional_view(name, ref.address, name) for name in (_STORED_TARGET, *_MIN_AMOUNTS)),
    )
    price, slippage, base, quote, base_target, quote_target, number = values["state"]
    lp_fee, maintainer_fee = values["fees"]
    if number >= len(_STATES):
        raise invalid_response(_STATE, f"{number} is not a price state (RStatus)")
    state = {
        "reserves": [base, quote],
        "targets": [base_target, quote_target],
        "r_state": str(_STATES[number]),
        "price": price,
        "slippage": slippage,
        "lp_fee": lp_fee,
        "maintainer_fee": maintainer_fee,
        "derives_targets": values[_STORED_TARGET] is None,
        "min_amounts": [values[name] or 0 for name in _MIN_AMOUNTS],
    }
    return build_pool(ref, (lp_fee + maintainer_fee) // FEE_PER_PPM, state)


def read_constants(factory: Factory, address: str) -> BatchRead[PoolRef]:
    """Read the tokens of a pool in one round of calls."""
    return factory.new_ref(address, (yield from read_addresses(address, _TOKENS)))


def read_created(factory: Factory, log: Log, wrapped_native: str | None) -> BatchRead[PoolRef]:
    """Decode a pool creation event: base, quote, creator and pool. This takes no call."""
    yield from ()
    del wrapped_native
    data = b"".join(bytes.fromhex(topic[2:]) for topic in log.topics[1:]) + log.data
    base, quote, _, pool = (to_address(word, _CREATED) for word in read_words(data, 4, _CREATED))
    return factory.new_ref(pool, (base, quote))
