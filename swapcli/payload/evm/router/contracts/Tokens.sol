// SPDX-License-Identifier: MIT
pragma solidity 0.8.26;

import {IToken} from "./Interfaces.sol";

/// A token refused a transfer or an approval.
error TokenRefused(address token);

/// Moves tokens, also those that return nothing where the standard wants `true`. An address without code would look like
/// one of them: the router has read the balance of every token before it moves it, which such an address cannot answer.
library Tokens {
    function balanceHere(address token) internal view returns (uint256) {
        return IToken(token).balanceOf(address(this));
    }

    function pay(address token, address to, uint256 amount) internal {
        _call(token, abi.encodeCall(IToken.transfer, (to, amount)));
    }

    /// Returns by how much the receiver's balance grew: less than `amount` where the token keeps shares.
    function payMeasured(address token, address to, uint256 amount) internal returns (uint256) {
        uint256 before = IToken(token).balanceOf(to);
        pay(token, to, amount);
        return IToken(token).balanceOf(to) - before;
    }

    function pull(address token, address from, uint256 amount) internal {
        _call(token, abi.encodeCall(IToken.transferFrom, (from, address(this), amount)));
    }

    function approve(address token, address spender, uint256 amount) internal {
        _call(token, abi.encodeCall(IToken.approve, (spender, amount)));
    }

    function allowance(address token, address spender) internal view returns (uint256) {
        return IToken(token).allowance(address(this), spender);
    }

    function _accepted(bytes memory output) private pure returns (bool) {
        return output.length == 0 || (output.length >= 32 && abi.decode(output, (uint256)) == 1);
    }

    function _call(address token, bytes memory input) private {
        (bool done, bytes memory output) = token.call(input);
        if (!done || !_accepted(output)) revert TokenRefused(token);
    }
}
