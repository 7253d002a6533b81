// SPDX-License-Identifier: MIT
pragma solidity 0.8.26;

import {ApprovedPools} from "./ApprovedPools.sol";
import {
    BalancerSwap,
    BufferTrade,
    IBalancerPool,
    IBalancerVault,
    IInfinityBinManager,
    IInfinityManager,
    IInfinityTickManager,
    IInfinityVault,
    InfinityKey,
    IPoolManager,
    ISettlement,
    IWrapped,
    PoolKey,
    PoolManagerSwap,
    SwapParams
} from "./Interfaces.sol";
import {Tokens} from "./Tokens.sol";

/// Pools of one contract for all of them, which calls back and in the end wants every debt settled: Uniswap V4,
/// PancakeSwap Infinity, Balancer V3.
abstract contract SettledPools is ApprovedPools {
    using Tokens for address;

    /// The whole swap, as Infinity's vault hands it back.
    struct InfinityTrade {
        address manager;
        InfinityKey key;
        bool isBin;
        bool zeroForOne;
        uint256 amount;
    }

    /// The same for Balancer's vault. `wrapperIn` and `wrapperOut` are the ERC-4626 tokens that the pool holds in place
    /// of the tokens, or zero.
    struct BalancerTrade {
        address pool;
        address tokenIn;
        address tokenOut;
        address wrapperIn;
        address wrapperOut;
        uint256 amount;
    }

    /// The widest limits that pools accept.
    uint160 private constant LOWEST_SQRT_PRICE = 4295128739 + 1;
    uint160 private constant HIGHEST_SQRT_PRICE = 1461446703485210103287273052203988822378723970342 - 1;
    /// The key of an Infinity pool; bins have a byte more.
    uint256 private constant INFINITY_KEY_BYTES = 192;
    uint256 private constant WRAPPERS_BYTES = 40;
    uint8 private constant EXACT_IN = 0;
    uint8 private constant WRAP = 0;
    uint8 private constant UNWRAP = 1;

    address internal immutable POOL_MANAGER;

    constructor(address poolManager) {
        POOL_MANAGER = poolManager;
    }

    /// The callback of Uniswap V4.
    function unlockCallback(bytes calldata data) external returns (bytes memory) {
        if (msg.sender != POOL_MANAGER) revert UnexpectedCaller(msg.sender);
        _admit(this.unlockCallback.selector, data);
        (PoolKey memory key, bool zeroForOne, uint256 amount) = abi.decode(data, (PoolKey, bool, uint256));
        (address paid, address bought) =
            zeroForOne ? (key.currency0, key.currency1) : (key.currency1, key.currency0);
        PoolManagerSwap memory params = PoolManagerSwap(zeroForOne, -int256(amount), _limit(zeroForOne));
        int256 delta = IPoolManager(POOL_MANAGER).swap(key, params, "");
        uint256 gained = _gained(delta, zeroForOne, amount);
        _settle(paid, amount);
        _take(bought, gained);
        return "";
    }

    /// The callback of Infinity. It pays first, and sells what the vault says that it received.
    function lockAcquired(bytes calldata data) external returns (bytes memory) {
        _admit(this.lockAcquired.selector, data);
        InfinityTrade memory trade = abi.decode(data, (InfinityTrade));
        (address paid, address bought) = trade.zeroForOne
            ? (trade.key.currency0, trade.key.currency1)
            : (trade.key.currency1, trade.key.currency0);
        uint256 amount = _settle(paid, trade.amount);
        _take(bought, _gained(_swapInfinity(trade, amount), trade.zeroForOne, amount));
        return "";
    }

    /// The callback of Balancer V3. It pays first, since the vault may have to wrap what it is paid, and sells what the
    /// vault credits.
    function balancerCallback(BalancerTrade calldata trade) external {
        _admit(this.balancerCallback.selector, msg.data);
        IBalancerVault vault = IBalancerVault(msg.sender);
        trade.tokenIn.pay(msg.sender, trade.amount);
        uint256 amount = vault.settle(trade.tokenIn, trade.amount);
        (address sold, address bought) = (trade.tokenIn, trade.tokenOut);
        if (trade.wrapperIn != address(0)) {
            (,, amount) = vault.erc4626BufferWrapOrUnwrap(BufferTrade(EXACT_IN, WRAP, trade.wrapperIn, amount, 0));
            sold = trade.wrapperIn;
        }
        if (trade.wrapperOut != address(0)) bought = trade.wrapperOut;
        (,, amount) = vault.swap(BalancerSwap(EXACT_IN, trade.pool, sold, bought, amount, 0, ""));
        if (trade.wrapperOut != address(0)) {
            (,, amount) = vault.erc4626BufferWrapOrUnwrap(BufferTrade(EXACT_IN, UNWRAP, trade.wrapperOut, amount, 0));
        }
        vault.sendTo(trade.tokenOut, address(this), amount);
    }

    function _tradeUniswapV4(SwapParams calldata step, uint256 amount) internal {
        if (step.pool_address != POOL_MANAGER) revert WrongPool(step.pool_address);
        PoolKey memory key = abi.decode(step.extra_data, (PoolKey));
        bool zeroForOne = _isZeroForOne(step, key.currency0, key.currency1);
        bytes memory data = abi.encode(key, zeroForOne, amount);
        _expect(POOL_MANAGER, this.unlockCallback.selector, data);
        IPoolManager(POOL_MANAGER).unlock(data);
        _checkCalledBack(POOL_MANAGER);
    }

    function _tradeInfinity(SwapParams calldata step, uint256 amount) internal {
        bytes calldata extra = step.extra_data;
        bool isBin = extra.length == INFINITY_KEY_BYTES + 1;
        if (!isBin && extra.length != INFINITY_KEY_BYTES) revert BadExtraData();
        if (isBin && extra[INFINITY_KEY_BYTES] != 0x01) revert BadExtraData();
        InfinityKey memory key = abi.decode(extra[:INFINITY_KEY_BYTES], (InfinityKey));
        bool zeroForOne = _isZeroForOne(step, key.currency0, key.currency1);
        address vault = IInfinityManager(step.pool_address).vault();
        bytes memory data = abi.encode(InfinityTrade(step.pool_address, key, isBin, zeroForOne, amount));
        _expect(vault, this.lockAcquired.selector, data);
        IInfinityVault(vault).lock(data);
        _checkCalledBack(step.pool_address);
    }

    function _tradeBalancerV3(SwapParams calldata step, uint256 amount) internal {
        bytes calldata extra = step.extra_data;
        if (extra.length != 0 && extra.length != WRAPPERS_BYTES) revert BadExtraData();
        BalancerTrade memory trade =
            BalancerTrade(step.pool_address, step.token_in, step.token_out, address(0), address(0), amount);
        if (extra.length != 0) {
            (trade.wrapperIn, trade.wrapperOut) = (address(bytes20(extra[:20])), address(bytes20(extra[20:])));
        }
        address vault = IBalancerPool(step.pool_address).getVault();
        bytes memory data = abi.encodeCall(this.balancerCallback, (trade));
        _expect(vault, this.balancerCallback.selector, data);
        IBalancerVault(vault).unlock(data);
        _checkCalledBack(step.pool_address);
    }

    function _limit(bool zeroForOne) internal pure returns (uint160) {
        return zeroForOne ? LOWEST_SQRT_PRICE : HIGHEST_SQRT_PRICE;
    }

    /// The list says wrapped where the pool has the native currency.
    function _isZeroForOne(SwapParams calldata step, address currency0, address currency1)
        private
        view
        returns (bool zeroForOne)
    {
        address token0 = currency0 == address(0) ? WRAPPED : currency0;
        zeroForOne = step.token_in == token0;
        if (zeroForOne ? step.token_out != currency1 : (step.token_in != currency1 || step.token_out != token0)) {
            revert BadExtraData();
        }
    }

    function _swapInfinity(InfinityTrade memory trade, uint256 amount) private returns (int256) {
        if (trade.isBin) {
            // An amount beyond 128 bits does not come back as it is, and is then only partly taken.
            int128 specified = -int128(int256(amount));
            return IInfinityBinManager(trade.manager).swap(trade.key, trade.zeroForOne, specified, "");
        }
        PoolManagerSwap memory params = PoolManagerSwap(trade.zeroForOne, -int256(amount), _limit(trade.zeroForOne));
        return IInfinityTickManager(trade.manager).swap(trade.key, params, "");
    }

    /// Two amounts of 128 bits: the negative one is owed, and must be the whole input.
    function _gained(int256 delta, bool zeroForOne, uint256 amount) private view returns (uint256) {
        (int256 delta0, int256 delta1) = (delta >> 128, int256(int128(delta)));
        (int256 paid, int256 gained) = zeroForOne ? (delta0, delta1) : (delta1, delta0);
        if (paid != -int256(amount)) revert PartlyTaken(msg.sender);
        return gained > 0 ? uint256(gained) : 0;
    }

    /// Pays the caller and returns how much it received.
    function _settle(address currency, uint256 amount) private returns (uint256) {
        ISettlement(msg.sender).sync(currency);
        if (currency == address(0)) {
            IWrapped(WRAPPED).withdraw(amount);
            return ISettlement(msg.sender).settle{value: amount}();
        }
        currency.pay(msg.sender, amount);
        return ISettlement(msg.sender).settle();
    }

    function _take(address currency, uint256 amount) private {
        if (amount == 0) return;
        ISettlement(msg.sender).take(currency, address(this), amount);
        if (currency == address(0)) IWrapped(WRAPPED).deposit{value: amount}();
    }
}
