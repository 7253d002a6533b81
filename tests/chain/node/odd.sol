// SPDX-License-Identifier: MIT
pragma solidity 0.8.26;

/// Modelled: what reading needs of Multicall3, with its interface.
contract Multicall {
    struct Call3 {
        address target;
        bool allowFailure;
        bytes callData;
    }

    struct Result {
        bool success;
        bytes returnData;
    }

    function getCurrentBlockTimestamp() external view returns (uint256) {
        return block.timestamp;
    }

    function getBlockNumber() external view returns (uint256) {
        return block.number;
    }

    function getLastBlockHash() external view returns (bytes32) {
        return blockhash(block.number - 1);
    }

    function aggregate3(Call3[] calldata calls) external payable returns (Result[] memory results) {
        results = new Result[](calls.length);
        for (uint256 k = 0; k < calls.length; ++k) {
            (results[k].success, results[k].returnData) = calls[k].target.call(calls[k].callData);
            require(results[k].success || calls[k].allowFailure, "a call failed");
        }
    }
}

/// Burns all gas that it gets, or answers.
contract Burner {
    function token0() external pure returns (address) {
        assembly {
            invalid()
        }
    }

    function token1() external view returns (address) {
        return address(this);
    }
}

/// Returns whatever it was told to, and reverts where it was told nothing.
contract OddToken {
    mapping(bytes4 => bytes) private _answers;
    mapping(bytes4 => bool) private _answered;

    function say(string calldata signature, bytes calldata answer) external {
        bytes4 code = bytes4(keccak256(bytes(signature)));
        (_answers[code], _answered[code]) = (answer, true);
    }

    fallback(bytes calldata) external returns (bytes memory) {
        require(_answered[msg.sig], "no answer");
        return _answers[msg.sig];
    }
}

/// Modelled: what PancakeSwap V3's factory has its pools deployed by, since no package holds it. `code` is the pool's.
contract PoolDeployer {
    struct Parameters {
        address factory;
        address token0;
        address token1;
        uint24 fee;
        int24 tickSpacing;
    }

    Parameters public parameters;
    bytes private _code;

    constructor(bytes memory code) {
        _code = code;
    }

    function deploy(address factory, address token0, address token1, uint24 fee, int24 tickSpacing)
        external
        returns (address pool)
    {
        parameters = Parameters(factory, token0, token1, fee, tickSpacing);
        bytes memory code = _code;
        assembly {
            pool := create(0, add(code, 32), mload(code))
        }
        require(pool != address(0), "pool not deployed");
    }
}
