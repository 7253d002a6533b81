// SPDX-License-Identifier: MIT
pragma solidity 0.8.26;

// Models of pools whose bytecode is in no package: they take what they are paid, and call back, as the real ones do. The
// prices are those of a constant product, or fixed. Every one of them quotes by `quote(sold, bought, amount)`.

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC4626} from "@openzeppelin/contracts/token/ERC20/extensions/ERC4626.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

/// The output of a constant product with a fee of 0.3 %.
function productOutput(uint256 amount, uint256 reserveIn, uint256 reserveOut) pure returns (uint256) {
    return amount * 997 * reserveOut / (reserveIn * 1000 + amount * 997);
}

/// Debts of callers in transient storage, and how many are not zero.
abstract contract Debts {
    bytes32 private constant COUNT = keccak256("count");

    /// Adds to what `owner` may take, less than zero for what it owes.
    function _account(address owner, address token, int256 change) internal {
        bytes32 slot = keccak256(abi.encode(owner, token));
        int256 before = int256(_load(slot));
        int256 afterwards = before + change;
        _store(slot, uint256(afterwards));
        if (before == 0 && afterwards != 0) _store(COUNT, _load(COUNT) + 1);
        if (before != 0 && afterwards == 0) _store(COUNT, _load(COUNT) - 1);
    }

    function _unsettled() internal view returns (uint256) {
        return _load(COUNT);
    }

    function _load(bytes32 slot) internal view returns (uint256 value) {
        assembly {
            value := tload(slot)
        }
    }

    function _store(bytes32 slot, uint256 value) internal {
        assembly {
            tstore(slot, value)
        }
    }
}

/// ERC-4626 as OpenZeppelin has it.
contract Shares is ERC4626 {
    constructor(IERC20 asset_) ERC20("Shares", "SHARE") ERC4626(asset_) {}

    function quote(address sold, address, uint256 amount) external view returns (uint256) {
        return sold == address(this) ? previewRedeem(amount) : previewDeposit(amount);
    }
}

/// Savings that earn interest out of a reserve, paid whenever an account changes, as those of JuiceDollar.
contract Savings {
    using SafeERC20 for IERC20;

    struct Account {
        uint192 saved;
        uint64 ticks;
    }

    uint256 private constant YEAR_OF_PPM = 365 days * 1_000_000;
    IERC20 public immutable coin;
    address public immutable reserve;
    mapping(address => Account) public accounts;
    uint24 private _ratePpm = 50_000;
    uint40 private _anchor = uint40(block.timestamp);
    uint64 private _ticksAtAnchor = 1;

    constructor(IERC20 coin_, address reserve_) {
        (coin, reserve) = (coin_, reserve_);
    }

    function interest(address owner) public view returns (uint256) {
        Account memory account = accounts[owner];
        uint256 earned = account.saved * (_ticks() - account.ticks) / YEAR_OF_PPM;
        uint256 available = coin.balanceOf(reserve);
        return earned < available ? earned : available;
    }

    function save(uint256 amount) external {
        coin.safeTransferFrom(msg.sender, address(this), amount);
        _refresh(msg.sender).saved += uint192(amount);
    }

    function withdraw(address to, uint256 amount) external {
        _refresh(msg.sender).saved -= uint192(amount);
        coin.safeTransfer(to, amount);
    }

    function _refresh(address owner) private returns (Account storage account) {
        uint256 earned = interest(owner);
        account = accounts[owner];
        if (earned > 0) {
            coin.safeTransferFrom(reserve, address(this), earned);
            account.saved += uint192(earned);
        }
        account.ticks = uint64(_ticks());
    }

    function _ticks() private view returns (uint256) {
        return _ticksAtAnchor + _ratePpm * (block.timestamp - _anchor);
    }
}

/// A vault whose assets are in savings.
contract SavingsShares is Shares {
    Savings private immutable _savings;

    constructor(Savings savings) Shares(savings.coin()) {
        _savings = savings;
        savings.coin().approve(address(savings), type(uint256).max);
    }

    function totalAssets() public view override returns (uint256) {
        (uint192 saved,) = _savings.accounts(address(this));
        return saved + _savings.interest(address(this));
    }

    function _deposit(address caller, address receiver, uint256 assets, uint256 shares) internal override {
        super._deposit(caller, receiver, assets, shares);
        _savings.save(assets);
    }

    function _withdraw(address caller, address receiver, address owner, uint256 assets, uint256 shares)
        internal
        override
    {
        _savings.withdraw(address(this), assets);
        super._withdraw(caller, receiver, owner, assets, shares);
    }
}

/// Pools that pull the input by an allowance.
abstract contract PullingPool {
    using SafeERC20 for IERC20;

    address[] internal _coins;

    constructor(address[] memory coins_) {
        _coins = coins_;
    }

    function quote(address sold, address bought, uint256 amount) public view virtual returns (uint256) {
        return productOutput(
            amount, IERC20(sold).balanceOf(address(this)), IERC20(bought).balanceOf(address(this))
        );
    }

    function _exchange(address sold, address bought, uint256 amount, uint256 minimum, address to)
        internal
        returns (uint256 out)
    {
        out = quote(sold, bought, amount);
        require(out >= minimum, "too little");
        IERC20(sold).safeTransferFrom(msg.sender, address(this), amount);
        IERC20(bought).safeTransfer(to, out);
    }
}

/// Curve's pools of volatile coins.
contract CryptoPool is PullingPool {
    constructor(address[] memory coins_) PullingPool(coins_) {}

    function exchange(uint256 i, uint256 j, uint256 dx, uint256 minimum) external returns (uint256) {
        require(i != j && dx > 0, "coin index out of range");
        return _exchange(_coins[i], _coins[j], dx, minimum, msg.sender);
    }
}

/// Curve's metapools, as they are seen through `exchange_underlying`.
contract MetaPool is PullingPool {
    constructor(address[] memory coins_) PullingPool(coins_) {}

    function exchange_underlying(int128 i, int128 j, uint256 dx, uint256 minimum) external returns (uint256) {
        return _exchange(
            _coins[uint256(uint128(i))], _coins[uint256(uint128(j))], dx, minimum, msg.sender
        );
    }
}

/// The value of a unit of savings, times 10^27: it grows with every second, as Sky's oracles on other chains have it.
contract SavingsRate {
    uint256 private constant RAY = 1e27;
    uint96 private _growth = 1_000_000_001_243_680_656_318_820_312;
    uint120 private _start = 1_030_000_000_000_000_000_000_000_007;
    uint40 private _since = uint40(block.timestamp > 12 days ? block.timestamp - 12 days : 0);

    function getConversionRate() external view returns (uint256) {
        return _power(_growth, block.timestamp - _since) * _start / RAY;
    }

    function _power(uint256 base, uint256 exponent) private pure returns (uint256 result) {
        result = exponent % 2 == 1 ? base : RAY;
        for (exponent /= 2; exponent > 0; exponent /= 2) {
            base = (base * base + RAY / 2) / RAY;
            if (exponent % 2 == 1) result = (result * base + RAY / 2) / RAY;
        }
    }
}

/// Spark's PSM: fixed rates between coins of different decimals, and a growing one of the last coin.
contract PegModule is PullingPool {
    SavingsRate private immutable _rates;
    mapping(address => uint256) private _units;

    constructor(address[] memory coins_, uint256[] memory units, SavingsRate rates) PullingPool(coins_) {
        _rates = rates;
        for (uint256 k = 0; k < units.length; ++k) _units[coins_[k]] = units[k];
    }

    function quote(address sold, address bought, uint256 amount) public view override returns (uint256) {
        require(_units[sold] > 0 && _units[bought] > 0, "PSM3/invalid-asset");
        uint256 value = amount;
        if (bought == _coins[2]) value = amount * 1e27 / _rates.getConversionRate();
        if (sold == _coins[2]) value = amount * _rates.getConversionRate() / 1e27;
        return value * _units[bought] / _units[sold];
    }

    function swapExactIn(address sold, address bought, uint256 amount, uint256 minimum, address to, uint256)
        external
        returns (uint256)
    {
        require(amount > 0 && to != address(0), "PSM3/invalid-amountIn");
        return _exchange(sold, bought, amount, minimum, to);
    }
}

/// A coin that its bridges mint and, with an allowance, burn.
contract MintedCoin is ERC20("Minted", "MINT") {
    mapping(address => bool) public isMinter;

    function suggestMinter(address minter) external {
        isMinter[minter] = true;
    }

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    function burn(uint256 amount) external {
        _burn(msg.sender, amount);
    }

    function burnFrom(address owner, uint256 amount) external {
        require(isMinter[msg.sender], "NotMinter");
        _spendAllowance(owner, msg.sender, amount);
        _burn(owner, amount);
    }
}

interface IDecimals {
    function decimals() external view returns (uint8);
}

/// JuiceDollar's bridge.
contract Bridge {
    using SafeERC20 for IERC20;

    IERC20 public immutable usd;
    MintedCoin public immutable JUSD;
    uint256 private immutable _factor;
    uint256 private immutable _limit = 1e36;
    uint256 public minted = 1e35;

    constructor(IERC20 usd_, MintedCoin coin) {
        (usd, JUSD) = (usd_, coin);
        _factor = 10 ** (18 - IDecimals(address(usd_)).decimals());
    }

    function quote(address sold, address, uint256 amount) external view returns (uint256) {
        return sold == address(usd) ? amount * _factor : amount / _factor;
    }

    function mint(uint256 amount) external {
        usd.safeTransferFrom(msg.sender, address(this), amount);
        JUSD.mint(msg.sender, amount * _factor);
        minted += amount * _factor;
        require(minted <= _limit, "Limit");
    }

    function burn(uint256 amount) external {
        JUSD.burnFrom(msg.sender, amount);
        minted -= amount;
        usd.safeTransfer(msg.sender, amount / _factor);
    }
}

/// Holds what Fluid's pools trade, and pays it out; native currency with little gas.
contract FluidLiquidity {
    using SafeERC20 for IERC20;

    address internal constant NATIVE = 0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE;
    uint256 private constant NATIVE_TRANSFER_GAS = 20_000;

    receive() external payable {}

    function pay(address token, address to, uint256 amount) external {
        if (token != NATIVE) return IERC20(token).safeTransfer(to, amount);
        (bool done,) = to.call{value: amount, gas: NATIVE_TRANSFER_GAS}("");
        require(done, "SafeTransfer__TransferFailed");
    }
}

/// Fluid's T1: the pool pulls the input into the liquidity layer, which pays the output.
contract FluidPool {
    using SafeERC20 for IERC20;

    address internal constant NATIVE = 0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE;
    address private immutable _token0;
    address private immutable _token1;
    FluidLiquidity private immutable _liquidity;

    constructor(address token0, address token1, FluidLiquidity liquidity) {
        (_token0, _token1, _liquidity) = (token0, token1, liquidity);
    }

    function quote(address sold, address, uint256 amount) external view returns (uint256) {
        bool zeroForOne = sold == _token0 || (_token0 == NATIVE && sold != _token1);
        (address tokenIn, address tokenOut) = zeroForOne ? (_token0, _token1) : (_token1, _token0);
        return productOutput(amount, _reserve(tokenIn), _reserve(tokenOut));
    }

    function swapIn(bool zeroForOne, uint256 amount, uint256 minimum, address to)
        external
        payable
        returns (uint256 out)
    {
        (address tokenIn, address tokenOut) = zeroForOne ? (_token0, _token1) : (_token1, _token0);
        require(msg.value == (tokenIn == NATIVE ? amount : 0), "DexT1__EthAndAmountInMisMatch");
        out = productOutput(amount, _reserve(tokenIn), _reserve(tokenOut));
        require(out >= minimum, "DexT1__NotEnoughAmountOut");
        if (tokenIn == NATIVE) payable(_liquidity).transfer(amount);
        else IERC20(tokenIn).safeTransferFrom(msg.sender, address(_liquidity), amount);
        _liquidity.pay(tokenOut, to, out);
    }

    function _reserve(address token) private view returns (uint256) {
        return token == NATIVE ? address(_liquidity).balance : IERC20(token).balanceOf(address(_liquidity));
    }
}

/// Liquidity Book: sells what has been transferred since the last swap.
contract BookPair {
    using SafeERC20 for IERC20;

    IERC20 private immutable _x;
    IERC20 private immutable _y;
    uint256 private _reserveX;
    uint256 private _reserveY;

    error LBPair__InsufficientAmountIn();

    constructor(IERC20 x, IERC20 y) {
        (_x, _y) = (x, y);
    }

    function fill() external {
        (_reserveX, _reserveY) = (_x.balanceOf(address(this)), _y.balanceOf(address(this)));
    }

    function quote(address sold, address, uint256 amount) external view returns (uint256) {
        return sold == address(_x)
            ? productOutput(amount, _reserveX, _reserveY)
            : productOutput(amount, _reserveY, _reserveX);
    }

    function swap(bool swapForY, address to) external returns (bytes32) {
        (IERC20 sold, IERC20 bought) = swapForY ? (_x, _y) : (_y, _x);
        (uint256 reserveIn, uint256 reserveOut) = swapForY ? (_reserveX, _reserveY) : (_reserveY, _reserveX);
        uint256 amount = sold.balanceOf(address(this)) - reserveIn;
        if (amount == 0) revert LBPair__InsufficientAmountIn();
        uint256 out = productOutput(amount, reserveIn, reserveOut);
        bought.safeTransfer(to, out);
        (_reserveX, _reserveY) = (_x.balanceOf(address(this)), _y.balanceOf(address(this)));
        return bytes32(swapForY ? out << 128 : out);
    }
}

/// A pool of Balancer V3; its balances are at the vault.
contract BalancerPool {
    address public immutable getVault;

    constructor(address vault) {
        getVault = vault;
    }

    function quote(address sold, address bought, uint256 amount) public view returns (uint256) {
        BalancerVault vault = BalancerVault(getVault);
        return productOutput(
            amount, vault.balances(address(this), sold), vault.balances(address(this), bought)
        );
    }
}

/// The vault of Balancer V3: calls the sender back with its own bytes, and wants all debts settled.
contract BalancerVault is Debts {
    using SafeERC20 for IERC20;

    struct Swap {
        uint8 kind;
        address pool;
        address tokenIn;
        address tokenOut;
        uint256 amountGivenRaw;
        uint256 limitRaw;
        bytes userData;
    }

    struct BufferTrade {
        uint8 kind;
        uint8 direction;
        ERC4626 wrappedToken;
        uint256 amountGivenRaw;
        uint256 limitRaw;
    }

    struct Buffer {
        uint256 underlying;
        uint256 wrapped;
    }

    uint256 private constant MINIMUM_WRAP_AMOUNT = 1e4;
    bytes32 private constant UNLOCKED = keccak256("unlocked");
    bytes32 private constant ENTERED = keccak256("entered");

    mapping(address => mapping(address => uint256)) public balances;
    mapping(ERC4626 => Buffer) public buffers;
    mapping(address => uint256) public reservesOf;

    error VaultIsNotUnlocked();
    error ReentrancyGuardReentrantCall();
    error BalanceNotSettled();
    error AmountGivenZero();
    error TokenNotRegistered(address token);
    error CannotSwapSameToken();
    error SwapLimit(uint256 amount, uint256 limit);
    error WrapAmountTooSmall(ERC4626 wrapped);

    modifier onlyWhenUnlocked() {
        if (_load(UNLOCKED) == 0) revert VaultIsNotUnlocked();
        if (_load(ENTERED) != 0) revert ReentrancyGuardReentrantCall();
        _store(ENTERED, 1);
        _;
        _store(ENTERED, 0);
    }

    /// The pool owns what the vault has received of a token since.
    function register(address pool, address token) external {
        balances[pool][token] += _received(token);
    }

    function registerBuffer(ERC4626 wrapped) external {
        buffers[wrapped].underlying += _received(wrapped.asset());
        buffers[wrapped].wrapped += _received(address(wrapped));
    }

    function unlock(bytes calldata data) external returns (bytes memory result) {
        bool isOuter = _load(UNLOCKED) == 0;
        if (isOuter) _store(UNLOCKED, 1);
        bool done;
        (done, result) = msg.sender.call(data);
        if (!done) {
            assembly {
                revert(add(result, 32), mload(result))
            }
        }
        if (!isOuter) return result;
        if (_unsettled() != 0) revert BalanceNotSettled();
        _store(UNLOCKED, 0);
    }

    function settle(address token, uint256 amountHint) external onlyWhenUnlocked returns (uint256 credit) {
        credit = _received(token);
        if (credit > amountHint) credit = amountHint;
        _credit(token, credit);
    }

    function sendTo(address token, address to, uint256 amount) external onlyWhenUnlocked {
        _debit(token, amount);
        reservesOf[token] -= amount;
        IERC20(token).safeTransfer(to, amount);
    }

    function swap(Swap memory params) external onlyWhenUnlocked returns (uint256, uint256, uint256 out) {
        require(params.kind == 0, "exact input only");
        if (balances[params.pool][params.tokenIn] == 0) revert TokenNotRegistered(params.tokenIn);
        if (params.amountGivenRaw == 0) revert AmountGivenZero();
        if (params.tokenIn == params.tokenOut) revert CannotSwapSameToken();
        out = BalancerPool(params.pool).quote(params.tokenIn, params.tokenOut, params.amountGivenRaw);
        if (out < params.limitRaw) revert SwapLimit(out, params.limitRaw);
        _debit(params.tokenIn, params.amountGivenRaw);
        _credit(params.tokenOut, out);
        balances[params.pool][params.tokenIn] += params.amountGivenRaw;
        balances[params.pool][params.tokenOut] -= out;
        return (out, params.amountGivenRaw, out);
    }

    function erc4626BufferWrapOrUnwrap(BufferTrade memory params)
        external
        onlyWhenUnlocked
        returns (uint256, uint256, uint256 out)
    {
        ERC4626 wrapped = params.wrappedToken;
        uint256 given = params.amountGivenRaw;
        require(params.kind == 0, "exact input only");
        if (given < MINIMUM_WRAP_AMOUNT) revert WrapAmountTooSmall(wrapped);
        out = params.direction == 0 ? _wrap(wrapped, given) : _unwrap(wrapped, given);
        if (out < MINIMUM_WRAP_AMOUNT) revert WrapAmountTooSmall(wrapped);
        if (out < params.limitRaw) revert SwapLimit(out, params.limitRaw);
        (address sold, address bought) = (wrapped.asset(), address(wrapped));
        if (params.direction == 1) (sold, bought) = (bought, sold);
        _debit(sold, given);
        _credit(bought, out);
        return (out, given, out);
    }

    /// A buffer that falls short makes the vault deposit what it must already have received.
    function _wrap(ERC4626 wrapped, uint256 given) private returns (uint256 out) {
        out = wrapped.previewDeposit(given - 1) - 1;
        Buffer storage buffer = buffers[wrapped];
        buffer.underlying += given;
        if (buffer.wrapped < out) {
            address asset = wrapped.asset();
            uint256 reserves = reservesOf[asset] - given;
            IERC20(asset).forceApprove(address(wrapped), given);
            buffer.wrapped += wrapped.deposit(given, address(this));
            IERC20(asset).forceApprove(address(wrapped), 0);
            buffer.underlying -= given;
            _checkReserves(asset, reserves);
            _checkReserves(address(wrapped), reservesOf[address(wrapped)] + out);
        }
        buffer.wrapped -= out;
    }

    function _unwrap(ERC4626 wrapped, uint256 given) private returns (uint256 out) {
        out = wrapped.previewRedeem(given - 1) - 1;
        Buffer storage buffer = buffers[wrapped];
        buffer.wrapped += given;
        if (buffer.underlying < out) {
            address asset = wrapped.asset();
            uint256 reserves = reservesOf[address(wrapped)] - given;
            buffer.underlying += wrapped.redeem(given, address(this), address(this));
            buffer.wrapped -= given;
            _checkReserves(address(wrapped), reserves);
            _checkReserves(asset, reservesOf[asset] + out);
        }
        buffer.underlying -= out;
    }

    function _checkReserves(address token, uint256 least) private {
        uint256 balance = IERC20(token).balanceOf(address(this));
        require(balance >= least, "the wrapper took too much or gave too little");
        reservesOf[token] = balance;
    }

    function _received(address token) private returns (uint256 amount) {
        uint256 balance = IERC20(token).balanceOf(address(this));
        amount = balance - reservesOf[token];
        reservesOf[token] = balance;
    }

    /// One account for all callers, as in the real vault.
    function _credit(address token, uint256 amount) private {
        _account(address(this), token, int256(amount));
    }

    function _debit(address token, uint256 amount) private {
        _account(address(this), token, -int256(amount));
    }
}

interface ILockCallback {
    function lockAcquired(bytes calldata data) external returns (bytes memory);
}

/// The vault of Infinity.
contract InfinityVault is Debts {
    using SafeERC20 for IERC20;

    bytes32 private constant LOCKER = keccak256("locker");
    bytes32 private constant SYNCED = keccak256("synced");
    bytes32 private constant RESERVE = keccak256("reserve");

    mapping(address => bool) public isAppRegistered;

    error AppUnregistered();
    error NoLocker();
    error LockerAlreadySet(address locker);
    error CurrencyNotSettled();
    error SettleNonNativeCurrencyWithValue();

    receive() external payable {}

    function registerApp(address app) external {
        isAppRegistered[app] = true;
    }

    function lock(bytes calldata data) external returns (bytes memory result) {
        address locker = address(uint160(_load(LOCKER)));
        if (locker != address(0)) revert LockerAlreadySet(locker);
        _store(LOCKER, uint160(msg.sender));
        result = ILockCallback(msg.sender).lockAcquired(data);
        if (_unsettled() != 0) revert CurrencyNotSettled();
        _store(LOCKER, 0);
    }

    function accountAppBalanceDelta(address currency0, address currency1, int256 delta, address settler) external {
        _checkLocked();
        if (!isAppRegistered[msg.sender]) revert AppUnregistered();
        _account(settler, currency0, delta >> 128);
        _account(settler, currency1, int128(delta));
    }

    function sync(address currency) external {
        _store(SYNCED, uint160(currency));
        _store(RESERVE, currency == address(0) ? 0 : IERC20(currency).balanceOf(address(this)));
    }

    function settle() external payable returns (uint256 paid) {
        _checkLocked();
        address currency = address(uint160(_load(SYNCED)));
        if (currency == address(0)) {
            paid = msg.value;
        } else {
            if (msg.value > 0) revert SettleNonNativeCurrencyWithValue();
            paid = IERC20(currency).balanceOf(address(this)) - _load(RESERVE);
            _store(SYNCED, 0);
        }
        _account(msg.sender, currency, int256(paid));
    }

    function take(address currency, address to, uint256 amount) external {
        _checkLocked();
        _account(msg.sender, currency, -int256(amount));
        if (currency != address(0)) return IERC20(currency).safeTransfer(to, amount);
        (bool done,) = to.call{value: amount}("");
        require(done, "NativeTransferFailed");
    }

    function _checkLocked() private view {
        if (_load(LOCKER) == 0) revert NoLocker();
    }
}

struct InfinityKey {
    address currency0;
    address currency1;
    address hooks;
    address poolManager;
    uint24 fee;
    bytes32 parameters;
}

/// What Infinity's pool managers share; `most` is the largest input that the liquidity of a pool allows.
abstract contract InfinityManager {
    struct Pool {
        uint256 reserve0;
        uint256 reserve1;
        uint256 most;
    }

    InfinityVault public immutable vault;
    mapping(bytes32 => Pool) private _pools;

    error PoolNotInitialized();

    constructor(InfinityVault vault_) {
        vault = vault_;
    }

    function initialize(InfinityKey calldata key, uint256 reserve0, uint256 reserve1, uint256 most) external {
        _pools[keccak256(abi.encode(key))] = Pool(reserve0, reserve1, most);
    }

    function quote(InfinityKey memory key, bool zeroForOne, uint256 amount) public view returns (uint256) {
        Pool storage pool = _pools[keccak256(abi.encode(key))];
        return zeroForOne
            ? productOutput(amount, pool.reserve0, pool.reserve1)
            : productOutput(amount, pool.reserve1, pool.reserve0);
    }

    function _swap(InfinityKey memory key, bool zeroForOne, int256 specified) internal returns (int256 delta) {
        require(specified < 0, "exact input only");
        Pool storage pool = _pools[keccak256(abi.encode(key))];
        if (pool.reserve0 == 0) revert PoolNotInitialized();
        uint256 amount = uint256(-specified);
        if (amount > pool.most) amount = _exceeded(pool.most);
        uint256 out = quote(key, zeroForOne, amount);
        (int256 delta0, int256 delta1) =
            zeroForOne ? (-int256(amount), int256(out)) : (int256(out), -int256(amount));
        pool.reserve0 = uint256(int256(pool.reserve0) - delta0);
        pool.reserve1 = uint256(int256(pool.reserve1) - delta1);
        delta = (delta0 << 128) | int256(uint256(uint128(int128(delta1))));
        vault.accountAppBalanceDelta(key.currency0, key.currency1, delta, msg.sender);
    }

    function _exceeded(uint256 most) internal virtual returns (uint256);
}

/// Takes a part where the liquidity ends.
contract InfinityTickManager is InfinityManager {
    struct SwapParams {
        bool zeroForOne;
        int256 amountSpecified;
        uint160 sqrtPriceLimitX96;
    }

    error InvalidSqrtPriceLimit(uint160 limit);

    constructor(InfinityVault vault_) InfinityManager(vault_) {}

    function swap(InfinityKey memory key, SwapParams memory params, bytes calldata) external returns (int256) {
        uint160 limit = params.sqrtPriceLimitX96;
        if (limit <= 4295128739 || limit >= 1461446703485210103287273052203988822378723970342) {
            revert InvalidSqrtPriceLimit(limit);
        }
        return _swap(key, params.zeroForOne, params.amountSpecified);
    }

    function _exceeded(uint256 most) internal pure override returns (uint256) {
        return most;
    }
}

/// Reverts where the bins end.
contract InfinityBinManager is InfinityManager {
    error BinPool__OutOfLiquidity();

    constructor(InfinityVault vault_) InfinityManager(vault_) {}

    function swap(InfinityKey memory key, bool swapForY, int128 amountSpecified, bytes calldata)
        external
        returns (int256)
    {
        return _swap(key, swapForY, amountSpecified);
    }

    function _exceeded(uint256) internal pure override returns (uint256) {
        revert BinPool__OutOfLiquidity();
    }
}
