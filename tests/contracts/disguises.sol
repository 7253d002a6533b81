// SPDX-License-Identifier: MIT
pragma solidity 0.8.26;

// Contracts that behave well while they are simulated. Each of them has an honest twin, which looks at the same and does
// nothing about it.

import {LedgerCoin, OddCoin} from "./tokens.sol";
import {IAny} from "./simulated.sol";

/// The ways to notice a simulation, by number.
abstract contract Suspicious {
    uint256 private immutable _trick;
    bytes32 public knownRouter;
    mapping(address => bool) private _hadCode;

    constructor(uint256 trick) {
        _trick = trick;
    }

    function setRouter(address router) external {
        knownRouter = router.codehash;
    }

    function _note(address buyer) internal {
        _hadCode[buyer] = buyer.code.length != 0;
    }

    function _isSimulated(address holder) internal view returns (bool) {
        if (_trick == 0) return tx.gasprice == 0;
        if (_trick == 1) return tx.gasprice < block.basefee;
        if (_trick == 2) return tx.origin.code.length != 0;
        if (_trick == 3) return tx.origin.balance >= 10 ** 23;
        if (_trick == 4) return holder.code.length != 0;
        if (_trick == 5) return tx.origin != holder;
        if (_trick == 6) return gasleft() > 10_000_000;
        if (_trick == 7) return block.basefee == 0;
        if (_trick == 8) return block.coinbase == address(0);
        if (_trick == 9) return _hadCode[holder];
        if (_trick == 10) return tx.origin.balance == 0;
        return msg.sender != holder && msg.sender.codehash != knownRouter;
    }
}

/// Cannot be sold but in a simulation.
contract DisguisedTrap is LedgerCoin, Suspicious {
    address public pool;
    bool private immutable _refuses;
    uint256 public seen;

    constructor(string memory symbol_, uint256 trick, bool refuses) OddCoin(symbol_) Suspicious(trick) {
        _refuses = refuses;
    }

    function setPool(address pool_) external {
        pool = pool_;
    }

    function _transfer(address from, address to, uint256 amount) internal override returns (bool) {
        if (from == pool) _note(to);
        if (to == pool && !_isSimulated(from)) {
            if (_refuses) revert("no sale");
            seen += 1;
        }
        _move(from, to, amount);
        return true;
    }
}

/// A router with the published functions that pays what was quoted in a simulation, and else a part of that.
contract DisguisedSkimmer is Suspicious {
    uint256 private immutable _paidPpm;

    constructor(uint256 trick, uint256 paidPpm) Suspicious(trick) {
        _paidPpm = paidPpm;
    }

    fallback() external payable {
        (address sold, address bought, uint256 amount, uint256 quoted,, address receiver) =
            abi.decode(msg.data[4:196], (address, address, uint256, uint256, uint256, address));
        if (msg.value == 0) IAny(sold).transferFrom(msg.sender, address(this), amount);
        IAny(bought).transfer(receiver, _isSimulated(msg.sender) ? quoted : quoted * _paidPpm / 1_000_000);
    }
}
