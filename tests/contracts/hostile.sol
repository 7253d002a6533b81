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

/// A pool that names a vault, or a manager, and answers every other call with one word.
contract Naming {
    address public getVault;
    int256 private immutable _word;

    constructor(address vault_, int256 word) {
        (getVault, _word) = (vault_, word);
    }

    function vault() external view returns (address) {
        return getVault;
    }

    function rename(address vault_) external {
        getVault = vault_;
    }

    fallback(bytes calldata) external returns (bytes memory) {
        return abi.encode(_word);
    }
}

/// Shows the balances of another token beside those that it has itself.
contract LyingCoin {
    ERC20 private immutable _other;
    mapping(address => uint256) private _own;

    constructor(ERC20 other) {
        _other = other;
    }

    function mint(address to, uint256 amount) external {
        _own[to] += amount;
    }

    function balanceOf(address owner) external view returns (uint256) {
        return _own[owner] + _other.balanceOf(owner);
    }

    function allowance(address, address) external pure returns (uint256) {
        return 0;
    }

    function approve(address, uint256) external pure returns (bool) {
        return true;
    }

    function transferFrom(address from, address to, uint256 amount) external returns (bool) {
        _own[from] -= amount;
        _own[to] += amount;
        return true;
    }
}

/// Shares that are redeemed without being burned.
contract LastingShares is ERC20("Lasting", "LAST") {
    ERC20 private immutable _asset;

    constructor(ERC20 asset) {
        _asset = asset;
    }

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    function redeem(uint256 amount, address to, address) external {
        _asset.transfer(to, amount);
    }
}

/// ERC-4626 shares, 1:1, that call somebody in the middle of a deposit and may mint too few.
contract HostileShares is ERC20("Hostile", "HOST") {
    ERC20 public immutable asset;
    uint256 private immutable _missing;
    address public hook;
    bytes[] private _failures;

    constructor(ERC20 asset_, uint256 missing) {
        (asset, _missing) = (asset_, missing);
    }

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    function setHook(address hook_) external {
        hook = hook_;
    }

    function previewDeposit(uint256 amount) external pure returns (uint256) {
        return amount;
    }

    function deposit(uint256 amount, address to) external returns (uint256) {
        asset.transferFrom(msg.sender, address(this), amount);
        _mint(to, amount - _missing);
        if (hook == address(0)) return amount;
        try Script(payable(hook)).run() {}
        catch (bytes memory failure) {
            _failures.push(failure);
        }
        return amount;
    }

    function failures() external view returns (bytes[] memory) {
        return _failures;
    }
}
