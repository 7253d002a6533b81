// SPDX-License-Identifier: MIT
pragma solidity 0.8.26;

// Tokens that can be bought, and whose owners keep something back. All are minted by anyone.

import {LedgerCoin, OddCoin} from "./tokens.sol";

/// Knows the pool, so that it can tell sales from other transfers.
abstract contract PoolAware is LedgerCoin {
    address public pool;

    function setPool(address pool_) external {
        pool = pool_;
    }
}

/// Stops all transfers while it is paused.
contract PausableCoin is LedgerCoin {
    bool public paused;
    address public owner = msg.sender;

    constructor(string memory symbol_) OddCoin(symbol_) {}

    function pause() external {
        paused = true;
    }

    function _transfer(address from, address to, uint256 amount) internal override returns (bool) {
        require(!paused, "paused");
        _move(from, to, amount);
        return true;
    }
}

/// Stops transfers of some accounts.
contract BlocklistCoin is LedgerCoin {
    mapping(address => bool) public isBlacklisted;

    constructor(string memory symbol_) OddCoin(symbol_) {}

    function blacklist(address account) external {
        isBlacklisted[account] = true;
    }

    function _transfer(address from, address to, uint256 amount) internal override returns (bool) {
        require(!isBlacklisted[from] && !isBlacklisted[to], "blocked");
        _move(from, to, amount);
        return true;
    }
}

/// Blocks everyone who buys.
contract MarkingCoin is PoolAware {
    mapping(address => bool) public isBlocked;

    constructor(string memory symbol_) OddCoin(symbol_) {}

    function _transfer(address from, address to, uint256 amount) internal override returns (bool) {
        require(!isBlocked[from], "bot");
        _move(from, to, amount);
        if (from == pool) isBlocked[to] = true;
        return true;
    }
}

/// Sells no more than a limit at a time.
contract SmallSalesCoin is PoolAware {
    uint256 public immutable LIMIT;

    constructor(string memory symbol_, uint256 limit) OddCoin(symbol_) {
        LIMIT = limit;
    }

    function _transfer(address from, address to, uint256 amount) internal override returns (bool) {
        require(to != pool || amount <= LIMIT, "too much at once");
        _move(from, to, amount);
        return true;
    }
}

/// Lets nobody sell who has bought in this block.
contract CooldownCoin is PoolAware {
    mapping(address => uint256) private _bought;

    constructor(string memory symbol_) OddCoin(symbol_) {}

    function _transfer(address from, address to, uint256 amount) internal override returns (bool) {
        require(_bought[from] != block.number, "wait");
        _move(from, to, amount);
        if (from == pool) _bought[to] = block.number;
        return true;
    }
}

/// Only the owner sells.
contract OwnerSalesCoin is PoolAware {
    address public owner = msg.sender;

    constructor(string memory symbol_) OddCoin(symbol_) {}

    function _transfer(address from, address to, uint256 amount) internal override returns (bool) {
        require(to != pool || from == owner, "not the owner");
        _move(from, to, amount);
        return true;
    }
}

/// Burns as much again of what the seller holds.
contract BurningCoin is PoolAware {
    constructor(string memory symbol_) OddCoin(symbol_) {}

    function _transfer(address from, address to, uint256 amount) internal override returns (bool) {
        _move(from, to, amount);
        if (to == pool) _balances[from] -= amount < _balances[from] ? amount : _balances[from];
        return true;
    }
}

/// Takes nine tenths of what has arrived from a pool with the next transfer.
contract ShrinkingCoin is PoolAware {
    mapping(address => bool) private _marked;

    constructor(string memory symbol_) OddCoin(symbol_) {}

    function balanceOf(address holder) external view override returns (uint256) {
        return _marked[holder] ? _balances[holder] / 10 : _balances[holder];
    }

    function _transfer(address from, address to, uint256 amount) internal override returns (bool) {
        require(!_marked[from] || amount <= _balances[from] / 10, "gone");
        _move(from, to, amount);
        if (from == pool) _marked[to] = true;
        return true;
    }
}

/// Says that it approves, and forgets it.
contract ForgetfulCoin {
    string public symbol;
    uint8 public constant decimals = 18;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;
    address public immutable MAKER = msg.sender;

    constructor(string memory symbol_) {
        symbol = symbol_;
    }

    function mint(address to, uint256 amount) external {
        balanceOf[to] += amount;
    }

    function approve(address spender, uint256 amount) external returns (bool) {
        if (msg.sender == MAKER) allowance[msg.sender][spender] = amount;
        return true;
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        balanceOf[msg.sender] -= amount;
        balanceOf[to] += amount;
        return true;
    }

    function transferFrom(address from, address to, uint256 amount) external returns (bool) {
        allowance[from][msg.sender] -= amount;
        balanceOf[from] -= amount;
        balanceOf[to] += amount;
        return true;
    }
}

interface IHook {
    function onTransfer(address from, address to, uint256 amount) external;
}

/// Calls a contract of its maker before each transfer, which may refuse it.
contract CallingCoin is LedgerCoin {
    IHook public hook;

    constructor(string memory symbol_) OddCoin(symbol_) {}

    function setHook(IHook hook_) external {
        hook = hook_;
    }

    function _transfer(address from, address to, uint256 amount) internal override returns (bool) {
        if (address(hook) != address(0)) hook.onTransfer(from, to, amount);
        _move(from, to, amount);
        return true;
    }
}

/// Refuses what goes to a pool.
contract RefusingHook is IHook {
    address private immutable _pool;

    constructor(address pool) {
        _pool = pool;
    }

    function onTransfer(address, address to, uint256) external view {
        require(to != _pool, "closed");
    }
}

/// Returns nothing from its functions, as old tokens do.
contract SilentCoin {
    string public symbol;
    uint8 public constant decimals = 18;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;

    constructor(string memory symbol_) {
        symbol = symbol_;
    }

    function mint(address to, uint256 amount) external {
        balanceOf[to] += amount;
    }

    function approve(address spender, uint256 amount) external {
        allowance[msg.sender][spender] = amount;
    }

    function transfer(address to, uint256 amount) external {
        balanceOf[msg.sender] -= amount;
        balanceOf[to] += amount;
    }

    function transferFrom(address from, address to, uint256 amount) external {
        allowance[from][msg.sender] -= amount;
        balanceOf[from] -= amount;
        balanceOf[to] += amount;
    }
}

/// Moves the amount and returns false.
contract DenyingCoin is LedgerCoin {
    bool public isOpen = true;

    constructor(string memory symbol_) OddCoin(symbol_) {}

    function close() external {
        isOpen = false;
    }

    function _transfer(address from, address to, uint256 amount) internal override returns (bool) {
        _move(from, to, amount);
        return isOpen;
    }
}

/// A proxy whose code is at the address in a slot: of itself, or of a beacon there.
contract SlotProxy {
    constructor(bytes32 slot, address target) {
        assembly {
            sstore(slot, target)
            sstore(0xfeed, slot)
        }
    }

    fallback() external payable {
        assembly {
            let target := sload(sload(0xfeed))
            mstore(0, shl(224, 0x5c60da1b))
            // A beacon names the implementation.
            if staticcall(50000, target, 0, 4, 32, 32) { if eq(returndatasize(), 32) { target := mload(32) } }
            calldatacopy(0, 0, calldatasize())
            let done := delegatecall(gas(), target, 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            if iszero(done) { revert(0, returndatasize()) }
            return(0, returndatasize())
        }
    }
}

contract Beacon {
    address public immutable implementation;

    constructor(address implementation_) {
        implementation = implementation_;
    }
}

/// Nothing but a token: what proxies stand before.
contract PlainCoin {
    string public constant symbol = "PLAIN";
    uint8 public constant decimals = 18;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;

    /// As a constructor does.
    function mint(address to, uint256 amount) external {
        balanceOf[to] += amount;
    }

    function approve(address spender, uint256 amount) external returns (bool) {
        allowance[msg.sender][spender] = amount;
        return true;
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        balanceOf[msg.sender] -= amount;
        balanceOf[to] += amount;
        return true;
    }

    function transferFrom(address from, address to, uint256 amount) external returns (bool) {
        allowance[from][msg.sender] -= amount;
        balanceOf[from] -= amount;
        balanceOf[to] += amount;
        return true;
    }
}

interface IPair {
    function token0() external view returns (address);
    function getReserves() external view returns (uint112, uint112, uint32);
    function swap(uint256 out0, uint256 out1, address to, bytes calldata data) external;
}

/// Sells new tokens to the pool before anyone else's sale arrives there.
contract SellingHook is IHook {
    IPair private immutable _pool;

    constructor(IPair pool) {
        _pool = pool;
    }

    function onTransfer(address, address to, uint256) external {
        if (to != address(_pool)) return;
        (uint256 reserve0, uint256 reserve1, ) = _pool.getReserves();
        bool isFirst = _pool.token0() == msg.sender;
        LedgerCoin(msg.sender).mint(to, 9 * (isFirst ? reserve0 : reserve1));
        uint256 taken = (isFirst ? reserve1 : reserve0) * 8 / 10;
        _pool.swap(isFirst ? 0 : taken, isFirst ? taken : 0, address(this), "");
    }
}

/// Burns all the gas of what goes to a pool.
contract BurningHook is IHook {
    address private immutable _pool;

    constructor(address pool) {
        _pool = pool;
    }

    function onTransfer(address, address to, uint256) external view {
        while (to == _pool) {}
    }
}

/// Refuses what goes to a pool, with as much data as gas pays for.
contract ShoutingHook is IHook {
    address private immutable _pool;

    constructor(address pool) {
        _pool = pool;
    }

    function onTransfer(address, address to, uint256) external view {
        if (to != _pool) return;
        assembly {
            revert(0, 200000)
        }
    }
}

/// Counts in as many decimals as its maker says; whether it goes to its pool is the maker's choice, too.
contract FineCoin {
    string public symbol;
    uint8 public immutable decimals;
    address public pool;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;

    constructor(string memory symbol_, uint8 decimals_) {
        (symbol, decimals) = (symbol_, decimals_);
    }

    function setPool(address pool_) external {
        pool = pool_;
    }

    /// As a constructor does.
    function mint(address to, uint256 amount) external {
        balanceOf[to] += amount;
    }

    function approve(address spender, uint256 amount) external returns (bool) {
        allowance[msg.sender][spender] = amount;
        return true;
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        return _transfer(msg.sender, to, amount);
    }

    function transferFrom(address from, address to, uint256 amount) external returns (bool) {
        allowance[from][msg.sender] -= amount;
        return _transfer(from, to, amount);
    }

    function _transfer(address from, address to, uint256 amount) private returns (bool) {
        require(to != pool, "closed");
        balanceOf[from] -= amount;
        balanceOf[to] += amount;
        return true;
    }
}
