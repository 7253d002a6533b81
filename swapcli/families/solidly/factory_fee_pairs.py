"""Read pairs whose fee is stored in their factory. The factory's address may first have to be read from the pair."""

from __future__ import annotations

from collections.abc import Callable

from swapcli.core.model.pool import Pool
from swapcli.families.reading.calls import ContractCall, ReturnData
from swapcli.families.reading.lockstep_reads import BatchRead, with_prefetch
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.row import FactoryConstants


def read_with_factory(
    ref: PoolRef,
    factory_call: ContractCall,
    decode: Callable[[ReturnData], str],
    read: Callable[[str], BatchRead[Pool]],
) -> BatchRead[Pool]:
    """Read a pair with `read`, which takes the address of the pair's factory.

    It takes one round if the factory is known, or is the one that the network names for the protocol; otherwise two.
    """
    known = ref.constants_as(FactoryConstants)
    if known.factory:
        return (yield from read(known.factory))

    def ask_then_read() -> BatchRead[Pool]:
        (answer,) = yield [factory_call]
        return (yield from read(decode(answer)))

    return (yield from with_prefetch(ask_then_read(), next(read(known.likely_factory)) if known.likely_factory else ()))
