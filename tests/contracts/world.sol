// SPDX-License-Identifier: MIT
pragma solidity 0.8.26;

// Tokens as they are met, and whoever brings liquidity to real pools: with what it holds, through every callback.

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Permit.sol";

/// A proper token that anyone mints.
contract Coin is ERC20Permit {
    uint8 private immutable _decimals;

    constructor(string memory symbol_, uint8 decimals_) ERC20(symbol_, symbol_) ERC20Permit(symbol_) {
        _decimals = decimals_;
    }

    function decimals() public view override returns (uint8) {
        return _decimals;
    }

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }
}

/// Like Tether on Ethereum: returns nothing, and an approval must be used up or taken back before the next.
contract Tether {
    string public constant symbol = "USDT";
    uint8 public constant decimals = 6;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;

    function mint(address to, uint256 amount) external {
        balanceOf[to] += amount;
    }

    function approve(address spender, uint256 amount) external {
        require(amount == 0 || allowance[msg.sender][spender] == 0, "approved already");
        allowance[msg.sender][spender] = amount;
    }

    function transfer(address to, uint256 amount) external {
        _move(msg.sender, to, amount);
    }

    function transferFrom(address from, address to, uint256 amount) external {
        allowance[from][msg.sender] -= amount;
        _move(from, to, amount);
    }

    function _move(address from, address to, uint256 amount) private {
        balanceOf[from] -= amount;
        balanceOf[to] += amount;
    }
}

interface IHeld {
    function balanceOf(address owner) external view returns (uint256);
    function transfer(address to, uint256 amount) external;
}

interface IPool {
    function token0() external view returns (address);
    function token1() external view returns (address);
    function mint(address to) external returns (uint256);
    function mint(address to, int24 lower, int24 upper, uint128 amount, bytes calldata data) external;
    function mint(address payer, address to, int24 lower, int24 upper, uint128 amount, bytes calldata data) external;
}

struct PoolKey {
    address currency0;
    address currency1;
    uint24 fee;
    int24 tickSpacing;
    address hooks;
}

struct ModifyLiquidityParams {
    int24 tickLower;
    int24 tickUpper;
    int256 liquidityDelta;
    bytes32 salt;
}

interface IPoolManager {
    function unlock(bytes calldata data) external returns (bytes memory);
    function modifyLiquidity(PoolKey memory key, ModifyLiquidityParams memory params, bytes calldata data)
        external
        returns (int256 delta, int256 fees);
    function sync(address currency) external;
    function take(address currency, address to, uint256 amount) external;
    function settle() external payable returns (uint256);
}

contract Provider {
    receive() external payable {}

    function fillPair(address pair, uint256 amount0, uint256 amount1) external {
        IHeld(IPool(pair).token0()).transfer(pair, amount0);
        IHeld(IPool(pair).token1()).transfer(pair, amount1);
        IPool(pair).mint(address(this));
    }

    function mint(address pool, int24 lower, int24 upper, uint128 amount) external {
        IPool(pool).mint(address(this), lower, upper, amount, "");
    }

    function mintAlgebra(address pool, int24 lower, int24 upper, uint128 amount) external {
        IPool(pool).mint(address(this), address(this), lower, upper, amount, "");
    }

    function mintSingleton(IPoolManager manager, PoolKey calldata key, int24 lower, int24 upper, int256 amount)
        external
    {
        manager.unlock(abi.encode(key, lower, upper, amount));
    }

    function unlockCallback(bytes calldata data) external returns (bytes memory) {
        (PoolKey memory key, int24 lower, int24 upper, int256 amount) =
            abi.decode(data, (PoolKey, int24, int24, int256));
        (int256 delta,) = IPoolManager(msg.sender).modifyLiquidity(
            key, ModifyLiquidityParams(lower, upper, amount, 0), ""
        );
        _settle(key.currency0, -(delta >> 128));
        _settle(key.currency1, -int256(int128(delta)));
        return "";
    }

    /// Every mint callback: two amounts first, which are owed.
    fallback() external {
        (uint256 owed0, uint256 owed1) = abi.decode(msg.data[4:], (uint256, uint256));
        if (owed0 > 0) IHeld(IPool(msg.sender).token0()).transfer(msg.sender, owed0);
        if (owed1 > 0) IHeld(IPool(msg.sender).token1()).transfer(msg.sender, owed1);
    }

    function _settle(address currency, int256 owed) private {
        if (owed <= 0) return;
        if (currency == address(0)) {
            IPoolManager(msg.sender).settle{value: uint256(owed)}();
        } else {
            IPoolManager(msg.sender).sync(currency);
            IHeld(currency).transfer(msg.sender, uint256(owed));
            IPoolManager(msg.sender).settle();
        }
    }
}

/// Modelled: a pool of Curve's kind, since no package has the bytecode of one. Two or more coins, a constant fee, the
/// arithmetic of StableSwap-NG as published; admin fees are kept out of `balances`.
contract StableSwap {
    string public constant version = "v7.0.0";
    address[] public coins;
    uint256[] public balances;
    uint256 public immutable A;
    uint256 public immutable fee;
    uint256[] private _rates;

    uint256 private constant WAD = 1e18;
    uint256 private constant FEE_DENOMINATOR = 1e10;
    uint256 private constant A_PRECISION = 100;

    constructor(address[] memory coins_, uint256[] memory rates_, uint256 amp, uint256 fee_) {
        (coins, _rates, A, fee) = (coins_, rates_, amp, fee_);
        balances = new uint256[](coins_.length);
    }

    /// Takes what was transferred here beforehand.
    function fill() external {
        for (uint256 k = 0; k < coins.length; ++k) balances[k] = IHeld(coins[k]).balanceOf(address(this));
    }

    function exchange(int128 i, int128 j, uint256 dx, uint256 least) public virtual returns (uint256 dy) {
        (uint256 a, uint256 b) = (uint256(uint128(i)), uint256(uint128(j)));
        _pull(coins[a], dx);
        uint256 adminFee;
        (dy, adminFee) = _trade(a, b, dx);
        require(dy >= least, "too little");
        balances[a] += dx;
        balances[b] -= dy + adminFee;
        (bool done,) = coins[b].call(abi.encodeWithSignature("transfer(address,uint256)", msg.sender, dy));
        require(done, "not paid out");
    }

    function _pull(address coin, uint256 amount) private {
        (bool done,) = coin.call(
            abi.encodeWithSignature("transferFrom(address,address,uint256)", msg.sender, address(this), amount)
        );
        require(done, "not paid in");
    }

    function _trade(uint256 i, uint256 j, uint256 dx) private view returns (uint256 dy, uint256 adminFee) {
        uint256[] memory xp = new uint256[](coins.length);
        for (uint256 k = 0; k < xp.length; ++k) xp[k] = balances[k] * _rates[k] / WAD;
        uint256 x = xp[i] + dx * _rates[i] / WAD;
        uint256 d = _invariant(xp);
        uint256 gross = xp[j] - _balanceOut(xp, i, j, x, d) - 1;
        uint256 cut = gross * fee / FEE_DENOMINATOR;
        return ((gross - cut) * WAD / _rates[j], cut / 2 * WAD / _rates[j]);
    }

    function _invariant(uint256[] memory xp) private view returns (uint256 d) {
        uint256 n = xp.length;
        uint256 sum;
        for (uint256 k = 0; k < n; ++k) sum += xp[k];
        uint256 ann = A * A_PRECISION * n;
        d = sum;
        for (uint256 round = 0; round < 255; ++round) {
            uint256 p = d;
            for (uint256 k = 0; k < n; ++k) p = p * d / xp[k];
            p /= n ** n;
            uint256 before = d;
            d = (ann * sum / A_PRECISION + p * n) * d / ((ann - A_PRECISION) * d / A_PRECISION + (n + 1) * p);
            if (d > before ? d - before <= 1 : before - d <= 1) return d;
        }
        revert("no invariant");
    }

    function _balanceOut(uint256[] memory xp, uint256 i, uint256 j, uint256 x, uint256 d)
        private
        view
        returns (uint256 y)
    {
        uint256 n = xp.length;
        uint256 ann = A * A_PRECISION * n;
        (uint256 sum, uint256 c) = (0, d);
        for (uint256 k = 0; k < n; ++k) {
            if (k == j) continue;
            uint256 balance = k == i ? x : xp[k];
            sum += balance;
            c = c * d / (balance * n);
        }
        c = c * d * A_PRECISION / (ann * n);
        uint256 b = sum + d * A_PRECISION / ann;
        y = d;
        for (uint256 round = 0; round < 255; ++round) {
            uint256 before = y;
            y = (y * y + c) / (2 * y + b - d);
            if (y > before ? y - before <= 1 : before - y <= 1) return y;
        }
        revert("no balance");
    }
}
