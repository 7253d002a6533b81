// SPDX-License-Identifier: MIT
pragma solidity 0.8.26;

/// A price feed of Chainlink's form.
contract Feed {
    uint8 public immutable decimals;
    int256 private immutable _answer;
    uint256 private immutable _age;

    constructor(int256 answer, uint8 decimals_, uint256 age) {
        (_answer, decimals, _age) = (answer, decimals_, age);
    }

    function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80) {
        uint256 time = block.timestamp - _age;
        return (7, _answer, time, time, 7);
    }
}
