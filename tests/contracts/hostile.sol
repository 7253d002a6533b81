// SPDX-License-Identifier: MIT
pragma solidity 0.8.26;

// Contracts that mean harm, or know no better, and try themselves on the router.

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

struct Action {
    address target;
    bytes input;
}

/// Runs what it was told to whenever it is called, and fails as its actions do. Stands for pools of any kind.
contract Script {
    Action[] private _actions;
    bytes private _answer;
    bool private _ran;

    receive() external payable {
        _run();
    }

    function plan(Action[] calldata actions, bytes calldata answer) external {
        delete _actions;
        for (uint256 k = 0; k < actions.length; ++k) _actions.push(actions[k]);
        (_answer, _ran) = (answer, false);
    }

    function run() external {
        _run();
    }

    /// Once only, so that a call of its own does not run in circles.
    fallback(bytes calldata) external payable returns (bytes memory) {
        _run();
        return _answer;
    }

    function _run() private {
        if (_ran || _actions.length == 0) return;
        _ran = true;
        for (uint256 k = 0; k < _actions.length; ++k) {
            (bool done, bytes memory output) = _actions[k].target.call(_actions[k].input);
            if (!done) {
                assembly {
                    revert(add(output, 32), mload(output))
                }
            }
        }
    }
}

/// Takes a hundredth of every transfer.
contract TaxedCoin is ERC20("Taxed", "TAX") {
    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    function _update(address from, address to, uint256 amount) internal override {
        super._update(from, to, amount);
        if (from != address(0) && to != address(0)) super._update(to, address(0), amount / 100);
    }
}

/// Calls somebody in the middle of every transfer.
contract HookedCoin is ERC20("Hooked", "HOOK") {
    address public hook;
    bytes[] private _failures;

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    function setHook(address hook_) external {
        hook = hook_;
    }

    function _update(address from, address to, uint256 amount) internal override {
        super._update(from, to, amount);
        if (hook == address(0) || from == address(0)) return;
        try Script(payable(hook)).run() {}
        catch (bytes memory failure) {
            _failures.push(failure);
        }
    }

    /// With what the calls ended that failed.
    function failures() external view returns (bytes[] memory) {
        return _failures;
    }
}

/// Says no without failing.
contract RefusingCoin {
    mapping(address => uint256) public balanceOf;

    function mint(address to, uint256 amount) external {
        balanceOf[to] += amount;
    }

    function transfer(address, uint256) external pure returns (bool) {
        return false;
    }

    function transferFrom(address, address, uint256) external pure returns (bool) {
        return false;
    }
}

/// Accepts no native currency.
contract Closed {}

/// Leaves native currency where nobody asks for it.
contract Bomb {
    receive() external payable {}

    function burst(address payable to) external payable {
        selfdestruct(to);
    }
}
