// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

/// A token that anyone mints and that asks for no approvals.
contract PlainToken {
    uint8 public immutable decimals;
    mapping(address => uint256) public balanceOf;

    constructor(uint8 decimals_) {
        decimals = decimals_;
    }

    function mint(address to, uint256 amount) external {
        balanceOf[to] += amount;
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        return transferFrom(msg.sender, to, amount);
    }

    function transferFrom(address from, address to, uint256 amount) public returns (bool) {
        balanceOf[from] -= amount;
        balanceOf[to] += amount;
        return true;
    }
}

/// Trades two tokens of the same decimals one to one, less a fee, and takes at most `maxSwap` per swap.
contract CappedSum {
    PlainToken public immutable token0;
    PlainToken public immutable token1;
    uint256 public immutable feePpm;
    uint256 public immutable maxSwap;

    event Swapped(bool isFirstSold, uint256 amountIn, uint256 amountOut);

    constructor(PlainToken token0_, PlainToken token1_, uint256 feePpm_, uint256 maxSwap_) {
        (token0, token1, feePpm, maxSwap) = (token0_, token1_, feePpm_, maxSwap_);
    }

    function getReserves() external view returns (uint256, uint256) {
        return (token0.balanceOf(address(this)), token1.balanceOf(address(this)));
    }

    function swap(bool isFirstSold, uint256 amountIn) external returns (uint256 amountOut) {
        require(amountIn <= maxSwap, "above the limit");
        amountOut = amountIn * (1_000_000 - feePpm) / 1_000_000;
        require(amountOut > 0, "nothing to pay");
        (PlainToken sold, PlainToken bought) = isFirstSold ? (token0, token1) : (token1, token0);
        sold.transferFrom(msg.sender, address(this), amountIn);
        bought.transfer(msg.sender, amountOut);
        emit Swapped(isFirstSold, amountIn, amountOut);
    }
}
