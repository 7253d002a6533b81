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

    /// What `account` does after the swap, call by call, while two balances are watched: of `token` and `otherToken` held by
    /// `holder` and `otherHolder`. A token is zero where it is the native currency.
    struct Trial {
        address account;
        address token;
        address holder;
        address otherToken;
        address otherHolder;
        Preparation[] calls;
    }

    enum Outcome {
        DONE,
        NO_ROUTER,
        NOT_APPROVED,
        REVERTED
    }

    /// A sale in one pool takes a tenth of it.
    uint256 private constant MOST_GAS = 3_000_000;
    /// A balance behind a proxy takes a tenth of it.
    uint256 private constant MOST_GAS_OF_A_LOOK = 300_000;

    /// What a trial ends with, whose effects are undone.
    error Tried(bool done, uint256 found, uint256 left, uint256 otherFound, uint256 otherLeft, bytes output);

    /// `found` and `left` are what the receiver holds of the token that is bought, before and afterwards; `gasUsed` is
    /// the router's call alone; `output` is what the failing call returned, or the router's.
    function simulate(Swap calldata swap)
        external
        returns (Outcome outcome, uint256 found, uint256 left, uint256 gasUsed, bytes memory output)
    {
        return _simulate(swap);
    }

    /// The same, and afterwards each trial on the state after the swap: `tried` has what each ended with.
    function rehearse(Swap calldata swap, Trial[] calldata trials)
        external
        returns (
            Outcome outcome,
            uint256 found,
            uint256 left,
            uint256 gasUsed,
            bytes memory output,
            bytes[] memory tried
        )
    {
        (outcome, found, left, gasUsed, output) = _simulate(swap);
        tried = new bytes[](outcome == Outcome.DONE ? trials.length : 0);
        for (uint256 k; k < tried.length; ++k) {
            // An equal part for each, and one for what comes after them.
            uint256 share = gasleft() / (tried.length - k + 1);
            (, tried[k]) = address(this).call{gas: share < MOST_GAS ? share : MOST_GAS}(
                abi.encodeCall(Simulation.attempt, (trials[k]))
            );
        }
    }

    /// The same for a sender without code: this stands at the router's address, and the code that it names is the
    /// router's. Trials that call this address call the router for that sender.
    function relay(Swap calldata swap, Trial[] calldata trials)
        external
        payable
        returns (
            Outcome outcome,
            uint256 found,
            uint256 left,
            uint256 gasUsed,
            bytes memory output,
            bytes[] memory tried
        )
    {
        bytes memory input = swap.input;
        found = _held(swap.bought, swap.receiver);
        bool done;
        gasUsed = gasleft();
        (done, output) = _own().delegatecall(input);
        gasUsed -= gasleft();
        if (!done) return (Outcome.REVERTED, found, found, gasUsed, output, tried);
        left = _held(swap.bought, swap.receiver);
        tried = new bytes[](trials.length);
        for (uint256 k; k < tried.length; ++k) {
            uint256 share = gasleft() / (tried.length - k + 1);
            (, tried[k]) = address(this).delegatecall{gas: share < MOST_GAS ? share : MOST_GAS}(
                abi.encodeCall(Simulation.attempt, (trials[k]))
            );
        }
    }

    /// Ends with `Tried`.
    function attempt(Trial calldata trial) external {
        (bool done, uint256 found) = _look(trial.token, trial.holder);
        (bool otherDone, uint256 otherFound) = _look(trial.otherToken, trial.otherHolder);
        bytes memory output;
        done = done && otherDone;
        for (uint256 k; done && k < trial.calls.length; ++k) {
            (done, output) = _act(trial.account, trial.calls[k]);
        }
        if (!done) revert Tried(false, 0, 0, 0, 0, output);
        uint256 left;
        uint256 otherLeft;
        (done, left) = _look(trial.token, trial.holder);
        (otherDone, otherLeft) = _look(trial.otherToken, trial.otherHolder);
        revert Tried(done && otherDone, found, left, otherFound, otherLeft, output);
    }

    /// What calls return, made from wherever this stands; nothing where one fails.
    function look(Preparation[] calldata calls) external returns (bytes[] memory outputs) {
        outputs = new bytes[](calls.length);
        for (uint256 k; k < calls.length; ++k) {
            (bool done, bytes memory output) = calls[k].to.call{gas: MOST_GAS_OF_A_LOOK}(calls[k].input);
            if (done) outputs[k] = output;
        }
    }

    /// A call by this account, for another one that runs this code.
    function perform(address to, bytes calldata input) external returns (bool done, bytes memory output) {
        return to.call(input);
    }

    receive() external payable {
        _asEver();
    }

    fallback() external payable {
        _asEver();
    }

    function _simulate(Swap calldata swap)
        private
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

    function _act(address account, Preparation calldata made) private returns (bool done, bytes memory output) {
        if (made.to == address(this)) return _own().delegatecall(made.input);
        if (account == address(this)) return made.to.call(made.input);
        return Simulation(payable(account)).perform(made.to, made.input);
    }

    /// As `_held`, where a token that fails is no failure of the trial.
    function _look(address token, address owner) private view returns (bool done, uint256 held) {
        if (token == address(0)) return (true, owner.balance);
        bytes memory output;
        (done, output) = token.staticcall(abi.encodeCall(IToken.balanceOf, (owner)));
        if (done = done && output.length >= 32) held = abi.decode(output, (uint256));
    }

    function _held(address token, address owner) private view returns (uint256) {
        return token == address(0) ? owner.balance : IToken(token).balanceOf(owner);
    }

    function _own() private pure returns (address own) {
        assembly {
            mstore(0, 0)
            codecopy(12, sub(codesize(), 20), 20)
            own := mload(0)
        }
    }

    /// What the sender's own code would do; it costs next to nothing where there is none.
    function _asEver() private {
        address own = _own();
        assembly {
            if iszero(own) { stop() }
            calldatacopy(0, 0, calldatasize())
            let done := delegatecall(gas(), own, 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            if iszero(done) { revert(0, returndatasize()) }
            return(0, returndatasize())
        }
    }
}
