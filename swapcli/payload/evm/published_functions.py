"""The functions called by our payloads that have a published ABI, with their argument names."""

from __future__ import annotations

from functools import cache
from types import MappingProxyType
from typing import Final

from swapcli.core.encoding.abi import SELECTOR_BYTES
from swapcli.core.encoding.abi_arguments import AbiValue
from swapcli.core.records import NamedTuple
from swapcli.payload.evm import fibrous_calldata, permit2_allowance, settler_actions, transactions, wrapped_native
from swapcli.payload.evm.abi_functions import Function, parse_function
from swapcli.payload.evm.universal_router import commands

_ROUTE: Final = (
    "(address token_in, address token_out, uint256 amount_in, uint256 amount_out, uint256 min_received,"
    " address destination, uint8 swap_type) route"
)
_SWAPS: Final = (
    "(address token_in, address token_out, uint32 rate, int24 protocol_id, address pool_address, uint8 swap_type,"
    " bytes extra_data)[] swaps"
)

_PAYABLE: Final = MappingProxyType(
    {
        # WETH9, as on Ethereum at 0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2
        wrapped_native.DEPOSIT: "deposit()",
        # `swapcli/payload/evm/router/artifact.json`; the Fibrous API's public router has the first three
        fibrous_calldata.SWAP: f"swap({_ROUTE}, {_SWAPS})",
        fibrous_calldata.SWAP_INTEGRATOR: f"swapIntegrator({_ROUTE}, {_SWAPS}, bytes integrator_data)",
        fibrous_calldata.SWAP_WITH_PERMIT: (
            f"swapWithPermit({_ROUTE}, {_SWAPS}, uint256 deadline, uint8 v, bytes32 r, bytes32 s)"
        ),
        fibrous_calldata.SWAP_BEFORE: f"swapBefore(uint256 deadline, {_ROUTE}, {_SWAPS}, bytes integrator_data)",
        # Uniswap/universal-router, `IUniversalRouter.sol`
        commands.EXECUTE: "execute(bytes commands, bytes[] inputs, uint256 deadline)",
        # 0xProject/0x-settler, `ISettlerTakerSubmitted.sol` and `IAllowanceHolder.sol`. The last argument of `execute`
        # has no name there: it is an affiliate.
        settler_actions.EXECUTE: (
            "execute((address recipient, address buyToken, uint256 minAmountOut) slippage, bytes[] actions,"
            " bytes32 affiliate)"
        ),
        settler_actions.EXEC: "exec(address operator, address token, uint256 amount, address target, bytes data)",
    }
)
_NOT_PAYABLE: Final = MappingProxyType(
    {
        transactions.APPROVE: "approve(address spender, uint256 value)",  # ERC-20
        # Uniswap/permit2, `IAllowanceTransfer.sol`
        permit2_allowance.APPROVE: "approve(address token, address spender, uint160 amount, uint48 expiration)",
        wrapped_native.WITHDRAW: "withdraw(uint256 wad)",  # WETH9
    }
)


class NamedCall(NamedTuple):
    """A call to a published function, with its arguments in the form that `Function.decode` returns."""

    function: Function
    values: tuple[AbiValue, ...]
    is_payable: bool


def read_named_call(calldata: str) -> NamedCall | None:
    """Return the call in calldata (hex with 0x), or None if its function is not a published one.

    Encoding the call gives the same bytes again.
    """
    raw = bytes.fromhex(calldata.removeprefix("0x"))
    selector = raw[:SELECTOR_BYTES].hex()
    function = published_function(selector)
    values = None if function is None else function.decode(raw)
    return None if function is None or values is None else NamedCall(function, values, selector in _PAYABLE)


@cache
def published_function(selector: str) -> Function | None:
    """Return the published function with a selector (hex without 0x), or None if there is none."""
    text = _PAYABLE.get(selector) or _NOT_PAYABLE.get(selector)
    return None if text is None else parse_function(text)
