// SPDX-License-Identifier: MIT
pragma solidity 0.8.26;

interface IToken {
    function balanceOf(address owner) external view returns (uint256);
    function transfer(address to, uint256 amount) external;
}

/// Tries out what transfers of tokens do: out of a pool, between two wallets, and into the pool. It is never deployed: a
/// node is asked what would come of a call if this stood somewhere, and pools and wallets delegated calls to it.
contract TransferProbe {
    /// `holder` is the pool, or the contract that keeps the pool's tokens.
    struct Question {
        address token;
        address holder;
    }

    /// Four words for each of six transfers: whether it went through, its amount, by how much the sender's balance fell
    /// and by how much the receiver's grew. Twice over: out of the pool, from wallet to wallet, into the pool.
    uint256 private constant WORDS_EACH = 4;
    uint256 private constant GAS_EACH = 3_000_000;
    /// A 200th of what the pool holds is an ordinary trade; a fee of a thousandth shows on a million units.
    uint256 private constant PART = 200;
    uint256 private constant ENOUGH = 1_000_000;
    /// With less, a small fee could be rounded away.
    uint256 private constant SMALLEST = 10_000;

    /// There was too little gas for a fair trial of each token.
    error TooLittleGas();

    /// All zero where the holder has too little; a first transfer of one unit that failed where a token breaks the trial.
    function tryAll(Question[] calldata questions, address one, address other)
        external
        returns (uint256[24][] memory answers)
    {
        answers = new uint256[24][](questions.length);
        for (uint256 k = 0; k < questions.length; ++k) {
            // A call is given no more than 63 of 64 parts of what is left.
            if (gasleft() < GAS_EACH + GAS_EACH / 32) revert TooLittleGas();
            bytes memory input = abi.encodeCall(TransferProbe.tryToken, (questions[k].token, one, other));
            (bool done, bytes memory output) = questions[k].holder.call{gas: GAS_EACH}(input);
            if (done && output.length == 32 * 24) answers[k] = abi.decode(output, (uint256[24]));
            else answers[k][1] = 1;
        }
    }

    /// What contracts run.
    function codes(address[] calldata targets) external view returns (bytes[] memory found) {
        found = new bytes[](targets.length);
        for (uint256 k = 0; k < targets.length; ++k) found[k] = targets[k].code;
    }

    /// Runs at a pool's address.
    function tryToken(address token, address one, address other) external returns (uint256[24] memory found) {
        uint256 held = IToken(token).balanceOf(address(this));
        uint256 amount = held / PART;
        if (amount < ENOUGH) amount = held / 2 < ENOUGH ? held / 2 : ENOUGH;
        if (amount < SMALLEST) return found;
        _tryRound(found, 0, token, amount, one, other);
        // Some tokens move no more than a limit, and fewer units are rounded in other ways.
        _tryRound(found, 3 * WORDS_EACH, token, amount * 3 / 101 + SMALLEST + 1, one, other);
    }

    /// Runs at a wallet's address.
    function send(address token, address to, uint256 amount) external returns (bool) {
        return _transfer(token, to, amount);
    }

    function _tryRound(
        uint256[24] memory found,
        uint256 at,
        address token,
        uint256 amount,
        address one,
        address other
    ) private {
        uint256 gained = _try(found, at, token, address(this), one, amount);
        gained = _try(found, at + WORDS_EACH, token, one, other, gained);
        _try(found, at + 2 * WORDS_EACH, token, other, address(this), gained);
    }

    function _try(uint256[24] memory found, uint256 at, address token, address from, address to, uint256 amount)
        private
        returns (uint256 gained)
    {
        if (amount == 0) return 0;
        found[at + 1] = amount;
        uint256 lost = IToken(token).balanceOf(from);
        gained = IToken(token).balanceOf(to);
        bool isOwn = from == address(this);
        bool done = isOwn ? _transfer(token, to, amount) : TransferProbe(from).send(token, to, amount);
        if (!done) return 0;
        unchecked {
            lost -= IToken(token).balanceOf(from);
            gained = IToken(token).balanceOf(to) - gained;
        }
        (found[at], found[at + 2], found[at + 3]) = (1, lost, gained);
    }

    /// As the router judges it: nothing returned is as good as `true`.
    function _transfer(address token, address to, uint256 amount) private returns (bool) {
        (bool done, bytes memory output) = token.call(abi.encodeCall(IToken.transfer, (to, amount)));
        return done && (output.length == 0 || (output.length >= 32 && abi.decode(output, (uint256)) == 1));
    }
}
