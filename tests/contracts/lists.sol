// SPDX-License-Identifier: MIT
pragma solidity 0.8.26;

/// A factory of Curve's kind as readers see it: a list of pools that were made elsewhere.
contract PoolList {
    address[] public pool_list;

    function pool_count() external view returns (uint256) {
        return pool_list.length;
    }

    function add(address pool) external {
        pool_list.push(pool);
    }
}
