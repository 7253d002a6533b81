// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;

/// The keys of pools that share a contract, with the fields that their contracts publish, and the hashes of them.
contract PoolKeys {
    /// PancakeSwap Infinity: PoolKey of infinity-core, PoolIdLibrary.toId.
    struct InfinityKey {
        address currency0;
        address currency1;
        address hooks;
        address poolManager;
        uint24 fee;
        bytes32 parameters;
    }

    /// Uniswap V4: PoolKey of v4-core, PoolIdLibrary.toId.
    struct V4Key {
        address currency0;
        address currency1;
        uint24 fee;
        int24 tickSpacing;
        address hooks;
    }

    /// Ekubo's EVM contracts: PoolKey of evm-contracts, PoolKeyLibrary.toPoolId.
    struct EkuboKey {
        address token0;
        address token1;
        bytes32 config;
    }

    /// Clober V2: IBookManager.BookKey of v2-core, BookIdLibrary.toId.
    struct BookKey {
        address base;
        uint64 unitSize;
        address quote;
        uint24 makerPolicy;
        address hooks;
        uint24 takerPolicy;
    }

    function infinityId(InfinityKey[] calldata keys) external pure returns (bytes32[] memory ids) {
        ids = new bytes32[](keys.length);
        for (uint256 i = 0; i < keys.length; i++) ids[i] = keccak256(abi.encode(keys[i]));
    }

    function v4Id(V4Key[] calldata keys) external pure returns (bytes32[] memory ids) {
        ids = new bytes32[](keys.length);
        for (uint256 i = 0; i < keys.length; i++) ids[i] = keccak256(abi.encode(keys[i]));
    }

    function ekuboId(EkuboKey[] calldata keys) external pure returns (bytes32[] memory ids) {
        ids = new bytes32[](keys.length);
        for (uint256 i = 0; i < keys.length; i++) ids[i] = keccak256(abi.encode(keys[i]));
    }

    function bookId(BookKey[] calldata keys) external pure returns (uint192[] memory ids) {
        ids = new uint192[](keys.length);
        for (uint256 i = 0; i < keys.length; i++) ids[i] = uint192(uint256(keccak256(abi.encode(keys[i]))));
    }
}
