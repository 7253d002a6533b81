// SPDX-License-Identifier: MIT
pragma solidity 0.8.26;

interface IBalances {
    function balanceOf(address owner) external view returns (uint256);
}

/// The account that sends programs to routers, as code at its address: runs one and says which balances it changes.
contract ProgramSender {
    struct Call {
        address to;
        uint256 value;
        bytes data;
    }

    receive() external payable {}

    /// Makes calls of the account. Returns how many succeeded.
    function run(Call[] calldata calls) external returns (uint256 succeeded) {
        for (uint256 i = 0; i < calls.length; ++i) {
            (bool done,) = calls[i].to.call{value: calls[i].value}(calls[i].data);
            if (done) ++succeeded;
        }
    }

    /// Sends a call. Returns the changes of each owner's balances of each token, all owners of the first token first.
    function measure(Call calldata program, address[] calldata owners, address[] calldata tokens)
        external
        returns (bool done, bytes memory output, int256[] memory changes)
    {
        changes = _balances(owners, tokens);
        (done, output) = program.to.call{value: program.value}(program.data);
        int256[] memory afterwards = _balances(owners, tokens);
        for (uint256 i = 0; i < changes.length; ++i) {
            changes[i] = afterwards[i] - changes[i];
        }
    }

    /// Accepts the signatures of the account's key, as Permit2 asks accounts with code.
    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        bool isOwn = signature.length == 65
            && ecrecover(hash, uint8(signature[64]), bytes32(signature[:32]), bytes32(signature[32:64])) == address(this);
        return isOwn ? this.isValidSignature.selector : bytes4(0);
    }

    function _balances(address[] calldata owners, address[] calldata tokens)
        private
        view
        returns (int256[] memory balances)
    {
        balances = new int256[](owners.length * tokens.length);
        for (uint256 t = 0; t < tokens.length; ++t) {
            for (uint256 i = 0; i < owners.length; ++i) {
                uint256 amount =
                    tokens[t] == address(0) ? owners[i].balance : IBalances(tokens[t]).balanceOf(owners[i]);
                balances[t * owners.length + i] = int256(amount);
            }
        }
    }
}
