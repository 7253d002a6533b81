// SPDX-License-Identifier: MIT
pragma solidity 0.8.26;

// What forks of known contracts change: who sets the fee, when, and which events tell of it.

interface ICurrentPool {
    function slot0() external view returns (uint160 price, int24 tick);
    function observe(uint32[] calldata ago) external view returns (int56[] memory ticks, uint160[] memory);
}

/// A fee as Slipstream's: a base, plus the distance of the tick from its average over ten minutes, up to a cap.
contract MovingFee {
    uint256 private constant BASE = 350;
    uint256 private constant CAP = 9_000;
    uint256 private constant PPM_PER_TICK = 3;
    int56 private constant WINDOW_S = 600;

    function getFee(address pool) public view returns (uint24) {
        (, int24 tick) = ICurrentPool(pool).slot0();
        uint32[] memory ago = new uint32[](2);
        ago[0] = uint32(uint56(WINDOW_S));
        try ICurrentPool(pool).observe(ago) returns (int56[] memory ticks, uint160[] memory) {
            int56 apart = tick - (ticks[1] - ticks[0]) / WINDOW_S;
            uint256 fee = BASE + PPM_PER_TICK * uint256(uint56(apart < 0 ? -apart : apart));
            return uint24(fee < CAP ? fee : CAP);
        } catch {
            return uint24(BASE);
        }
    }
}

/// What a pool of Slipstream asks of its factory.
contract MovingFeeHost is MovingFee {
    function getSwapFee(address pool) external view returns (uint24) {
        return getFee(pool);
    }

    function getUnstakedFee(address) external pure returns (uint24) {
        return 0;
    }
}

/// A pool as Ramses': what a swap pays is `currentFee()`, while `fee()` stays what it was at the creation.
///
/// Everything else is the pool at `code`, which asks its factory, this contract as well, for the fee of a swap.
contract RamsesPool {
    address private _reserved;
    bytes32 private constant CODE_SLOT = keccak256("code");
    bytes32 private constant FEE_SLOT = keccak256("fee");
    uint24 private constant FIRST_FEE = 500;

    event FeeAdjustment(uint24 oldFee, uint24 newFee);

    constructor(address code) {
        _store(CODE_SLOT, uint256(uint160(code)));
        _store(FEE_SLOT, FIRST_FEE);
    }

    function setFee(uint24 newFee) external {
        emit FeeAdjustment(currentFee(), newFee);
        _store(FEE_SLOT, newFee);
    }

    function fee() external pure returns (uint24) {
        return FIRST_FEE;
    }

    function currentFee() public view returns (uint24) {
        return uint24(_load(FEE_SLOT));
    }

    // What the pool's code asks its factory and its voter.
    function getSwapFee(address) external view returns (uint24) {
        return currentFee();
    }

    function getUnstakedFee(address) external pure returns (uint24) {
        return 0;
    }

    fallback() external {
        address code = address(uint160(_load(CODE_SLOT)));
        assembly {
            calldatacopy(0, 0, calldatasize())
            let done := delegatecall(gas(), code, 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            switch done
            case 0 { revert(0, returndatasize()) }
            default { return(0, returndatasize()) }
        }
    }

    function _store(bytes32 slot, uint256 value) private {
        assembly {
            sstore(slot, value)
        }
    }

    function _load(bytes32 slot) private view returns (uint256 value) {
        assembly {
            value := sload(slot)
        }
    }
}

/// A plugin of Algebra Integral that sets the fee of every swap. What it says about that may be true or not.
contract FeePlugin {
    uint256 private constant PERIOD_S = 3_600;
    uint24 public surcharge;

    /// Pay this much more than `getCurrentFee()` says.
    function setSurcharge(uint24 ppm) external {
        surcharge = ppm;
    }

    function defaultPluginConfig() external pure returns (uint8) {
        return 0x81;
    }

    /// It moves with time, without an event.
    function getCurrentFee() public view returns (uint16) {
        return uint16(500 + block.timestamp % PERIOD_S);
    }

    function beforeSwap(address, address, bool, int256, uint160, bool, bytes calldata)
        external
        view
        returns (bytes4, uint24, uint24)
    {
        return (this.beforeSwap.selector, getCurrentFee() + surcharge, 0);
    }

    /// Every other callback.
    fallback() external {
        assembly {
            mstore(0, shl(224, shr(224, calldataload(0))))
            return(0, 96)
        }
    }
}

interface IAlgebraFactory {
    function poolByPair(address a, address b) external view returns (address);
    function customPoolByPair(address deployer, address a, address b) external view returns (address);
}

interface IAlgebraPool {
    function swap(address to, bool down, int256 amountIn, uint160 limit, bytes calldata data)
        external
        returns (int256 amount0, int256 amount1);
}

/// Quotes swaps as Algebra's quoter: it swaps, and reverts with the output when it has to pay.
contract AlgebraQuoter {
    struct Swap {
        address tokenIn;
        address tokenOut;
        address deployer;
        uint256 amountIn;
        uint160 limit;
    }

    IAlgebraFactory private immutable _factory;

    constructor(IAlgebraFactory factory) {
        _factory = factory;
    }

    function quoteExactInputSingle(Swap calldata one) external returns (uint256 amountOut) {
        address pool = one.deployer == address(0)
            ? _factory.poolByPair(one.tokenIn, one.tokenOut)
            : _factory.customPoolByPair(one.deployer, one.tokenIn, one.tokenOut);
        bool down = one.tokenIn < one.tokenOut;
        uint160 limit = down ? 4295128740 : 1461446703485210103287273052203988822378723970341;
        try IAlgebraPool(pool).swap(address(this), down, int256(one.amountIn), limit, "") {
            revert("no callback");
        } catch (bytes memory answer) {
            require(answer.length == 32, "the swap reverts");
            return abi.decode(answer, (uint256));
        }
    }

    function algebraSwapCallback(int256 amount0, int256 amount1, bytes calldata) external pure {
        uint256 amountOut = uint256(-(amount0 < amount1 ? amount0 : amount1));
        assembly {
            mstore(0, amountOut)
            revert(0, 32)
        }
    }
}

/// A pair like Uniswap V2's of a version that nobody knows: its trades have an event of their own, or none at all.
contract UnknownPair {
    address public immutable token0;
    address public immutable token1;
    uint112 private _reserve0 = 10 ** 24;
    uint112 private _reserve1 = 10 ** 24;

    event Traded(uint256 amount0, uint256 amount1);

    constructor(address first, address second) {
        (token0, token1) = (first, second);
    }

    function getReserves() external view returns (uint112, uint112, uint32) {
        return (_reserve0, _reserve1, 0);
    }

    function trade(uint112 amount, bool isAnnounced) external {
        _reserve0 += amount;
        _reserve1 -= amount / 2;
        if (isAnnounced) emit Traded(amount, amount / 2);
    }
}
