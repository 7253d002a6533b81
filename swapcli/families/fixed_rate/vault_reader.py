"""Read ERC-4626 vaults.

The share price is the fraction that reproduces the vault's own previews at the block. A vault without such a price is
rejected.
"""

from __future__ import annotations

from typing import Final

from swapcli.core.model.pool import Pool
from swapcli.families.reading.build_pool import build_pool
from swapcli.families.reading.call_encoding import ANY_ADDRESS, encode_call, read_address, read_word
from swapcli.families.reading.calls import ContractCall
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.reading.share_price import read_share_price, share_price_calls

_ASSET: Final = "asset()"
_TOTAL_ASSETS: Final = "totalAssets()"
_MAX_DEPOSIT: Final = "maxDeposit(address)"


def load(ref: PoolRef) -> BatchRead[Pool]:
    """Read a vault in one round of calls."""
    max_deposit, total_assets, *conversions = yield [
        ContractCall(ref.address, encode_call(_MAX_DEPOSIT, ANY_ADDRESS)),
        ContractCall(ref.address, encode_call(_TOTAL_ASSETS)),
        *share_price_calls(ref.address),
    ]
    state: dict[str, object] = {
        "share_price": list(read_share_price(ref.address, conversions)),
        "max_deposit": read_word(max_deposit, _MAX_DEPOSIT),
        "max_redeemed": read_word(total_assets, _TOTAL_ASSETS),
    }
    return build_pool(ref, 0, state)


def read_constants(factory: Factory, address: str) -> BatchRead[PoolRef]:
    """Read the asset of a vault in one round; the vault's address is also that of its shares."""
    (answer,) = yield [ContractCall(address, encode_call(_ASSET))]
    return factory.new_ref(address, (read_address(answer, _ASSET), address))
