// SPDX-License-Identifier: MIT
pragma solidity 0.8.26;

import {SwapParams} from "router/Interfaces.sol";
import {Coin} from "./Pool.sol";
import {vm} from "./Vm.sol";
import {RATE_SCALE, RouteParam, VAULT, World} from "./World.sol";

/// Writes the gas of calls to `snapshots`. The pools are models: what counts is that it changes with the router alone.
contract RouterGas is World {
    uint256 private constant AMOUNT = 1e18;
    uint8 private constant NATIVE_TO_TOKEN = 0;
    uint8 private constant TOKEN_TO_NATIVE = 1;
    uint8 private constant TOKEN_TO_TOKEN = 2;
    address private constant SENDER = address(0x5E4D);
    address private constant RECIPIENT = address(0xB0B);

    string[15] private NAMES = [
        "", "wrapper", "pair", "concentrated", "uniswap v4", "stableswap", "balancer v2", "balancer v3",
        "curve crypto", "infinity", "fluid", "vault", "psm", "liquidity book", "bridge"
    ];

    function setUp() external {
        vm.warp(1_700_000_000);
        // Whoever receives has the token already, as most have.
        for (uint256 k = 0; k < _coins.length; ++k) _coins[k].mint(RECIPIENT, 1);
        _coins[0].mint(SENDER, 2 * AMOUNT);
        vm.deal(SENDER, 2 * AMOUNT);
        vm.deal(RECIPIENT, 1);
        vm.prank(SENDER);
        _coins[0].approve(address(router), type(uint256).max);
    }

    function test_one_swap_of_every_family() external {
        for (uint8 kind = 2; kind <= VAULT + 3; ++kind) {
            SwapParams[] memory swaps = new SwapParams[](1);
            _random = kind;
            swaps[0] = _step(0, kind, address(_coins[0]), address(_coins[2]), RATE_SCALE).params;
            _coins[0].mint(SENDER, AMOUNT);
            _run(NAMES[kind], _coins[0], _coins[2], swaps, TOKEN_TO_TOKEN);
        }
    }

    function test_native_currency() external {
        SwapParams[] memory swaps = new SwapParams[](1);
        swaps[0] = _step(0, 5, address(wrapped), address(_coins[2]), RATE_SCALE).params;
        _run("native in", wrapped, _coins[2], swaps, NATIVE_TO_TOKEN);
        swaps[0] = _step(1, 5, address(_coins[0]), address(wrapped), RATE_SCALE).params;
        _run("native out", _coins[0], wrapped, swaps, TOKEN_TO_NATIVE);
    }

    function test_a_split_over_two_hops() external {
        SwapParams[] memory swaps = new SwapParams[](3);
        swaps[0] = _step(0, 5, address(_coins[0]), address(_coins[1]), RATE_SCALE / 3).params;
        swaps[1] = _step(1, 8, address(_coins[0]), address(_coins[1]), RATE_SCALE).params;
        swaps[2] = _step(2, 12, address(_coins[1]), address(_coins[2]), RATE_SCALE).params;
        _run("split, two hops", _coins[0], _coins[2], swaps, TOKEN_TO_TOKEN);
    }

    function test_an_integrator_and_a_deadline() external {
        SwapParams[] memory swaps = new SwapParams[](1);
        swaps[0] = _step(0, 5, address(_coins[0]), address(_coins[2]), RATE_SCALE).params;
        RouteParam memory route = _route(_coins[0], _coins[2], TOKEN_TO_TOKEN);
        vm.prank(SENDER);
        router.swapBefore(block.timestamp, route, swaps, abi.encode(RECIPIENT, 30, 0));
        vm.snapshotGasLastCall("router", "integrator, deadline");
    }

    function _route(Coin sold, Coin bought, uint8 swapType) private pure returns (RouteParam memory) {
        return RouteParam(address(sold), address(bought), AMOUNT, 1, 1, RECIPIENT, swapType);
    }

    function _run(string memory name, Coin sold, Coin bought, SwapParams[] memory swaps, uint8 swapType) private {
        RouteParam memory route = _route(sold, bought, swapType);
        vm.prank(SENDER);
        uint256 received = router.swap{value: swapType == NATIVE_TO_TOKEN ? AMOUNT : 0}(route, swaps);
        vm.snapshotGasLastCall("router", name);
        require(received > 0, "nothing was received");
    }
}
