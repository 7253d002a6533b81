// SPDX-License-Identifier: MIT
pragma solidity 0.8.26;

// What differential tests put around the real contracts: a token, an owner of pools, and traders that pay callbacks.

/// A token that anyone mints and that asks for no approvals.
contract Token {
    string public constant name = "Token";
    string public constant symbol = "TKN";
    uint8 public immutable decimals;
    mapping(address => uint256) public balanceOf;

    constructor(uint8 decimals_) {
        decimals = decimals_;
    }

    function setBalance(address owner, uint256 amount) external {
        balanceOf[owner] = amount;
    }

    function mint(address to, uint256 amount) external {
        balanceOf[to] += amount;
    }

    function approve(address, uint256) external pure returns (bool) {
        return true;
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        balanceOf[msg.sender] -= amount;
        balanceOf[to] += amount;
        return true;
    }

    function transferFrom(address from, address to, uint256 amount) external returns (bool) {
        balanceOf[from] -= amount;
        balanceOf[to] += amount;
        return true;
    }
}

/// Deploys a pool and answers what pools ask their factory or deployer.
contract PoolHost {
    address private _token0;
    address private _token1;
    uint24 private _fee;
    int24 private _tickSpacing;

    function deploy(bytes memory code, address token0, address token1, uint24 fee, int24 tickSpacing)
        external
        returns (address pool)
    {
        (_token0, _token1, _fee, _tickSpacing) = (token0, token1, fee, tickSpacing);
        assembly {
            pool := create(0, add(code, 32), mload(code))
        }
        require(pool != address(0), "pool not deployed");
    }

    function call(address to, bytes calldata input) external returns (bytes memory) {
        (bool done, bytes memory output) = to.call(input);
        require(done, "call failed");
        return output;
    }

    // Uniswap V3, PancakeSwap V3
    function parameters() external view returns (address, address, address, uint24, int24) {
        return (address(this), _token0, _token1, _fee, _tickSpacing);
    }

    // Algebra Integral
    function getDeployParameters() external view returns (address, address, address, address) {
        return (address(0), address(this), _token0, _token1);
    }

    function defaultConfigurationForPool() external view returns (uint16, int24, uint16) {
        return (0, _tickSpacing, uint16(_fee));
    }

    // Solidly
    function isPaused() external pure returns (bool) {
        return false;
    }

    function voter() external view returns (address) {
        return address(this);
    }

    function getFee(address, bool) external view virtual returns (uint256) {
        return _fee / 100;
    }

    // Slipstream
    function getSwapFee(address) external view returns (uint24) {
        return _fee;
    }

    function getUnstakedFee(address) external pure returns (uint24) {
        return 100_000;
    }
}

interface IPair {
    function swap(uint256 amount0Out, uint256 amount1Out, address to, bytes calldata data) external;
    function sync() external;
}

interface IConcentrated {
    function token0() external view returns (address);
    function token1() external view returns (address);
    function liquidity() external view returns (uint128);
    function mint(address to, int24 lower, int24 upper, uint128 amount, bytes calldata data) external;
    function mint(address payer, address to, int24 lower, int24 upper, uint128 amount, bytes calldata data) external;
    function swap(address to, bool down, int256 amountIn, uint160 limit, bytes calldata data)
        external
        returns (int256 amount0, int256 amount1);
}

uint160 constant LOWEST = 4295128739 + 1;
uint160 constant HIGHEST = 1461446703485210103287273052203988822378723970342 - 1;

/// Trades with pools and pays whatever they ask for with fresh tokens.
contract Trader {
    /// Sets what a pair holds.
    function fill(address pair, Token token0, Token token1, uint256 amount0, uint256 amount1) external {
        token0.setBalance(pair, amount0);
        token1.setBalance(pair, amount1);
        IPair(pair).sync();
    }

    /// Pays a pair and takes the output; returns the reserves afterwards.
    function swapPair(address pair, Token tokenIn, uint256 amountIn, uint256 out0, uint256 out1)
        external
        returns (uint256 reserve0, uint256 reserve1)
    {
        tokenIn.mint(pair, amountIn);
        IPair(pair).swap(out0, out1, address(this), "");
        (reserve0, reserve1) = _twoWords(pair, "getReserves()");
    }

    function mint(address pool, int24 lower, int24 upper, uint128 amount) external {
        IConcentrated(pool).mint(address(this), lower, upper, amount, "");
    }

    function mintAlgebra(address pool, int24 lower, int24 upper, uint128 amount) external {
        IConcentrated(pool).mint(address(this), address(this), lower, upper, amount, "");
    }

    /// `inList` tells an Algebra pool, which answers `globalState()` instead of `slot0()`.
    function swap(address pool, bool inList, bool down, uint256 amountIn)
        external
        returns (uint256 paid, uint256 got, uint256 price, int256 tick, uint256 liquidity)
    {
        (paid, got) = _swap(pool, down, int256(amountIn));
        (price, tick, liquidity) = position(pool, inList);
    }

    function position(address pool, bool inList)
        public
        view
        returns (uint256 price, int256 tick, uint256 liquidity)
    {
        uint256 word;
        (price, word) = _twoWords(pool, inList ? "globalState()" : "slot0()");
        (tick, liquidity) = (int256(word), IConcentrated(pool).liquidity());
    }

    /// Every mint and swap callback: two amounts first, of which the positive ones are owed.
    fallback() external {
        (int256 owed0, int256 owed1) = abi.decode(msg.data[4:], (int256, int256));
        if (owed0 > 0) Token(IConcentrated(msg.sender).token0()).mint(msg.sender, uint256(owed0));
        if (owed1 > 0) Token(IConcentrated(msg.sender).token1()).mint(msg.sender, uint256(owed1));
    }

    function _swap(address pool, bool down, int256 amountIn) private returns (uint256, uint256) {
        (int256 amount0, int256 amount1) =
            IConcentrated(pool).swap(address(this), down, amountIn, down ? LOWEST : HIGHEST, "");
        return down ? (uint256(amount0), uint256(-amount1)) : (uint256(amount1), uint256(-amount0));
    }

    function _twoWords(address pool, string memory signature) private view returns (uint256, uint256) {
        (bool done, bytes memory output) = pool.staticcall(abi.encodeWithSignature(signature));
        require(done, "no state");
        return abi.decode(output, (uint256, uint256));
    }
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

struct SwapParams {
    bool zeroForOne;
    int256 amountSpecified;
    uint160 sqrtPriceLimitX96;
}

interface IPoolManager {
    function unlock(bytes calldata data) external returns (bytes memory);
    function modifyLiquidity(PoolKey memory key, ModifyLiquidityParams memory params, bytes calldata data)
        external
        returns (int256 delta, int256 fees);
    function swap(PoolKey memory key, SwapParams memory params, bytes calldata data) external returns (int256 delta);
    function sync(address currency) external;
    function take(address currency, address to, uint256 amount) external;
    function settle() external payable returns (uint256);
    function extsload(bytes32 slot) external view returns (bytes32);
}

/// The same for Uniswap V4's PoolManager.
contract V4Trader {
    IPoolManager private immutable _manager;

    constructor(IPoolManager manager) {
        _manager = manager;
    }

    function mint(PoolKey calldata key, int24 lower, int24 upper, int256 amount) external {
        ModifyLiquidityParams memory params = ModifyLiquidityParams(lower, upper, amount, 0);
        _manager.unlock(abi.encode(key, abi.encodeCall(IPoolManager.modifyLiquidity, (key, params, ""))));
    }

    function swap(PoolKey calldata key, bool down, uint256 amountIn)
        external
        returns (uint256 paid, uint256 got, uint256 price, int256 tick, uint256 liquidity)
    {
        SwapParams memory params = SwapParams(down, -int256(amountIn), down ? LOWEST : HIGHEST);
        bytes memory answer = _manager.unlock(abi.encode(key, abi.encodeCall(IPoolManager.swap, (key, params, ""))));
        (int256 amount0, int256 amount1) = _split(abi.decode(answer, (int256)));
        (paid, got) = down ? (uint256(-amount0), uint256(amount1)) : (uint256(-amount1), uint256(amount0));
        (price, tick, liquidity) = position(key);
    }

    /// Square-root price, tick and liquidity, read from the manager's storage.
    function position(PoolKey memory key) public view returns (uint256 price, int256 tick, uint256 liquidity) {
        uint256 slot = _slot(key);
        uint256 word = uint256(_manager.extsload(bytes32(slot)));
        return (uint160(word), int24(int256(word >> 160)), uint128(uint256(_manager.extsload(bytes32(slot + 3)))));
    }

    /// Gross and net liquidity of a tick.
    function ticks(PoolKey memory key, int24 tick) external view returns (uint256 gross, int256 net) {
        uint256 word = uint256(_manager.extsload(keccak256(abi.encode(int256(tick), _slot(key) + 4))));
        return (uint128(word), int256(word) >> 128);
    }

    function unlockCallback(bytes calldata data) external returns (bytes memory answer) {
        (PoolKey memory key, bytes memory input) = abi.decode(data, (PoolKey, bytes));
        bool done;
        (done, answer) = address(_manager).call(input);
        if (!done) {
            assembly {
                revert(add(answer, 32), mload(answer))
            }
        }
        (int256 amount0, int256 amount1) = _split(abi.decode(answer, (int256)));
        _settle(key.currency0, amount0);
        _settle(key.currency1, amount1);
    }

    function _slot(PoolKey memory key) private pure returns (uint256) {
        return uint256(keccak256(abi.encode(keccak256(abi.encode(key)), uint256(6))));
    }

    function _settle(address currency, int256 amount) private {
        if (amount > 0) _manager.take(currency, address(this), uint256(amount));
        if (amount >= 0) return;
        _manager.sync(currency);
        Token(currency).mint(address(_manager), uint256(-amount));
        _manager.settle();
    }

    function _split(int256 delta) private pure returns (int256, int256) {
        return (delta >> 128, int128(delta));
    }
}
