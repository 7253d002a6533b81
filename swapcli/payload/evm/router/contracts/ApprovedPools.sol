// SPDX-License-Identifier: MIT
pragma solidity 0.8.26;

import {Callbacks} from "./Callbacks.sol";
import {
    FundManagement,
    IBalancerPool,
    ICryptoSwap,
    IFluid,
    IPegModule,
    IShareVault,
    IStablecoinBridge,
    IStableSwap,
    IVault,
    IWrapped,
    SingleSwap,
    SwapParams
} from "./Interfaces.sol";
import {Tokens} from "./Tokens.sol";

/// Pools that take the input themselves, by an approval of exactly the amount, and contracts that burn it.
///
/// An allowance that is left would let the pool take another one's tokens later, so that none outlives a swap.
abstract contract ApprovedPools is Callbacks {
    using Tokens for address;

    error BadExtraData();
    error WrongPool(address pool);

    address internal immutable WRAPPED;

    constructor(address wrapped) {
        WRAPPED = wrapped;
    }

    /// The indices of the coins, and 1 where they count those of the pool below.
    function _tradeStableSwap(SwapParams calldata step, uint256 amount) internal {
        bytes calldata extra = step.extra_data;
        if (extra.length != 2 && (extra.length != 3 || extra[2] != 0x01)) revert BadExtraData();
        int128 i = int128(uint128(uint8(extra[0])));
        int128 j = int128(uint128(uint8(extra[1])));
        step.token_in.approve(step.pool_address, amount);
        if (extra.length == 2) IStableSwap(step.pool_address).exchange(i, j, amount, 0);
        else IStableSwap(step.pool_address).exchange_underlying(i, j, amount, 0);
        _checkAllUsed(step.token_in, step.pool_address);
    }

    function _tradeCryptoSwap(SwapParams calldata step, uint256 amount) internal {
        if (step.extra_data.length != 2) revert BadExtraData();
        (uint256 i, uint256 j) = (uint8(step.extra_data[0]), uint8(step.extra_data[1]));
        step.token_in.approve(step.pool_address, amount);
        ICryptoSwap(step.pool_address).exchange(i, j, amount, 0);
        _checkAllUsed(step.token_in, step.pool_address);
    }

    /// The vault takes the own token of a pool without an allowance, which is always shown as unlimited.
    function _tradeBalancerV2(SwapParams calldata step, uint256 amount) internal {
        IBalancerPool pool = IBalancerPool(step.pool_address);
        IVault vault = IVault(pool.getVault());
        bytes32 id = step.extra_data.length == 0 ? pool.getPoolId() : abi.decode(step.extra_data, (bytes32));
        bool paysOwn = step.token_in == step.pool_address;
        if (!paysOwn) step.token_in.approve(address(vault), amount);
        vault.swap(
            SingleSwap(id, 0, step.token_in, step.token_out, amount, ""),
            FundManagement(address(this), false, address(this), false),
            0,
            block.timestamp
        );
        if (!paysOwn) _checkAllUsed(step.token_in, address(vault));
    }

    /// Fluid's pools have the native currency and never the wrapped token.
    function _tradeFluid(SwapParams calldata step, uint256 amount) internal {
        bool zeroForOne = _flag(step.extra_data);
        bool paysNative = step.token_in == WRAPPED;
        uint256 before = address(this).balance;
        if (paysNative) IWrapped(WRAPPED).withdraw(amount);
        else step.token_in.approve(step.pool_address, amount);
        IFluid(step.pool_address).swapIn{value: paysNative ? amount : 0}(zeroForOne, amount, 0, address(this));
        uint256 gained = address(this).balance - before;
        if (paysNative) {
            if (gained != 0) revert PartlyTaken(step.pool_address);
            return;
        }
        _checkAllUsed(step.token_in, step.pool_address);
        if (gained != 0 && step.token_out == WRAPPED) IWrapped(WRAPPED).deposit{value: gained}();
    }

    /// A vault burns shares of whoever calls it, without an allowance. Its address is that of the shares, so that it can
    /// burn no others than those that are sold.
    function _tradeShareVault(SwapParams calldata step, uint256 amount) internal {
        if (!_flag(step.extra_data)) {
            step.token_in.approve(step.pool_address, amount);
            IShareVault(step.pool_address).deposit(amount, address(this));
            _checkAllUsed(step.token_in, step.pool_address);
            return;
        }
        if (step.token_in != step.pool_address) revert WrongPool(step.pool_address);
        uint256 before = step.token_in.balanceHere();
        IShareVault(step.pool_address).redeem(amount, address(this), address(this));
        if (step.token_in.balanceHere() + amount != before) revert PartlyTaken(step.pool_address);
    }

    function _tradePegModule(SwapParams calldata step, uint256 amount) internal {
        if (step.extra_data.length != 0) revert BadExtraData();
        step.token_in.approve(step.pool_address, amount);
        IPegModule(step.pool_address).swapExactIn(step.token_in, step.token_out, amount, 0, address(this), 0);
        _checkAllUsed(step.token_in, step.pool_address);
    }

    /// The coin of a bridge may let it burn without an allowance, and `burn` is also what tokens themselves have: so it
    /// must be the bridge of the coin that is sold.
    function _tradeBridge(SwapParams calldata step, uint256 amount) internal {
        IStablecoinBridge bridge = IStablecoinBridge(step.pool_address);
        bool burns = _flag(step.extra_data);
        if (burns && bridge.JUSD() != step.token_in) revert WrongPool(step.pool_address);
        step.token_in.approve(step.pool_address, amount);
        if (burns) bridge.burn(amount);
        else bridge.mint(amount);
        _checkAllUsed(step.token_in, step.pool_address);
    }

    /// One byte, 0 or 1.
    function _flag(bytes calldata extra) internal pure returns (bool) {
        if (extra.length != 1 || uint8(extra[0]) > 1) revert BadExtraData();
        return extra[0] == 0x01;
    }

    function _checkAllUsed(address token, address spender) private view {
        if (token.allowance(spender) != 0) revert PartlyTaken(spender);
    }
}
