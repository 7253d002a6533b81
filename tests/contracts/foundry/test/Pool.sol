// SPDX-License-Identifier: MIT
pragma solidity 0.8.26;

// Tokens, and one pool that trades as every family does, and on request misbehaves in the middle of it.

import {
    BalancerSwap,
    BufferTrade,
    FundManagement,
    IWrapped,
    InfinityKey,
    PoolKey,
    PoolManagerSwap,
    SingleSwap
} from "router/Interfaces.sol";

/// Tokens whose answers are not looked at: some have none.
interface IApproving {
    function approve(address spender, uint256 amount) external;
}

/// A token that anyone mints. A quiet one returns nothing, and changes no allowance but from or to zero.
contract Coin {
    bool private immutable QUIET;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;

    constructor(bool quiet) {
        QUIET = quiet;
    }

    function mint(address to, uint256 amount) public {
        balanceOf[to] += amount;
    }

    function burn(address from, uint256 amount) public {
        balanceOf[from] -= amount;
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        _move(msg.sender, to, amount);
        return _answer();
    }

    function transferFrom(address from, address to, uint256 amount) external returns (bool) {
        allowance[from][msg.sender] -= amount;
        _move(from, to, amount);
        return _answer();
    }

    function approve(address spender, uint256 amount) external returns (bool) {
        require(!QUIET || amount == 0 || allowance[msg.sender][spender] == 0, "approved already");
        allowance[msg.sender][spender] = amount;
        return _answer();
    }

    /// Stands for a signature: `v` says whether it is a good one.
    function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32, bytes32)
        external
    {
        require(v == 27 && deadline >= block.timestamp, "signature");
        allowance[owner][spender] = value;
    }

    function _move(address from, address to, uint256 amount) private {
        balanceOf[from] -= amount;
        balanceOf[to] += amount;
    }

    function _answer() private view returns (bool) {
        if (QUIET) {
            assembly {
                return(0, 0)
            }
        }
        return true;
    }
}

contract WrappedCoin is Coin(false) {
    receive() external payable {
        mint(msg.sender, msg.value);
    }

    function deposit() external payable {
        mint(msg.sender, msg.value);
    }

    function withdraw(uint256 amount) external {
        burn(msg.sender, amount);
        (bool done,) = msg.sender.call{value: amount}("");
        require(done, "not paid");
    }
}

/// Calls whom it is told to: in place of a pool, or of a stranger.
contract Accomplice {
    function act(address target, bytes calldata input) external payable returns (bool done) {
        (done,) = target.call{value: msg.value}(input);
    }

    function burst(address payable to) external payable {
        new Bomb{value: msg.value}(to);
    }
}

/// Leaves native currency where nobody asks for it.
contract Bomb {
    constructor(address payable to) payable {
        selfdestruct(to);
    }
}

/// What a pool does while it is called, beside or in place of its swap.
enum Mischief {
    NONE,
    // None of these may succeed, and none may keep the swap from succeeding.
    REENTER,
    FOREIGN_CALLBACK,
    OTHER_AMOUNT,
    OTHER_TOKEN,
    OTHER_FUNCTION,
    CALL_BACK_TWICE,
    TAKE_FROM_VICTIM,
    // The swap must revert.
    TAKE_LESS,
    TAKE_NOTHING,
    GIVE_NOTHING,
    LEAVE_NATIVE
}

uint8 constant FIRST_FATAL = uint8(Mischief.TAKE_LESS);
address constant NATIVE = address(0);
uint160 constant LOWEST = 4295128739 + 1;
uint160 constant HIGHEST = 1461446703485210103287273052203988822378723970342 - 1;

/// Pays 9/10 of what it takes, and a unit. Pairs have reserves.
contract Pool {
    uint256 private constant PAIR_SCALE = 1e6;

    address private immutable ROUTER;
    WrappedCoin private immutable WRAPPED;
    Accomplice private immutable ACCOMPLICE;
    address private immutable VICTIM;

    address public sold;
    address public bought;
    Mischief public mischief;
    bytes public reentrantCall;
    /// What succeeded and must not.
    string[] public violations;
    /// A pair, Liquidity Book: what it knows of its balances.
    uint256 private _reserve0;
    uint256 private _reserve1;
    uint256 private _feePpm;
    /// Uniswap V4, Infinity, Balancer: debts of the router within one call.
    mapping(address => int256) private _debt;
    uint256 private _synced;
    address private _syncedCurrency;

    constructor(address router, WrappedCoin wrapped, Accomplice accomplice, address victim) payable {
        (ROUTER, WRAPPED, ACCOMPLICE, VICTIM) = (router, wrapped, accomplice, victim);
    }

    receive() external payable {}

    function configure(address sold_, address bought_, Mischief mischief_, bytes calldata reentrantCall_) external {
        (sold, bought, mischief, reentrantCall) = (sold_, bought_, mischief_, reentrantCall_);
    }

    /// As a pair with these reserves and this fee.
    function fill(uint256 reserveSold, uint256 reserveBought, uint256 feePpm) external {
        Coin(sold).burn(address(this), Coin(sold).balanceOf(address(this)));
        Coin(sold).mint(address(this), reserveSold);
        (_reserve0, _reserve1) = sold < bought ? (reserveSold, reserveBought) : (reserveBought, reserveSold);
        _feePpm = feePpm;
    }

    function countViolations() external view returns (uint256) {
        return violations.length;
    }

    function quote(uint256 amount) public pure returns (uint256) {
        return amount * 9 / 10 + 1;
    }

    // ---- Families

    function getReserves() external view returns (uint256, uint256, uint256) {
        return (_reserve0, _reserve1, 0);
    }

    function getAmountOut(uint256 amount, address token) external view returns (uint256) {
        require(token == sold, "token");
        return quote(amount);
    }

    /// Uniswap V2, and Solidly where there is no fee.
    function swap(uint256 out0, uint256 out1, address to, bytes calldata data) external {
        require(data.length == 0 && to == ROUTER, "arguments");
        (uint256 reserveIn, uint256 reserveOut) = sold < bought ? (_reserve0, _reserve1) : (_reserve1, _reserve0);
        uint256 paid = Coin(sold).balanceOf(address(this)) - reserveIn;
        uint256 out = sold < bought ? out1 : out0;
        require(out + (sold < bought ? out0 : out1) == out, "the other side");
        uint256 net = paid * (PAIR_SCALE - _feePpm);
        require(out <= (_feePpm == 0 ? quote(paid) : net * reserveOut / (reserveIn * PAIR_SCALE + net)), "K");
        _misbehave(paid, "");
        _give(out);
    }

    /// Uniswap V3 and its kin.
    function swap(address to, bool zeroForOne, int256 amount, uint160 limit, bytes calldata data) external {
        require(to == ROUTER && zeroForOne == (sold < bought), "arguments");
        require(limit == (zeroForOne ? LOWEST : HIGHEST), "limit");
        _give(quote(uint256(amount)));
        int256 owed = mischief == Mischief.TAKE_LESS ? amount - 1 : amount;
        bytes memory good = abi.encodeWithSignature(
            "anySwapCallback(int256,int256,bytes)", zeroForOne ? owed : -1, zeroForOne ? -1 : owed, data
        );
        _misbehave(uint256(amount), good);
        _takeByCallback(good);
    }

    /// Uniswap V4 and Balancer V3. The latter calls back with exactly these bytes.
    function unlock(bytes calldata data) external {
        bytes memory good = bytes4(data) == bytes4(keccak256("balancerCallback((address,address,address,address,address,uint256))"))
            ? data
            : abi.encodeWithSignature("unlockCallback(bytes)", data);
        _misbehave(0, good);
        _takeByCallback(good);
        _checkSettled();
    }

    /// Infinity.
    function lock(bytes calldata data) external {
        bytes memory good = abi.encodeWithSignature("lockAcquired(bytes)", data);
        _misbehave(0, good);
        _takeByCallback(good);
        _checkSettled();
    }

    function vault() external view returns (address) {
        return address(this);
    }

    function getVault() external view returns (address) {
        return address(this);
    }

    function getPoolId() external pure returns (bytes32) {
        return "pool";
    }

    function swap(PoolKey memory key, PoolManagerSwap memory params, bytes calldata) external returns (int256) {
        require(key.currency0 < key.currency1, "key");
        return _swapSettled(key.currency0, key.currency1, params);
    }

    function swap(InfinityKey memory key, PoolManagerSwap memory params, bytes calldata) external returns (int256) {
        return _swapSettled(key.currency0, key.currency1, params);
    }

    function swap(InfinityKey memory key, bool swapForY, int128 specified, bytes calldata) external returns (int256) {
        PoolManagerSwap memory params = PoolManagerSwap(swapForY, specified, swapForY ? LOWEST : HIGHEST);
        return _swapSettled(key.currency0, key.currency1, params);
    }

    function sync(address currency) external {
        _syncedCurrency = currency;
        _synced = _held(currency);
    }

    function settle() external payable returns (uint256 paid) {
        paid = _syncedCurrency == NATIVE ? msg.value : _held(_syncedCurrency) - _synced;
        _debt[_syncedCurrency] += int256(paid);
    }

    function take(address currency, address to, uint256 amount) external {
        require(to == ROUTER, "taker");
        _debt[currency] -= int256(amount);
        _giveTo(currency, amount);
    }

    /// Balancer V3.
    function settle(address token, uint256 hint) external returns (uint256) {
        require(token == sold && Coin(token).balanceOf(address(this)) >= hint, "settle");
        _debt[token] += int256(hint);
        return hint;
    }

    function swap(BalancerSwap memory params) external returns (uint256, uint256, uint256 out) {
        require(params.kind == 0 && params.limitRaw == 0, "arguments");
        out = quote(params.amountGivenRaw);
        _debt[params.tokenIn] -= int256(params.amountGivenRaw);
        _debt[params.tokenOut] += int256(out);
        return (0, params.amountGivenRaw, out);
    }

    /// One for one; the wrapper is known by its address alone.
    function erc4626BufferWrapOrUnwrap(BufferTrade memory params) external returns (uint256, uint256, uint256) {
        (address paid, address gained) = params.direction == 0
            ? (sold, params.wrappedToken)
            : (params.wrappedToken, bought);
        _debt[paid] -= int256(params.amountGivenRaw);
        _debt[gained] += int256(params.amountGivenRaw);
        return (0, params.amountGivenRaw, params.amountGivenRaw);
    }

    function sendTo(address token, address to, uint256 amount) external {
        require(token == bought && to == ROUTER, "taker");
        _debt[token] -= int256(amount);
        _give(amount);
    }

    /// Balancer V2.
    function swap(SingleSwap memory one, FundManagement memory funds, uint256 limit, uint256 deadline)
        external
        returns (uint256)
    {
        require(one.poolId == "pool" && one.kind == 0 && one.assetIn == sold && one.assetOut == bought, "swap");
        require(funds.sender == ROUTER && funds.recipient == ROUTER && limit == 0, "funds");
        require(!funds.fromInternalBalance && !funds.toInternalBalance && deadline >= block.timestamp, "funds");
        return _pullAndGive(one.amount);
    }

    /// Curve.
    function exchange(int128 i, int128 j, uint256 amount, uint256) external {
        require(i == 0 && j == 1, "coins");
        _pullAndGive(amount);
    }

    function exchange_underlying(int128 i, int128 j, uint256 amount, uint256) external {
        require(i == 0 && j == 1, "coins");
        _pullAndGive(amount);
    }

    function exchange(uint256 i, uint256 j, uint256 amount, uint256) external {
        require(i == 0 && j == 1, "coins");
        _pullAndGive(amount);
    }

    /// Fluid, with native currency in place of the wrapped token.
    function swapIn(bool zeroForOne, uint256 amount, uint256, address to) external payable {
        require(to == ROUTER && zeroForOne == (sold < bought), "arguments");
        require(msg.value == (sold == address(WRAPPED) ? amount : 0), "value");
        _misbehave(amount, "");
        if (msg.value == 0) _pull(amount);
        else if (mischief == Mischief.TAKE_LESS) _sendNative(1);
        else if (mischief == Mischief.TAKE_NOTHING) _sendNative(amount);
        _giveTo(bought == address(WRAPPED) ? NATIVE : bought, quote(amount));
    }

    /// Shares: those of this pool are the token that it buys, or that it sells.
    function deposit(uint256 amount, address to) external {
        require(to == ROUTER, "receiver");
        _pullAndGive(amount);
    }

    function redeem(uint256 amount, address to, address owner) external {
        require(to == ROUTER && owner == ROUTER, "receiver");
        _misbehave(amount, "");
        uint256 taken = _taken(amount);
        balanceOf[owner] -= taken;
        _give(quote(amount));
    }

    /// As a token of shares.
    mapping(address => uint256) public balanceOf;

    function mint(address to, uint256 amount) external {
        balanceOf[to] += amount;
    }

    function transferFrom(address from, address to, uint256 amount) external returns (bool) {
        require(msg.sender == ROUTER, "shares are only sold here");
        balanceOf[from] -= amount;
        balanceOf[to] += amount;
        return true;
    }

    function allowance(address, address) external pure returns (uint256) {
        return 0;
    }

    /// Spark's.
    function swapExactIn(address in_, address out_, uint256 amount, uint256, address to, uint256) external {
        require(in_ == sold && out_ == bought && to == ROUTER, "arguments");
        _pullAndGive(amount);
    }

    /// A bridge of the coin that it takes.
    function JUSD() external view returns (address) {
        return sold;
    }

    function burn(uint256 amount) external {
        _pullAndGive(amount);
    }

    function mint(uint256 amount) external {
        _pullAndGive(amount);
    }

    /// Liquidity Book.
    function swap(bool swapForY, address to) external {
        require(to == ROUTER && swapForY == (sold < bought), "arguments");
        uint256 reserve = sold < bought ? _reserve0 : _reserve1;
        uint256 paid = Coin(sold).balanceOf(address(this)) - reserve;
        _misbehave(paid, "");
        _give(quote(paid));
    }

    // ---- Parts

    function _swapSettled(address currency0, address currency1, PoolManagerSwap memory params)
        private
        returns (int256)
    {
        bool down = params.zeroForOne;
        require(params.sqrtPriceLimitX96 == (down ? LOWEST : HIGHEST) && params.amountSpecified < 0, "params");
        int256 paid = mischief == Mischief.TAKE_LESS ? params.amountSpecified + 1 : params.amountSpecified;
        if (mischief == Mischief.TAKE_NOTHING) paid = 0;
        int256 gained = mischief == Mischief.GIVE_NOTHING ? int256(0) : int256(quote(uint256(-params.amountSpecified)));
        _debt[down ? currency0 : currency1] += paid;
        _debt[down ? currency1 : currency0] += gained;
        (int256 delta0, int256 delta1) = down ? (paid, gained) : (gained, paid);
        return (delta0 << 128) | int256(uint256(uint128(int128(delta1))));
    }

    function _checkSettled() private view {
        address[4] memory currencies = [sold, bought, NATIVE, address(WRAPPED)];
        for (uint256 k = 0; k < 4; ++k) require(_debt[currencies[k]] == 0, "not settled");
    }

    function _takeByCallback(bytes memory good) private {
        if (mischief == Mischief.TAKE_NOTHING) return;
        (bool done, bytes memory failure) = ROUTER.call(good);
        if (!done) {
            assembly {
                revert(add(failure, 32), mload(failure))
            }
        }
        if (mischief == Mischief.CALL_BACK_TWICE) _attempt("called back twice", good);
    }

    function _pullAndGive(uint256 amount) private returns (uint256 out) {
        _misbehave(amount, "");
        _pull(amount);
        out = quote(amount);
        _give(out);
    }

    function _pull(uint256 amount) private {
        uint256 taken = _taken(amount);
        if (taken == 0) return;
        require(_transferFrom(ROUTER, taken), "not paid");
        if (mischief == Mischief.CALL_BACK_TWICE && _transferFrom(ROUTER, 1)) violations.push("took more than approved");
    }

    function _transferFrom(address from, uint256 amount) private returns (bool done) {
        (done,) = sold.call(abi.encodeCall(Coin.transferFrom, (from, address(this), amount)));
    }

    function _taken(uint256 amount) private view returns (uint256) {
        if (mischief == Mischief.TAKE_NOTHING) return 0;
        return mischief == Mischief.TAKE_LESS ? amount - 1 : amount;
    }

    function _give(uint256 amount) private {
        _giveTo(bought, amount);
    }

    function _giveTo(address currency, uint256 amount) private {
        if (mischief == Mischief.GIVE_NOTHING) return;
        if (currency == NATIVE) {
            _sendNative(amount);
        } else if (currency == address(WRAPPED)) {
            WRAPPED.deposit{value: amount}();
            WRAPPED.transfer(ROUTER, amount);
        } else {
            Coin(currency).mint(ROUTER, amount);
        }
    }

    function _sendNative(uint256 amount) private {
        (bool done,) = ROUTER.call{value: amount}("");
        require(done, "native");
    }

    function _held(address currency) private view returns (uint256) {
        return currency == NATIVE ? address(this).balance : Coin(currency).balanceOf(address(this));
    }

    /// Tries what must fail, and notes what did not.
    function _misbehave(uint256 amount, bytes memory good) private {
        if (mischief == Mischief.REENTER) {
            _attempt("reentered", reentrantCall);
        } else if (mischief == Mischief.FOREIGN_CALLBACK && good.length != 0) {
            if (ACCOMPLICE.act(ROUTER, good)) violations.push("another contract called back");
        } else if (mischief == Mischief.OTHER_AMOUNT) {
            bytes memory data = abi.encode(sold, amount + 1);
            _attempt("took another amount", _concentrated(amount + 1, data));
            _attempt("took another amount for the old data", _concentrated(amount + 1, abi.encode(sold, amount)));
        } else if (mischief == Mischief.OTHER_TOKEN) {
            _attempt("took another token", _concentrated(amount, abi.encode(bought, amount)));
            _attempt("took the wrapped token", _concentrated(1, abi.encode(address(WRAPPED), 1)));
        } else if (mischief == Mischief.OTHER_FUNCTION && good.length != 0) {
            bytes memory changed = bytes.concat(good);
            bytes4[3] memory selectors = [
                bytes4(keccak256("unlockCallback(bytes)")),
                bytes4(keccak256("lockAcquired(bytes)")),
                bytes4(keccak256("balancerCallback((address,address,address,address,address,uint256))"))
            ];
            for (uint256 k = 0; k < 3; ++k) {
                if (bytes4(good) == selectors[k]) continue;
                for (uint256 i = 0; i < 4; ++i) changed[i] = selectors[k][i];
                _attempt("reached another callback", changed);
            }
        } else if (mischief == Mischief.TAKE_FROM_VICTIM) {
            _attempt("took from a victim", _concentrated(amount, abi.encode(VICTIM, amount)));
            if (_transferFrom(VICTIM, 1)) violations.push("has an allowance of a victim");
        } else if (mischief == Mischief.LEAVE_NATIVE) {
            _sendNative(1);
        }
    }

    function _concentrated(uint256 amount, bytes memory data) private view returns (bytes memory) {
        bool zeroForOne = sold < bought;
        return abi.encodeWithSignature(
            "anySwapCallback(int256,int256,bytes)",
            zeroForOne ? int256(amount) : -1,
            zeroForOne ? -1 : int256(amount),
            data
        );
    }

    function _attempt(string memory what, bytes memory input) private {
        (bool done,) = ROUTER.call(input);
        if (done) violations.push(what);
    }
}
