// SPDX-License-Identifier: MIT
pragma solidity 0.8.26;

interface IToken {
    function balanceOf(address owner) external view returns (uint256);
}

/// A swap, made by whoever's address this stands at. It is never deployed: a node is asked what would come of a call if
/// this were the sender's code, so that the router, the tokens and the pools meet the sender himself.
///
/// The last 20 bytes of the code, which follow what the compiler makes of this, are the address of the code that the
/// sender has in truth, zero for none. It answers whatever else is called here, so that a wallet receives as it does.
contract Simulation {
    /// A call that the sender makes before the swap.
    struct Preparation {
        address to;
        bytes input;
    }

    /// `bought` is zero where it is the native currency. `input` is what the router is called with, after all
    /// `preparations`: the approvals that the sender has not given yet.
    struct Swap {
        address router;
        address bought;
        address receiver;
        uint256 value;
        bytes input;
        Preparation[] preparations;
    }

    enum Outcome {
        DONE,
        NO_ROUTER,
        NOT_APPROVED,
        REVERTED
    }

    /// `found` and `left` are what the receiver holds of the token that is bought, before and afterwards; `gasUsed` is
    /// the router's call alone; `output` is what the failing call returned, or the router's.
    function simulate(Swap calldata swap)
        external
        returns (Outcome outcome, uint256 found, uint256 left, uint256 gasUsed, bytes memory output)
    {
        if (swap.router.code.length == 0) return (Outcome.NO_ROUTER, 0, 0, 0, "");
        bool done;
        for (uint256 k; k < swap.preparations.length; ++k) {
            (done, output) = swap.preparations[k].to.call(swap.preparations[k].input);
            if (!done) return (Outcome.NOT_APPROVED, 0, 0, 0, output);
        }
        found = _held(swap.bought, swap.receiver);
        bytes memory input = swap.input;
        gasUsed = gasleft();
        (done, output) = swap.router.call{value: swap.value}(input);
        gasUsed -= gasleft();
        if (!done) return (Outcome.REVERTED, found, found, gasUsed, output);
        left = _held(swap.bought, swap.receiver);
    }

    receive() external payable {
        _asEver();
    }

    fallback() external payable {
        _asEver();
    }

    function _held(address token, address owner) private view returns (uint256) {
        return token == address(0) ? owner.balance : IToken(token).balanceOf(owner);
    }

    /// What the sender's own code would do; it costs next to nothing where there is none.
    function _asEver() private {
        assembly {
            mstore(0, 0)
            codecopy(12, sub(codesize(), 20), 20)
            let own := mload(0)
            if iszero(own) { stop() }
            calldatacopy(0, 0, calldatasize())
            let done := delegatecall(gas(), own, 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            if iszero(done) { revert(0, returndatasize()) }
            return(0, returndatasize())
        }
    }
}
