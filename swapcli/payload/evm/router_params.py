"""Build the router's parameters from the steps of a replay: the same swaps, rates and order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from swapcli.core.errors import ConfigError, InvalidRoute
from swapcli.core.model.network import FIBROUS, WRAPPER_PROTOCOL, Network, ProtocolInfo
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote import Step
from swapcli.core.model.router_dialect import family_of_package
from swapcli.core.model.swap_terms import Integrator
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.transaction import RouterCall, RouterRouteParam, RouterSwapParam
from swapcli.families import family_row, is_built_in
from swapcli.families.row import PoolUse
from swapcli.payload.evm.extra_data import encode_extra_data
from swapcli.payload.evm.integrator import encode_integrator_data


def build_call(
    route: RouterRouteParam,
    steps: Sequence[Step],
    pools: Mapping[str, Pool],
    network: Network,
    integrator: Integrator | None = None,
) -> RouterCall:
    """Return the call that executes `steps` for `route`; `pools` has at least the pools of the steps, by key.

    The zero address of the native token becomes the wrapped token's. Raises `InvalidRoute` if the steps do not lead
    from the route's input to its output, use a missing pool, or sell a token as native that is not native;
    `ConfigError` if the network does not define a protocol's ID or its wrapped native token.
    """
    token_in, token_out = (_to_wrapped(address, network) for address in (route.token_in, route.token_out))
    route = route._replace(token_in=token_in, token_out=token_out)
    check_native(route, network)
    swaps = tuple(_swap(step, pools, network, route.swap_type) for step in steps)
    if not swaps or (swaps[0].token_in, swaps[-1].token_out) != (route.token_in, route.token_out):
        raise InvalidRoute("the swaps do not lead from the sold token to the bought token")
    return RouterCall(route, swaps, encode_integrator_data(integrator))


def check_native(route: RouterRouteParam, network: Network) -> None:
    """Raise `InvalidRoute` if the swap type marks a token as native but the route names a different one."""
    wrapped = network.wrapped_native_address
    if route.swap_type is SwapType.NATIVE_TO_TOKEN and route.token_in != wrapped:
        raise InvalidRoute(f"swap_type sells the native token, but token_in is {route.token_in}")
    if route.swap_type is SwapType.TOKEN_TO_NATIVE and route.token_out != wrapped:
        raise InvalidRoute(f"swap_type buys the native token, but token_out is {route.token_out}")


def _swap(step: Step, pools: Mapping[str, Pool], network: Network, swap_type: SwapType) -> RouterSwapParam:
    pool = pools.get(step.pool)
    if pool is None:
        raise InvalidRoute(f"the route uses pool {step.pool}, which is not in the market")
    if step.token_in not in pool.tokens or step.token_out not in pool.tokens:
        raise InvalidRoute(f"pool {step.pool} does not hold {step.token_in} and {step.token_out}")
    protocol = network.protocol(pool.protocol)
    protocol_id = _protocol_id(pool, protocol, network)
    use, form = PoolUse(pool, step.token_in, step.token_out, protocol), network.router_variant.form_of(protocol_id)
    return RouterSwapParam(
        token_in=_to_wrapped(step.token_in, network),
        token_out=_to_wrapped(step.token_out, network),
        rate=step.rate,
        protocol_id=protocol_id,
        pool_address=pool.called_address,
        swap_type=swap_type,
        extra_data=encode_extra_data(use, form),
    )


def _protocol_id(pool: Pool, protocol: ProtocolInfo | None, network: Network) -> int:
    if pool.is_wrapper:
        return WRAPPER_PROTOCOL.id
    if protocol is None:
        raise ConfigError(
            f'{network.name} has no protocol "{pool.protocol}", so a router cannot use pool {pool.key}',
            hint=f"add it with its id under networks.{network.name}.protocols, or exclude it from the route",
            details={"protocol": pool.protocol, "pool": pool.key},
        )
    if protocol.is_extended and network.router_dialect == FIBROUS:
        has_step = family_row(pool.family).router.kind_of(protocol.contracts) is not None
        own = "use the router dialect own, or " if has_step else "its pools can only be quoted: "
        raise InvalidRoute(
            f"the public router cannot execute pool {pool.key}: it does not support the protocol {pool.protocol}",
            hint=f"{own}find a route without --extended-protocols",
            details={"protocol": pool.protocol, "pool": pool.key},
        )
    if network.router_dialect == FIBROUS and not is_built_in(pool.family):
        raise family_of_package(pool)
    return protocol.id


def _to_wrapped(address: str, network: Network) -> str:
    if address == ZERO_ADDRESS and network.wrapped_native is None:
        raise ConfigError(
            f"{network.name} has no wrapped native token, so a router cannot trade the native one",
            hint=f"set networks.{network.name}.wrapped_native",
        )
    return network.to_wrapped(address)
