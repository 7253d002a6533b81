// SPDX-License-Identifier: MIT
pragma solidity 0.8.26;

// What worlds with mined swaps add to the modelled contracts, and contracts that say what they do not do.

import {PoolHost} from "./kit.sol";
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

/// The factory of a Solidly pair: the pair learns another fee from it than everybody else.
contract TwoFacedHost is PoolHost {
    uint256 private immutable SHOWN;
    uint256 private immutable TAKEN;

    /// Both in hundredths of a percent.
    constructor(uint256 shown, uint256 taken) {
        (SHOWN, TAKEN) = (shown, taken);
    }

    function getFee(address pair, bool) external view override returns (uint256) {
        return msg.sender == pair ? TAKEN : SHOWN;
    }
}
