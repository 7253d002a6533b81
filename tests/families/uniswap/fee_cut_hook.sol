// SPDX-License-Identifier: MIT
pragma solidity 0.8.26;

import {FullMath} from "@uniswap/v4-core/src/libraries/FullMath.sol";

import {TakingHook} from "fee_hooks.sol";
import {PoolKey, SwapParams} from "kit.sol";

/// A hook by Aegis' rules: it sets the LP fee, and takes a part of that fee of the input for itself.
///
/// It has the views of both versions, and is its own fee manager and policy manager.
contract FeeCutHook is TakingHook {
    uint256 private constant PPM = 1_000_000;
    uint24 private _base;
    uint24 private _surge;
    uint24 private _manual;
    bool private _isManual;
    uint256 private _part;
    bool private _roundsUp;

    function set(uint24 base, uint24 surge, uint24 manual, bool isManual, uint256 part, bool roundsUp) external {
        (_base, _surge, _manual, _isManual, _part, _roundsUp) = (base, surge, manual, isManual, part, roundsUp);
    }

    function DYNAMIC_FEE_MANAGER() external view returns (address) {
        return address(this);
    }

    function dynamicFeeManager() external view returns (address) {
        return address(this);
    }

    function policyManager() external view returns (address) {
        return address(this);
    }

    function feeQuote(bytes32) external view returns (uint64, uint256) {
        return (_fee(), 7);
    }

    function hookFeePpm(bytes32) external view returns (uint256) {
        return _part;
    }

    function getPoolPOLShare(bytes32) external view returns (uint256) {
        return _part;
    }

    function getFeeState(bytes32) external view returns (uint256, uint256) {
        return (_base, _surge);
    }

    function getManualFee(bytes32) external view returns (uint24, bool) {
        return (_manual, _isManual);
    }

    function beforeSwap(address, PoolKey calldata key, SwapParams calldata params, bytes calldata)
        external
        returns (bytes4, int256, uint24)
    {
        uint256 amount = uint256(-params.amountSpecified);
        uint24 fee = _fee();
        uint256 ofInput = _roundsUp ? FullMath.mulDivRoundingUp(amount, fee, PPM) : FullMath.mulDiv(amount, fee, PPM);
        uint256 taken = FullMath.mulDivRoundingUp(ofInput, _part, PPM);
        _take(_currency(key, params.zeroForOne, true), taken);
        return (this.beforeSwap.selector, _specified(taken), fee | 0x400000);
    }

    function afterSwap(address, PoolKey calldata, SwapParams calldata, int256, bytes calldata)
        external
        pure
        returns (bytes4, int128)
    {
        return (this.afterSwap.selector, 0);
    }

    function _fee() private view returns (uint24) {
        return _isManual ? _manual : _base + _surge;
    }
}
