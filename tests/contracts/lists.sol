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

    mapping(uint256 => address[]) private _markets;

    function register(address pool, address a, address b) external {
        _markets[uint256(uint160(a)) ^ uint256(uint160(b))].push(pool);
    }

    /// Reverts past the last pool, as the newest of Curve's factories do.
    function find_pool_for_coins(address a, address b, uint256 i) external view returns (address) {
        return _markets[uint256(uint160(a)) ^ uint256(uint160(b))][i];
    }
}
