// SPDX-License-Identifier: MIT
pragma solidity 0.8.26;

// Name services as ENS and Basenames have them: records by name, for each coin type, on the chain or off it.

/// Records of names.
contract NameResolver {
    error OffchainLookup(address sender, string[] urls, bytes callData, bytes4 callbackFunction, bytes extraData);
    error ResolverNotFound(bytes name);

    uint256 constant ETHEREUM = 60;
    mapping(bytes32 => mapping(uint256 => bytes)) internal _records;
    mapping(bytes32 => bool) internal _isOffChain;

    function setRecord(bytes32 node, uint256 coinType, bytes calldata content) external {
        _records[node][coinType] = content;
    }

    function setOffChain(bytes32 node) external {
        _isOffChain[node] = true;
    }

    function addr(bytes32 node) public view returns (address payable) {
        _checkOnChain(node);
        return payable(address(bytes20(_records[node][ETHEREUM])));
    }

    function addr(bytes32 node, uint256 coinType) public view returns (bytes memory) {
        _checkOnChain(node);
        return _records[node][coinType];
    }

    function _checkOnChain(bytes32 node) internal view {
        if (_isOffChain[node]) {
            string[] memory urls = new string[](1);
            urls[0] = "https://gateway.invalid/{sender}/{data}.json";
            revert OffchainLookup(address(this), urls, "", this.setOffChain.selector, "");
        }
    }
}

/// The one resolver of ENS: it takes the name as DNS encodes it, and a call of a resolver.
contract UniversalResolver is NameResolver {
    function resolve(bytes calldata name, bytes calldata data) external view returns (bytes memory, address) {
        bytes32 node = abi.decode(data[4:36], (bytes32));
        require(node == _hash(name, 0), "the name and its hash differ");
        if (data.length == 36) {
            require(bytes4(data) == bytes4(keccak256("addr(bytes32)")), "another method");
            address found = addr(node);
            if (found == address(0) && _records[node][ETHEREUM].length == 0) revert ResolverNotFound(name);
            return (abi.encode(found), address(this));
        }
        require(bytes4(data) == bytes4(keccak256("addr(bytes32,uint256)")), "another method");
        return (abi.encode(addr(node, abi.decode(data[36:68], (uint256)))), address(this));
    }

    /// The hash of EIP-137 of a name from its label at `at` on.
    function _hash(bytes calldata name, uint256 at) private pure returns (bytes32) {
        uint256 length = uint8(name[at]);
        if (length == 0) return 0;
        return keccak256(abi.encodePacked(_hash(name, at + 1 + length), keccak256(name[at + 1:at + 1 + length])));
    }
}

/// The registry of Basenames: the resolver of each name.
contract NameRegistry {
    mapping(bytes32 => address) public resolver;

    function setResolver(bytes32 node, address to) external {
        resolver[node] = to;
    }
}
