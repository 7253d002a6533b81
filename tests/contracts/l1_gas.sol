// SPDX-License-Identifier: MIT
pragma solidity 0.8.26;

/// A model of what Arbitrum's nodes answer in place of a contract: the price of the data counts its bytes, since no
/// contract compresses. Only a call from outside reaches it, as in a node.
contract NodeInterface {
    uint256 public pricePerUnit;
    uint256 public baseFee;

    function set(uint256 price, uint256 fee) external {
        (pricePerUnit, baseFee) = (price, fee);
    }

    function gasEstimateL1Component(address to, bool contractCreation, bytes calldata data)
        external
        payable
        returns (uint64 gasEstimateForL1, uint256, uint256)
    {
        require(msg.sender == tx.origin, "not from outside");
        require(to != address(0) && !contractCreation, "not a call");
        uint256 units = (16 * data.length + 16 * 16) * 10_100 / 10_000;
        return (uint64(pricePerUnit * units * 11_000 / 10_000 / baseFee), baseFee, pricePerUnit);
    }
}
