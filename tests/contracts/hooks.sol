// SPDX-License-Identifier: MIT
pragma solidity 0.8.26;

import {HIGHEST, IPoolManager, LOWEST, PoolKey, SwapParams, Token} from "./kit.sol";

interface IFeeManager {
    function updateDynamicLPFee(PoolKey memory key, uint24 fee) external;
}

/// A hook of Uniswap V4 that accepts every callback, sets dynamic fees, and may trade or revert after each swap.
///
/// Tests place its code at addresses whose low bits are the permissions.
contract TestHook {
    uint256 public tradedAfterSwap;
    bool public isClosed;

    /// Sell this amount against each swap, right after it.
    function tradeAfterSwaps(uint256 amount) external {
        tradedAfterSwap = amount;
    }

    /// Refuse to be called after swaps, as before a token's trading opens.
    function close(bool closed) external {
        isClosed = closed;
    }

    function setFee(address manager, PoolKey calldata key, uint24 fee) external {
        IFeeManager(manager).updateDynamicLPFee(key, fee);
    }

    function afterSwap(address, PoolKey calldata key, SwapParams calldata params, int256, bytes calldata)
        external
        returns (bytes4, int128)
    {
        require(!isClosed, "trading is closed");
        if (tradedAfterSwap != 0) _sell(IPoolManager(msg.sender), key, !params.zeroForOne, tradedAfterSwap);
        return (this.afterSwap.selector, 0);
    }

    /// Every other callback: its selector, and zeros where amounts or a fee may follow.
    fallback() external {
        assembly {
            mstore(0, shl(224, shr(224, calldataload(0))))
            return(0, 96)
        }
    }

    function _sell(IPoolManager manager, PoolKey calldata key, bool down, uint256 amount) private {
        int256 delta = manager.swap(key, SwapParams(down, -int256(amount), down ? LOWEST : HIGHEST), "");
        (int256 amount0, int256 amount1) = (delta >> 128, int256(int128(delta)));
        (address sold, address bought) = down ? (key.currency0, key.currency1) : (key.currency1, key.currency0);
        manager.sync(sold);
        Token(sold).mint(address(manager), uint256(-(down ? amount0 : amount1)));
        manager.settle();
        uint256 gained = uint256(down ? amount1 : amount0);
        if (gained != 0) manager.take(bought, address(this), gained);
    }
}
