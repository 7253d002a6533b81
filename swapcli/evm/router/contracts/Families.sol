// SPDX-License-Identifier: MIT
pragma solidity 0.8.26;

import {
    FundManagement,
    IConcentrated,
    IPair,
    IPoolManager,
    IStableSwap,
    IVault,
    IWeightedPool,
    IWrapped,
    PoolKey,
    PoolManagerSwap,
    SingleSwap
} from "./Interfaces.sol";
import {Tokens} from "./Tokens.sol";

struct SwapParams {
    address token_in;
    address token_out;
    uint32 rate;
    int24 protocol_id;
    address pool_address;
    uint8 swap_type;
    bytes extra_data;
}

/// One swap with a pool of any family: sells exactly an amount of what this contract holds, or reverts.
///
/// What a swap brings is not returned: the caller measures balances. A pool can do no more than take the amount that it
/// is sold, whatever it answers; whether what it gave was enough is for `min_received`.
abstract contract Families {
    using Tokens for address;

    error Reentered();
    error UnknownProtocol(int24 protocol_id);
    error BadExtraData();
    error WrongPool(address pool);
    /// Somebody calls who is not the pool that is being called, or not for what it is owed.
    error UnexpectedCaller(address caller);
    /// The pool did not take the whole amount: it runs out of liquidity, or is no pool.
    error PartlyTaken(address pool);
    /// The pool gave nothing of the token that was to be bought. It may have given another, which nobody would miss.
    error NothingBought(address pool);

    uint256 private constant WRAPPER = 1;
    uint256 private constant PAIR = 2;
    uint256 private constant CONCENTRATED = 3;
    uint256 private constant SINGLETON = 4;
    uint256 private constant STABLESWAP = 5;
    uint256 private constant WEIGHTED = 6;

    uint256 private constant PPM = 1_000_000;
    /// The widest limits that pools accept.
    uint160 private constant LOWEST_SQRT_PRICE = 4295128739 + 1;
    uint160 private constant HIGHEST_SQRT_PRICE = 1461446703485210103287273052203988822378723970342 - 1;

    address internal immutable WRAPPED;
    address private immutable POOL_MANAGER;
    /// Four bits for each protocol id, the least id lowest: ids 0 to 63 and 64 to 127.
    uint256 private immutable KINDS;
    uint256 private immutable MORE_KINDS;

    bytes32 private constant IDLE = bytes32(uint256(1));
    bytes32 private constant BUSY = bytes32(uint256(2));

    /// `IDLE` between transactions, `BUSY` inside one, and while a pool is expected to call back the hash of its address
    /// and of the bytes that it was given. One word serves as lock and as check, and never goes back to zero: that makes
    /// both cheap without transient storage, which not every chain has.
    bytes32 private _state = IDLE;

    modifier alone() {
        if (_state != IDLE) revert Reentered();
        _state = BUSY;
        _;
        _state = IDLE;
    }

    constructor(address wrapped, address poolManager, uint256 kinds, uint256 moreKinds) {
        WRAPPED = wrapped;
        POOL_MANAGER = poolManager;
        KINDS = kinds;
        MORE_KINDS = moreKinds;
    }

    /// Native currency comes from unwrapping and from Uniswap V4 alone.
    receive() external payable {
        if (msg.sender != WRAPPED && msg.sender != POOL_MANAGER) revert UnexpectedCaller(msg.sender);
    }

    /// The callback of a concentrated pool, whatever the protocol calls it: (int256, int256, bytes), the positive amount
    /// is owed.
    fallback() external {
        (int256 owed0, int256 owed1, bytes memory data) = abi.decode(msg.data[4:], (int256, int256, bytes));
        _admit(data);
        (address token, uint256 amount) = abi.decode(data, (address, uint256));
        if ((owed0 > 0 ? owed0 : owed1) != int256(amount)) revert PartlyTaken(msg.sender);
        token.pay(msg.sender, amount);
    }

    /// The callback of Uniswap V4.
    function unlockCallback(bytes calldata data) external returns (bytes memory) {
        if (msg.sender != POOL_MANAGER) revert UnexpectedCaller(msg.sender);
        _admit(data);
        (PoolKey memory key, bool zeroForOne, uint256 amount) = abi.decode(data, (PoolKey, bool, uint256));
        (address paid, address bought) =
            zeroForOne ? (key.currency0, key.currency1) : (key.currency1, key.currency0);
        PoolManagerSwap memory params = PoolManagerSwap(zeroForOne, -int256(amount), _limit(zeroForOne));
        int256 delta = IPoolManager(POOL_MANAGER).swap(key, params, "");
        (int256 delta0, int256 delta1) = (delta >> 128, int256(int128(delta)));
        if ((zeroForOne ? delta0 : delta1) != -int256(amount)) revert PartlyTaken(POOL_MANAGER);
        _settle(paid, amount);
        int256 gained = zeroForOne ? delta1 : delta0;
        if (gained > 0) _take(bought, uint256(gained));
        return "";
    }

    /// Sells `amount` of `step.token_in`, 0 < amount < 2^255: a greater one would be a negative number to some pools.
    function _trade(SwapParams calldata step, uint256 amount) internal {
        uint256 kind = _kind(step.protocol_id);
        if (kind == WRAPPER) return _checkWrapper(step);
        uint256 before = step.token_out.balanceHere();
        if (kind == PAIR) _tradePair(step, amount);
        else if (kind == CONCENTRATED) _tradeConcentrated(step, amount);
        else if (kind == SINGLETON) _tradeSingleton(step, amount);
        else if (kind == STABLESWAP) _tradeStableSwap(step, amount);
        else if (kind == WEIGHTED) _tradeWeighted(step, amount);
        else revert UnknownProtocol(step.protocol_id);
        if (step.token_out.balanceHere() <= before) revert NothingBought(step.pool_address);
    }

    function _kind(int24 id) private view returns (uint256) {
        if (id < 0 || id >= 128) return 0;
        uint256 position = uint256(int256(id));
        return ((position < 64 ? KINDS : MORE_KINDS) >> (4 * (position & 63))) & 15;
    }

    /// The native currency is held wrapped throughout, so that there is nothing to do.
    function _checkWrapper(SwapParams calldata step) private view {
        if (step.pool_address != WRAPPED || step.token_in != WRAPPED || step.token_out != WRAPPED) {
            revert WrongPool(step.pool_address);
        }
    }

    function _tradePair(SwapParams calldata step, uint256 amount) private {
        IPair pair = IPair(step.pool_address);
        bool zeroForOne = step.token_in < step.token_out;
        // A pair pays for what it has received, and refuses to pay for a unit more.
        uint256 paid = step.token_in.payMeasured(address(pair), amount);
        // Solidly's pairs tell their output; Uniswap V2's do not even tell their fee.
        uint256 amountOut = step.extra_data.length == 0
            ? pair.getAmountOut(paid, step.token_in)
            : _pairOutput(pair, zeroForOne, paid, _fee(step.extra_data));
        (uint256 out0, uint256 out1) = zeroForOne ? (uint256(0), amountOut) : (amountOut, uint256(0));
        pair.swap(out0, out1, address(this), "");
    }

    function _pairOutput(IPair pair, bool zeroForOne, uint256 amount, uint256 feePpm) private view returns (uint256) {
        (uint256 reserve0, uint256 reserve1,) = pair.getReserves();
        (uint256 reserveIn, uint256 reserveOut) = zeroForOne ? (reserve0, reserve1) : (reserve1, reserve0);
        uint256 net = amount * (PPM - feePpm);
        return net * reserveOut / (reserveIn * PPM + net);
    }

    /// Two or three bytes, big-endian, in parts per million.
    function _fee(bytes calldata extra) private pure returns (uint256) {
        if (extra.length > 3) revert BadExtraData();
        uint256 fee = uint24(bytes3(extra)) >> (24 - 8 * extra.length);
        if (fee >= PPM) revert BadExtraData();
        return fee;
    }

    function _tradeConcentrated(SwapParams calldata step, uint256 amount) private {
        bool zeroForOne = step.token_in < step.token_out;
        bytes memory data = abi.encode(step.token_in, amount);
        _expect(step.pool_address, data);
        IConcentrated(step.pool_address).swap(
            address(this), zeroForOne, int256(amount), _limit(zeroForOne), data
        );
        _checkCalledBack(step.pool_address);
    }

    function _tradeSingleton(SwapParams calldata step, uint256 amount) private {
        if (step.pool_address != POOL_MANAGER) revert WrongPool(step.pool_address);
        PoolKey memory key = abi.decode(step.extra_data, (PoolKey));
        (address token0, address token1) = (key.currency0 == address(0) ? WRAPPED : key.currency0, key.currency1);
        bool zeroForOne = step.token_in == token0;
        if (zeroForOne ? step.token_out != token1 : (step.token_in != token1 || step.token_out != token0)) {
            revert BadExtraData();
        }
        bytes memory data = abi.encode(key, zeroForOne, amount);
        _expect(POOL_MANAGER, data);
        IPoolManager(POOL_MANAGER).unlock(data);
        _checkCalledBack(POOL_MANAGER);
    }

    function _tradeStableSwap(SwapParams calldata step, uint256 amount) private {
        if (step.extra_data.length != 2) revert BadExtraData();
        int128 i = int128(uint128(uint8(step.extra_data[0])));
        int128 j = int128(uint128(uint8(step.extra_data[1])));
        step.token_in.approve(step.pool_address, amount);
        IStableSwap(step.pool_address).exchange(i, j, amount, 0);
        _checkAllUsed(step.token_in, step.pool_address);
    }

    function _tradeWeighted(SwapParams calldata step, uint256 amount) private {
        IWeightedPool pool = IWeightedPool(step.pool_address);
        IVault vault = IVault(pool.getVault());
        bytes32 id = step.extra_data.length == 0 ? pool.getPoolId() : abi.decode(step.extra_data, (bytes32));
        step.token_in.approve(address(vault), amount);
        vault.swap(
            SingleSwap(id, 0, step.token_in, step.token_out, amount, ""),
            FundManagement(address(this), false, address(this), false),
            0,
            block.timestamp
        );
        _checkAllUsed(step.token_in, address(vault));
    }

    /// An allowance that is left would let the pool take another one's tokens later.
    function _checkAllUsed(address token, address spender) private view {
        if (token.allowance(spender) != 0) revert PartlyTaken(spender);
    }

    function _settle(address currency, uint256 amount) private {
        if (currency == address(0)) {
            IWrapped(WRAPPED).withdraw(amount);
            IPoolManager(POOL_MANAGER).settle{value: amount}();
        } else {
            IPoolManager(POOL_MANAGER).sync(currency);
            currency.pay(POOL_MANAGER, amount);
            IPoolManager(POOL_MANAGER).settle();
        }
    }

    function _take(address currency, uint256 amount) private {
        IPoolManager(POOL_MANAGER).take(currency, address(this), amount);
        if (currency == address(0)) IWrapped(WRAPPED).deposit{value: amount}();
    }

    /// From now on `caller` may call back once, with these bytes.
    function _expect(address caller, bytes memory data) private {
        _state = _promise(caller, data);
    }

    function _admit(bytes memory data) private {
        if (_state != _promise(msg.sender, data)) revert UnexpectedCaller(msg.sender);
        _state = BUSY;
    }

    function _checkCalledBack(address pool) private view {
        if (_state != BUSY) revert PartlyTaken(pool);
    }

    function _promise(address caller, bytes memory data) private pure returns (bytes32) {
        return keccak256(abi.encodePacked(caller, data));
    }

    function _limit(bool zeroForOne) private pure returns (uint160) {
        return zeroForOne ? LOWEST_SQRT_PRICE : HIGHEST_SQRT_PRICE;
    }
}
