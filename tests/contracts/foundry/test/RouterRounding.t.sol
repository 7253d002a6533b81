// SPDX-License-Identifier: MIT
pragma solidity 0.8.26;

import {SwapParams} from "router/Interfaces.sol";
import {vm} from "./Vm.sol";
import {BRIDGE, RATE_SCALE, RouteParam, World} from "./World.sol";

/// A route may leave two units of a token, which is what rounding leaves of tokens that keep shares.
contract RouterRounding is World {
    function test_two_units_may_stay_behind_and_no_third() external {
        vm.warp(1_700_000_000);
        // A rate of all but a millionth leaves a unit of each million.
        for (uint256 left = 1; left <= 4; ++left) {
            require(_swapLeaving(left) == (left <= 2), "another number of units stays behind");
        }
    }

    function _swapLeaving(uint256 left) private returns (bool done) {
        uint256 amount = left * RATE_SCALE;
        SwapParams[] memory swaps = new SwapParams[](1);
        swaps[0] = _step(0, BRIDGE, address(_coins[0]), address(_coins[2]), RATE_SCALE - 1).params;
        RouteParam memory route =
            RouteParam(address(_coins[0]), address(_coins[2]), amount, 0, 0, address(0xB0B), 2);
        _coins[0].mint(address(this), amount);
        _coins[0].approve(address(router), amount);
        try router.swap(route, swaps) returns (uint256) {
            done = true;
        } catch {}
    }
}
