// SPDX-License-Identifier: MIT
pragma solidity 0.8.26;

import {PoolKey, SwapParams, Token} from "kit.sol";

interface IOwnManager {
    function sync(address currency) external;
    function settle() external payable returns (uint256);
    function take(address currency, address to, uint256 amount) external;
}

/// A pool of EulerSwap as the pool manager of Uniswap V4 sees it, with a constant sum of its tokens.
///
/// It takes the whole input before it pays, and leaves nothing to the manager's own pool.
contract OwnHook {
    uint256 private constant WAD = 1e18;
    uint256[2] private _prices;
    uint256 private _fee;

    function set(uint256 price0, uint256 price1, uint256 fee) external {
        (_prices, _fee) = ([price0, price1], fee);
    }

    function beforeSwap(address, PoolKey calldata key, SwapParams calldata params, bytes calldata)
        external
        returns (bytes4, int256, uint24)
    {
        uint256 amountIn = uint256(-params.amountSpecified);
        uint256 net = amountIn - amountIn * _fee / WAD;
        (uint256 sold, uint256 bought) = params.zeroForOne ? (0, 1) : (1, 0);
        uint256 amountOut = net * _prices[sold] / _prices[bought];
        (address tokenIn, address tokenOut) =
            params.zeroForOne ? (key.currency0, key.currency1) : (key.currency1, key.currency0);
        IOwnManager(msg.sender).take(tokenIn, address(this), amountIn);
        IOwnManager(msg.sender).sync(tokenOut);
        Token(tokenOut).transfer(msg.sender, amountOut);
        IOwnManager(msg.sender).settle();
        return (this.beforeSwap.selector, int256(amountIn << 128) | int256(uint256(uint128(int128(-int256(amountOut))))), 0);
    }

    /// Every other callback: its selector.
    fallback() external {
        assembly {
            mstore(0, shl(224, shr(224, calldataload(0))))
            return(0, 32)
        }
    }
}
