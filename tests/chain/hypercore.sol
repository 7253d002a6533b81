// SPDX-License-Identifier: MIT
pragma solidity 0.8.26;

/// A contract that answers as a precompile of HyperCore does: plain words in, what was set out.
contract Precompile {
    mapping(bytes32 => bytes) private _answers;

    function set(uint256 word, bytes calldata answer) external {
        _answers[bytes32(word)] = answer;
    }

    fallback(bytes calldata word) external returns (bytes memory) {
        bytes memory answer = _answers[bytes32(word)];
        require(answer.length != 0, "no such index");
        return answer;
    }
}

/// A registry of the indices of tokens.
contract TokenRegistry {
    mapping(address => uint32) private _indices;

    function set(address token, uint32 index) external {
        _indices[token] = index;
    }

    function getTokenIndex(address token) external view returns (uint32) {
        require(_indices[token] != 0, "not linked");
        return _indices[token];
    }
}
