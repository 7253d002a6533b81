// SPDX-License-Identifier: MIT
pragma solidity 0.8.26;

/// The lock of the router, and the one callback that it expects while a pool is called.
abstract contract Callbacks {
    error Reentered();
    /// Somebody calls who is not the pool that is being called, or not for what it is owed.
    error UnexpectedCaller(address caller);
    /// The pool did not take the whole amount: it runs out of liquidity, or is no pool.
    error PartlyTaken(address pool);

    bytes32 private constant IDLE = bytes32(uint256(1));
    bytes32 private constant BUSY = bytes32(uint256(2));

    /// `IDLE` between transactions, `BUSY` inside one, and while a pool is expected to call back the hash of its address,
    /// of the function that it must call and of the bytes that it was given. One word serves as lock and as check, and
    /// never goes back to zero: that makes both cheap without transient storage, which not every chain has.
    bytes32 private _state = IDLE;

    modifier alone() {
        if (_state != IDLE) revert Reentered();
        _state = BUSY;
        _;
        _state = IDLE;
    }

    /// Native currency arrives from unwrapping and from pools, some of which let another contract pay. What no swap
    /// wraps again makes the route revert at its end.
    receive() external payable {
        if (_state == IDLE) revert UnexpectedCaller(msg.sender);
    }

    /// From now on `caller` may call the function `callback` once, with these bytes.
    function _expect(address caller, bytes4 callback, bytes memory data) internal {
        _state = _promise(caller, callback, data);
    }

    function _admit(bytes4 callback, bytes memory data) internal {
        if (_state != _promise(msg.sender, callback, data)) revert UnexpectedCaller(msg.sender);
        _state = BUSY;
    }

    function _checkCalledBack(address pool) internal view {
        if (_state != BUSY) revert PartlyTaken(pool);
    }

    /// The function is part of the hash, since a pool that may call one of them must not reach another with the bytes.
    function _promise(address caller, bytes4 callback, bytes memory data) private pure returns (bytes32) {
        return keccak256(abi.encodePacked(caller, callback, data));
    }
}
