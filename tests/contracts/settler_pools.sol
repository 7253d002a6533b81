// SPDX-License-Identifier: MIT
pragma solidity 0.8.26;

// What `settler_families` puts around real pools: an oracle's prices, and a provider of liquidity that pays callbacks.

/// Answers a vault of GMX V1 with the prices that were set.
contract FixedPrices {
    mapping(address token => uint256) private _lowest;
    mapping(address token => uint256) private _highest;

    function set(address token, uint256 lowest, uint256 highest) external {
        (_lowest[token], _highest[token]) = (lowest, highest);
    }

    function getPrice(address token, bool isHighest, bool, bool) external view returns (uint256) {
        return isHighest ? _highest[token] : _lowest[token];
    }
}

interface IToken {
    function transfer(address to, uint256 amount) external;
}

interface IIziPool {
    function mint(address to, int24 left, int24 right, uint128 liquidity, bytes calldata data) external;
    function addLimOrderWithX(address to, int24 point, uint128 amount, bytes calldata data) external;
    function addLimOrderWithY(address to, int24 point, uint128 amount, bytes calldata data) external;
}

/// Provides liquidity and limit orders to a pool of iZiSwap from its own balances.
contract IziProvider {
    IIziPool private immutable _pool;
    IToken private immutable _x;
    IToken private immutable _y;

    constructor(IIziPool pool, IToken x, IToken y) {
        (_pool, _x, _y) = (pool, x, y);
    }

    function mint(int24 left, int24 right, uint128 liquidity) external {
        _pool.mint(address(this), left, right, liquidity, "");
    }

    function limit(bool sellsX, int24 point, uint128 amount) external {
        if (sellsX) _pool.addLimOrderWithX(address(this), point, amount, "");
        else _pool.addLimOrderWithY(address(this), point, amount, "");
    }

    function mintDepositCallback(uint256 x, uint256 y, bytes calldata) external {
        _pay(x, y);
    }

    function payCallback(uint256 x, uint256 y, bytes calldata) external {
        _pay(x, y);
    }

    function _pay(uint256 x, uint256 y) private {
        if (x > 0) _x.transfer(address(_pool), x);
        if (y > 0) _y.transfer(address(_pool), y);
    }
}
