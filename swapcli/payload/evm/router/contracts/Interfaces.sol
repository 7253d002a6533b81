// SPDX-License-Identifier: MIT
pragma solidity 0.8.26;

// What the router asks of tokens and pools. Return values that it does not use are left out.

/// One swap of a route, as the published interface defines it.
struct SwapParams {
    address token_in;
    address token_out;
    uint32 rate;
    int24 protocol_id;
    address pool_address;
    uint8 swap_type;
    bytes extra_data;
}

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

/// Uniswap V4's and Infinity's.
struct PoolManagerSwap {
    bool zeroForOne;
    int256 amountSpecified;
    uint160 sqrtPriceLimitX96;
}

/// How to pay Uniswap V4's pool manager and Infinity's vault, and how to be paid.
interface ISettlement {
    function sync(address currency) external;
    function settle() external payable returns (uint256 paid);
    function take(address currency, address to, uint256 amount) external;
}

/// Uniswap V4.
interface IPoolManager {
    function unlock(bytes calldata data) external;
    function swap(PoolKey memory key, PoolManagerSwap memory params, bytes calldata hookData)
        external
        returns (int256 delta);
}

/// PancakeSwap Infinity.
interface IInfinityVault {
    function lock(bytes calldata data) external;
}

struct InfinityKey {
    address currency0;
    address currency1;
    address hooks;
    address poolManager;
    uint24 fee;
    bytes32 parameters;
}

interface IInfinityManager {
    function vault() external view returns (address);
}

interface IInfinityTickManager {
    function swap(InfinityKey memory key, PoolManagerSwap memory params, bytes calldata hookData)
        external
        returns (int256 delta);
}

interface IInfinityBinManager {
    function swap(InfinityKey memory key, bool swapForY, int128 amountSpecified, bytes calldata hookData)
        external
        returns (int256 delta);
}

/// Curve. Old pools return nothing from `exchange`; metapools have `exchange_underlying`.
interface IStableSwap {
    function exchange(int128 i, int128 j, uint256 amountIn, uint256 minOut) external;
    function exchange_underlying(int128 i, int128 j, uint256 amountIn, uint256 minOut) external;
}

/// Curve's pools of volatile coins.
interface ICryptoSwap {
    function exchange(uint256 i, uint256 j, uint256 amountIn, uint256 minOut) external;
}

/// Fluid.
interface IFluid {
    function swapIn(bool zeroForOne, uint256 amountIn, uint256 minOut, address to) external payable;
}

/// ERC-4626.
interface IShareVault {
    function deposit(uint256 assets, address receiver) external;
    function redeem(uint256 shares, address receiver, address owner) external;
}

/// Spark's peg stability module.
interface IPegModule {
    function swapExactIn(
        address assetIn,
        address assetOut,
        uint256 amountIn,
        uint256 minOut,
        address receiver,
        uint256 referralCode
    ) external;
}

/// JuiceDollar's bridge to another stablecoin.
interface IStablecoinBridge {
    function JUSD() external view returns (address);
    function mint(uint256 amount) external;
    function burn(uint256 amount) external;
}

/// Trader Joe's Liquidity Book.
interface ILiquidityBook {
    function swap(bool swapForY, address to) external;
}

/// Balancer, both generations; only the older one has `getPoolId`.
interface IBalancerPool {
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

struct BalancerSwap {
    uint8 kind;
    address pool;
    address tokenIn;
    address tokenOut;
    uint256 amountGivenRaw;
    uint256 limitRaw;
    bytes userData;
}

struct BufferTrade {
    uint8 kind;
    uint8 direction;
    address wrappedToken;
    uint256 amountGivenRaw;
    uint256 limitRaw;
}

/// Balancer V3.
interface IBalancerVault {
    /// Calls the sender back with exactly these bytes.
    function unlock(bytes calldata data) external;
    function swap(BalancerSwap memory params)
        external
        returns (uint256 amountCalculated, uint256 amountIn, uint256 amountOut);
    function erc4626BufferWrapOrUnwrap(BufferTrade memory params)
        external
        returns (uint256 amountCalculated, uint256 amountIn, uint256 amountOut);
    function settle(address token, uint256 amountHint) external returns (uint256 credit);
    function sendTo(address token, address to, uint256 amount) external;
}
