"""The router's list for a route: protocol ids, rates, pool addresses, and what the router must know beyond them.

`extra_data` by family; the catalogue's `extra_keys` of a protocol say which traits of its pools go in, in order:

| family | protocols | extra_data | standing |
|---|---|---|---|
| constant_product | JediSwap | none | published: callers of the public router send an empty array |
| constant_product | MySwap, 10kSwap, SithSwapV2, StarkDefiV2, NostraV2 | none | deduced from JediSwap |
| solidly_stable | SithSwapStable, StarkDefiStable | none | deduced: the protocol id tells stable from volatile |
| concentrated | MyswapCL, JediSwapCL | fee in ppm | deduced: it tells the pools of a pair apart |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from swapcli.errors import InvalidRoute
from swapcli.model.network import Network, ProtocolInfo
from swapcli.model.pool import Pool
from swapcli.model.route import Step
from swapcli.model.transaction import RouterCall, RouterRouteParam, RouterSwapParam, SwapType
from swapcli.starknet.felts import check_felt, from_felt_text


def build_call(
    route: RouterRouteParam, steps: Sequence[Step], pools: Mapping[str, Pool], network: Network
) -> RouterCall:
    """What the router is asked to do for `route`, whose replay gave `steps` on `pools` (by key).

    Raises `InvalidRoute` for no steps, a pool that is unknown, or a protocol that the network has no id for.
    """
    if not steps:
        raise InvalidRoute("the route holds no swaps")
    if route.swap_type is not SwapType.TOKEN_TO_TOKEN:
        raise InvalidRoute("on Starknet the native token is an ordinary token, so every swap is from token to token")
    return RouterCall(route, tuple(_call_swap(step, pools, network) for step in steps))


def extra_felts(pool: Pool, protocol: ProtocolInfo) -> tuple[int, ...]:
    """`extra_data` of a pool: those of its traits that the protocol's `extra_keys` name, in order.

    Raises `InvalidRoute` where the pool has no such trait: the router could not find it.
    """
    traits = pool.api_extra_data()
    missing = [key for key in protocol.extra_keys if key not in traits]
    if missing:
        raise InvalidRoute(
            f"pool {pool.address} does not tell its {missing[0]}, which {protocol.display_name} asks for",
            details={"pool": pool.key, "trait": missing[0]},
        )
    return tuple(_felt(key, traits[key]) for key in protocol.extra_keys)


def _call_swap(step: Step, pools: Mapping[str, Pool], network: Network) -> RouterSwapParam:
    pool = pools.get(step.pool)
    if pool is None:
        raise InvalidRoute(f"the route uses pool {step.pool}, which the market does not have")
    protocol = network.protocol(pool.protocol)
    if protocol is None:
        raise InvalidRoute(
            f"pool {pool.address} is of {pool.protocol}, for which {network.name} has no protocol id",
            details={"pool": pool.key, "protocol": pool.protocol},
        )
    return RouterSwapParam(
        token_in=step.token_in,
        token_out=step.token_out,
        rate=step.rate,
        protocol_id=protocol.id,
        pool_address=pool.address,
        swap_type=SwapType.TOKEN_TO_TOKEN,
        extra_felts=extra_felts(pool, protocol),
    )


def _felt(key: str, trait: int | str) -> int:
    return from_felt_text(trait) if isinstance(trait, str) else check_felt(key, trait)
