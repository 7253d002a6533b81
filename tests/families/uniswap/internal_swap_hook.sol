// SPDX-License-Identifier: MIT
pragma solidity 0.8.26;

import {SwapMath} from "@uniswap/v4-core/src/libraries/SwapMath.sol";
import {TickMath} from "@uniswap/v4-core/src/libraries/TickMath.sol";

import {TakingHook} from "fee_hooks.sol";
import {PoolKey, SwapParams, Token} from "kit.sol";

interface IStoringManager {
    function extsload(bytes32 slot) external view returns (bytes32);
    function sync(address currency) external;
    function settle() external payable returns (uint256);
}

/// A hook by Flaunch's rule: it sells the launched tokens of its fees before the pool does, and takes parts of outputs.
///
/// It answers for the contracts of a launch as well, which are all at this address.
contract InternalSwapHook is TakingHook {
    struct Fees {
        uint24 swapFee;
        uint24 referrer;
        uint24 protocol;
        bool active;
    }

    struct Launch {
        uint256 startsAt;
        uint256 endsAt;
        int24 initialTick;
        uint256 revenue;
        uint256 supply;
        bool closed;
    }

    struct Wall {
        bool disabled;
        bool initialized;
        int24 tickLower;
        int24 tickUpper;
        uint256 pendingETHFees;
        uint256 cumulativeSwapFees;
    }

    address public nativeToken;
    address public feeCalculator;
    address public bidWall;
    bool public isFirstVersion;
    uint256 public flaunchesAt_;
    uint24 private _fee;
    uint24 private _calculatedFee;
    mapping(bytes32 => uint256) public tokens;
    Launch private _launch;
    Wall private _wall;
    uint256 private _lastTransaction;

    function setUp(address native, uint24 fee, uint24 calculatedFee) external {
        (nativeToken, _fee, _calculatedFee) = (native, fee, calculatedFee);
        feeCalculator = calculatedFee == 0 ? address(0) : address(this);
        bidWall = address(this);
        _launch.closed = true;
    }

    function setLaunch(bool firstVersion, uint256 flaunches, bool closed) external {
        (isFirstVersion, flaunchesAt_, _launch.closed) = (firstVersion, flaunches, closed);
    }

    function setWall(uint256 pending, uint256 lastTransaction) external {
        (_wall.pendingETHFees, _lastTransaction) = (pending, lastTransaction);
    }

    function setTokens(bytes32 id, uint256 amount) external {
        tokens[id] = amount;
    }

    function getPoolFeeDistribution(bytes32) external view returns (Fees memory) {
        return Fees(_fee, 5_00, 10_00, true);
    }

    function poolFees(PoolKey calldata key) external view returns (uint256, uint256) {
        return (1, tokens[_idOf(key)]);
    }

    function determineSwapFee(PoolKey calldata, SwapParams calldata, uint24 fee) external view returns (uint24) {
        return fee > _calculatedFee ? fee : _calculatedFee;
    }

    function flaunchesAt(bytes32) external view returns (uint256) {
        return flaunchesAt_;
    }

    function fairLaunch() external view returns (address) {
        return address(this);
    }

    function fairLaunchInfo(bytes32) external view returns (Launch memory) {
        return _launch;
    }

    function poolInfo(bytes32) external view returns (Wall memory) {
        return _wall;
    }

    function lastPoolTransaction(bytes32) external view returns (uint256) {
        require(!isFirstVersion);
        return _lastTransaction;
    }

    function staleTimeWindow() external view returns (uint256) {
        require(!isFirstVersion);
        return 7 days;
    }

    function beforeSwap(address, PoolKey calldata key, SwapParams calldata params, bytes calldata)
        external
        returns (bytes4, int256, uint24)
    {
        (uint256 paid, uint256 filled) = _fill(key, params);
        if (paid + filled == 0) return (this.beforeSwap.selector, 0, 0);
        _take(_currency(key, params.zeroForOne, true), paid);
        address sold = _currency(key, params.zeroForOne, false);
        uint256 fee = _feeOf(filled);
        // What it keeps stays with the manager, as its claim.
        IStoringManager(msg.sender).sync(sold);
        Token(sold).mint(msg.sender, filled);
        IStoringManager(msg.sender).settle();
        _take(sold, fee);
        tokens[_idOf(key)] += fee;
        int256 unspecified = int256(fee) - int256(filled);
        return (this.beforeSwap.selector, int256(paid << 128) | int256(uint256(uint128(int128(unspecified)))), 0);
    }

    function afterSwap(address, PoolKey calldata key, SwapParams calldata params, int256 delta, bytes calldata)
        external
        returns (bytes4, int128)
    {
        address bought = _currency(key, params.zeroForOne, false);
        uint256 fee = _feeOf(_bought(params, delta));
        _take(bought, fee);
        if (bought != nativeToken) tokens[_idOf(key)] += fee;
        return (this.afterSwap.selector, int128(int256(fee)));
    }

    function _feeOf(uint256 amount) private view returns (uint256) {
        return amount * (_calculatedFee > _fee ? _calculatedFee : _fee) / 100_00;
    }

    function _fill(PoolKey calldata key, SwapParams calldata params) private returns (uint256 paid, uint256 filled) {
        bytes32 id = _idOf(key);
        uint256 amount = tokens[id];
        if (amount == 0 || (key.currency0 == nativeToken) != params.zeroForOne) return (0, 0);
        uint256 slot = uint256(keccak256(abi.encode(id, uint256(6))));
        (, filled, paid,) = SwapMath.computeSwapStep(
            uint160(uint256(IStoringManager(msg.sender).extsload(bytes32(slot)))),
            params.zeroForOne ? TickMath.MAX_SQRT_PRICE - 1 : TickMath.MIN_SQRT_PRICE + 1,
            uint128(uint256(IStoringManager(msg.sender).extsload(bytes32(slot + 3)))),
            -params.amountSpecified,
            0
        );
        if (filled > amount) (paid, filled) = (amount * paid / filled, amount);
        tokens[id] = amount - filled;
    }
}
