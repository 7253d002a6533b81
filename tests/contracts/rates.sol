// SPDX-License-Identifier: MIT
pragma solidity 0.8.26;

/// A token's rate that a test sets; while it is zero, the provider reverts.
contract RateProvider {
    uint256 private _rate;

    constructor(uint256 rate) {
        _rate = rate;
    }

    function setRate(uint256 rate) external {
        _rate = rate;
    }

    function getRate() external view returns (uint256) {
        require(_rate != 0, "no rate");
        return _rate;
    }
}
