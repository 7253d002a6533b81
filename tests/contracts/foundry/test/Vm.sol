// SPDX-License-Identifier: MIT
pragma solidity 0.8.26;

struct Log {
    bytes32[] topics;
    bytes data;
    address emitter;
}

/// What the tests use of Foundry's cheat codes.
interface Vm {
    function deal(address owner, uint256 wei_) external;
    function envOr(string calldata name, string calldata fallback_) external view returns (string memory);
    function getRecordedLogs() external returns (Log[] memory);
    function load(address target, bytes32 slot) external view returns (bytes32);
    function parseJsonBytes(string calldata json, string calldata key) external pure returns (bytes memory);
    function prank(address sender) external;
    function readFile(string calldata path) external view returns (string memory);
    function recordLogs() external;
    function snapshotGasLastCall(string calldata group, string calldata name) external returns (uint256);
    function startPrank(address sender) external;
    function stopPrank() external;
    function warp(uint256 timestamp) external;
}

Vm constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));
