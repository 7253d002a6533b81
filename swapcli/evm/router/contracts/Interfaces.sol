// SPDX-License-Identifier: MIT
pragma solidity 0.8.26;

// What the router asks of tokens and pools. Return values that it does not use are left out.

interface IToken {
    function balanceOf(address owner) external view returns (uint256);
    function allowance(address owner, address spender) external view returns (uint256);
    function transfer(address to, uint256 amount) external;
    function transferFrom(address from, address to, uint256 amount) external;
    function approve(address spender, uint256 amount) external;
    function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)
        external;
}

interface IWrapped {
    function deposit() external payable;
    function withdraw(uint256 amount) external;
}

/// Uniswap V2 and Solidly; only the latter has `getAmountOut`.
interface IPair {
    function getReserves() external view returns (uint256 reserve0, uint256 reserve1, uint256 time);
    function getAmountOut(uint256 amountIn, address tokenIn) external view returns (uint256);
    function swap(uint256 amount0Out, uint256 amount1Out, address to, bytes calldata data) external;
}

/// Uniswap V3, PancakeSwap V3, Slipstream, Algebra.
interface IConcentrated {
    function swap(address to, bool zeroForOne, int256 amount, uint160 sqrtPriceLimitX96, bytes calldata data) external;
}

struct PoolKey {
    address currency0;
    address currency1;
    uint24 fee;
    int24 tickSpacing;
    address hooks;
}

struct PoolManagerSwap {
    bool zeroForOne;
    int256 amountSpecified;
    uint160 sqrtPriceLimitX96;
}

/// Uniswap V4.
interface IPoolManager {
    function unlock(bytes calldata data) external returns (bytes memory);
    function swap(PoolKey memory key, PoolManagerSwap memory params, bytes calldata hookData)
        external
        returns (int256 delta);
    function sync(address currency) external;
    function settle() external payable returns (uint256 paid);
    function take(address currency, address to, uint256 amount) external;
}

/// Curve. Old pools return nothing from `exchange`.
interface IStableSwap {
    function exchange(int128 i, int128 j, uint256 amountIn, uint256 leastOut) external;
}

interface IWeightedPool {
    function getPoolId() external view returns (bytes32);
    function getVault() external view returns (address);
}

struct SingleSwap {
    bytes32 poolId;
    uint8 kind;
    address assetIn;
    address assetOut;
    uint256 amount;
    bytes userData;
}

struct FundManagement {
    address sender;
    bool fromInternalBalance;
    address recipient;
    bool toInternalBalance;
}

/// Balancer V2.
interface IVault {
    function swap(SingleSwap memory singleSwap, FundManagement memory funds, uint256 limit, uint256 deadline)
        external
        payable
        returns (uint256);
}
