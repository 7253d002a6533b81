// SPDX-License-Identifier: MIT
pragma solidity 0.8.26;

import {Token} from "kit.sol";

/// Trades two coins of the same decimals one to one, less a fee that rounds up.
contract ConstantSum {
    Token public immutable token0;
    Token public immutable token1;
    uint256 public immutable feePpm;

    constructor(Token token0_, Token token1_, uint256 feePpm_) {
        token0 = token0_;
        token1 = token1_;
        feePpm = feePpm_;
    }

    function getReserves() external view returns (uint256, uint256) {
        return (token0.balanceOf(address(this)), token1.balanceOf(address(this)));
    }

    function swap(bool sellsFirst, uint256 amountIn) external returns (uint256 amountOut) {
        (Token sold, Token bought) = sellsFirst ? (token0, token1) : (token1, token0);
        amountOut = amountIn * (1_000_000 - feePpm) / 1_000_000;
        require(amountOut > 0, "nothing to pay");
        sold.transferFrom(msg.sender, address(this), amountIn);
        bought.transfer(msg.sender, amountOut);
    }
}
