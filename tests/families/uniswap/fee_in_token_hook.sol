// SPDX-License-Identifier: MIT
pragma solidity 0.8.26;

import {FullMath} from "@uniswap/v4-core/src/libraries/FullMath.sol";

import {IHookedManager, TakingHook} from "fee_hooks.sol";
import {PoolKey, SwapParams} from "kit.sol";

interface IPricedManager {
    function extsload(bytes32 slot) external view returns (bytes32);
}

/// A hook by Deli's rule: it takes the pool's LP fee in one token, whichever is sold.
///
/// By the other reading of that rule, the pool takes its fee as well, and the hook a part of the amount in its token.
contract FeeInTokenHook is TakingHook {
    uint256 private constant Q96 = 1 << 96;
    address public WBLT;
    uint256 private _fee;
    bool private _isTwice;

    function takeTwice(bool isTwice) external {
        _isTwice = isTwice;
    }

    function set(address manager, PoolKey calldata key, address token, uint24 fee) external {
        WBLT = token;
        IHookedManager(manager).updateDynamicLPFee(key, fee);
    }

    function beforeSwap(address, PoolKey calldata key, SwapParams calldata params, bytes calldata)
        external
        returns (bytes4, int256, uint24)
    {
        uint256 slot0 = uint256(
            IPricedManager(msg.sender).extsload(keccak256(abi.encode(_idOf(key), uint256(6))))
        );
        (uint256 price, uint256 ppm) = (uint160(slot0), uint24(slot0 >> 208));
        if (_isTwice) {
            uint256 part = uint256(-params.amountSpecified) * ppm / 1_000_000;
            if (_currency(key, params.zeroForOne, true) != WBLT) part = 0;
            _take(WBLT, part);
            _fee = ppm;
            return (this.beforeSwap.selector, _specified(part), 0);
        }
        uint256 fee = FullMath.mulDivRoundingUp(uint256(-params.amountSpecified), ppm, 1_000_000);
        if (_currency(key, params.zeroForOne, true) == WBLT) {
            _take(WBLT, fee);
            _fee = 0;
            return (this.beforeSwap.selector, _specified(fee), 0x400000);
        }
        (uint256 above, uint256 below) = params.zeroForOne ? (price, Q96) : (Q96, price);
        _fee = FullMath.mulDivRoundingUp(FullMath.mulDivRoundingUp(fee, above, below), above, below);
        return (this.beforeSwap.selector, 0, 0x400000);
    }

    function afterSwap(address, PoolKey calldata key, SwapParams calldata params, int256 delta, bytes calldata)
        external
        returns (bytes4, int128)
    {
        if (_isTwice) {
            bool isBought = _currency(key, params.zeroForOne, false) == WBLT;
            _fee = isBought ? _bought(params, delta) * _fee / 1_000_000 : 0;
        }
        _take(WBLT, _fee);
        require(_fee >> 127 == 0);
        return (this.afterSwap.selector, int128(int256(_fee)));
    }
}
