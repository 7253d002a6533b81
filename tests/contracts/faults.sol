// SPDX-License-Identifier: MIT
pragma solidity 0.8.26;

// What worlds with mined swaps add to the modelled contracts.

import {StableSwap} from "./world.sol";

/// A modelled pool of Curve's kind that announces its swaps, as the real ones do.
contract AnnouncedStableSwap is StableSwap {
    event TokenExchange(
        address indexed buyer, int128 sold_id, uint256 tokens_sold, int128 bought_id, uint256 tokens_bought
    );

    constructor(address[] memory coins_, uint256[] memory rates_, uint256 amp, uint256 fee_)
        StableSwap(coins_, rates_, amp, fee_)
    {}

    function exchange(int128 i, int128 j, uint256 dx, uint256 least) public override returns (uint256 dy) {
        dy = super.exchange(i, j, dx, least);
        emit TokenExchange(msg.sender, i, dx, j, dy);
    }
}
