// SPDX-License-Identifier: MIT
pragma solidity 0.8.26;

// Tokens whose transfers are not what they seem. All are minted by anyone.

/// What they share: balances, approvals, and one place where a transfer happens.
abstract contract OddCoin {
    string public symbol;
    uint8 public constant decimals = 18;
    mapping(address => mapping(address => uint256)) public allowance;

    constructor(string memory symbol_) {
        symbol = symbol_;
    }

    function name() external view returns (string memory) {
        return symbol;
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

    function balanceOf(address owner) external view virtual returns (uint256);
    function mint(address to, uint256 amount) external virtual;
    function _transfer(address from, address to, uint256 amount) internal virtual returns (bool);
}

/// Keeps plain balances.
abstract contract LedgerCoin is OddCoin {
    mapping(address => uint256) internal _balances;

    function balanceOf(address owner) external view virtual override returns (uint256) {
        return _balances[owner];
    }

    function mint(address to, uint256 amount) external override {
        _balances[to] += amount;
    }

    function _move(address from, address to, uint256 amount) internal {
        _balances[from] -= amount;
        _balances[to] += amount;
    }
}

/// Like stETH: keeps shares of a pot and shows them as amounts, rounding down each time.
contract ShareCoin is OddCoin {
    mapping(address => uint256) public sharesOf;
    uint256 public totalShares = 10 ** 30;
    uint256 public pot;

    /// A share is worth `pot_` / 10^30 units.
    constructor(string memory symbol_, uint256 pot_) OddCoin(symbol_) {
        pot = pot_;
    }

    function balanceOf(address owner) external view override returns (uint256) {
        return sharesOf[owner] * pot / totalShares;
    }

    function mint(address to, uint256 amount) external override {
        uint256 shares = amount * totalShares / pot;
        sharesOf[to] += shares;
        pot += shares * pot / totalShares;
        totalShares += shares;
    }

    function rebase(uint256 pot_) external {
        pot = pot_;
    }

    function _transfer(address from, address to, uint256 amount) internal override returns (bool) {
        uint256 shares = amount * totalShares / pot;
        sharesOf[from] -= shares;
        sharesOf[to] += shares;
        return true;
    }
}

/// Like an aToken: balances are scaled by an index, both ways rounded to the nearest.
contract IndexCoin is OddCoin {
    mapping(address => uint256) private _scaled;
    uint256 public immutable INDEX;
    uint256 private constant RAY = 1e27;

    constructor(string memory symbol_, uint256 index) OddCoin(symbol_) {
        INDEX = index;
    }

    function balanceOf(address owner) external view override returns (uint256) {
        return (_scaled[owner] * INDEX + RAY / 2) / RAY;
    }

    function mint(address to, uint256 amount) external override {
        _scaled[to] += _units(amount);
    }

    function _transfer(address from, address to, uint256 amount) internal override returns (bool) {
        _scaled[from] -= _units(amount);
        _scaled[to] += _units(amount);
        return true;
    }

    function _units(uint256 amount) private view returns (uint256) {
        return (amount * RAY + INDEX / 2) / INDEX;
    }
}

/// Takes fees in parts per million: of what comes out of a pool, goes into one, or passes between others.
contract FeeCoin is LedgerCoin {
    uint256 public immutable BUY_FEE;
    uint256 public immutable SELL_FEE;
    uint256 public immutable TRANSFER_FEE;
    mapping(address => bool) public isPool;

    constructor(string memory symbol_, uint256 buyFee, uint256 sellFee, uint256 transferFee) OddCoin(symbol_) {
        (BUY_FEE, SELL_FEE, TRANSFER_FEE) = (buyFee, sellFee, transferFee);
    }

    function setPool(address pool) external {
        isPool[pool] = true;
    }

    function _transfer(address from, address to, uint256 amount) internal virtual override returns (bool) {
        _move(from, to, amount);
        uint256 fee = amount * (isPool[from] ? BUY_FEE : isPool[to] ? SELL_FEE : TRANSFER_FEE) / 1e6;
        if (fee != 0) _move(to, address(this), fee);
        return true;
    }
}

interface IReserves {
    function getReserves() external view returns (uint112 reserve0, uint112 reserve1, uint32 time);
}

/// Looks at the pool before it is sold to it, as tokens do that sell the fees they have taken.
contract LookingCoin is FeeCoin {
    constructor(string memory symbol_, uint256 sellFee) FeeCoin(symbol_, 0, sellFee, 0) {}

    function _transfer(address from, address to, uint256 amount) internal override returns (bool) {
        if (isPool[to]) {
            (uint112 reserve0, uint112 reserve1,) = IReserves(to).getReserves();
            require(reserve0 != 0 && reserve1 != 0, "no liquidity");
        }
        return super._transfer(from, to, amount);
    }
}

/// Can be bought, and never sold.
contract TrapCoin is LedgerCoin {
    mapping(address => bool) public isPool;

    constructor(string memory symbol_) OddCoin(symbol_) {}

    function setPool(address pool) external {
        isPool[pool] = true;
    }

    function _transfer(address from, address to, uint256 amount) internal override returns (bool) {
        require(!isPool[to], "trading is not open");
        _move(from, to, amount);
        return true;
    }
}

/// Moves nothing above a limit.
contract LimitedCoin is LedgerCoin {
    uint256 public immutable LIMIT;

    constructor(string memory symbol_, uint256 limit) OddCoin(symbol_) {
        LIMIT = limit;
    }

    function _transfer(address from, address to, uint256 amount) internal override returns (bool) {
        require(amount <= LIMIT, "above the limit");
        _move(from, to, amount);
        return true;
    }
}

/// Says no, and moves nothing.
contract FalseCoin is LedgerCoin {
    constructor(string memory symbol_) OddCoin(symbol_) {}

    function _transfer(address, address, uint256) internal pure override returns (bool) {
        return false;
    }
}

/// Gives the receiver more than was sent.
contract GenerousCoin is LedgerCoin {
    constructor(string memory symbol_) OddCoin(symbol_) {}

    function _transfer(address from, address to, uint256 amount) internal override returns (bool) {
        _move(from, to, amount);
        _balances[to] += amount / 100;
        return true;
    }
}

/// Burns all the gas that it is given.
contract GasCoin is LedgerCoin {
    constructor(string memory symbol_) OddCoin(symbol_) {}

    function _transfer(address, address, uint256) internal pure override returns (bool) {
        while (true) {}
        return true;
    }
}
