// SPDX-License-Identifier: MIT
pragma solidity 0.8.26;

import {SwapParams} from "router/Interfaces.sol";
import {Accomplice, Coin, FIRST_FATAL, IApproving, Mischief, Pool, WrappedCoin} from "./Pool.sol";
import {vm} from "./Vm.sol";

struct RouteParam {
    address token_in;
    address token_out;
    uint256 amount_in;
    uint256 amount_out;
    uint256 min_received;
    address destination;
    uint8 swap_type;
}

/// The router by its published interface: the tests run its committed bytecode.
interface IRouter {
    function swap(RouteParam calldata route, SwapParams[] calldata swaps) external payable returns (uint256);
    function swapIntegrator(RouteParam calldata route, SwapParams[] calldata swaps, bytes calldata data)
        external
        payable
        returns (uint256);
    function swapBefore(
        uint256 deadline,
        RouteParam calldata route,
        SwapParams[] calldata swaps,
        bytes calldata data
    ) external payable returns (uint256);
    function swapWithPermit(
        RouteParam calldata route,
        SwapParams[] calldata swaps,
        uint256 deadline,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external payable returns (uint256);
}

uint8 constant WRAPPER = 1;
uint8 constant PAIR = 2;
uint8 constant CONCENTRATED = 3;
uint8 constant SINGLETON = 4;
uint8 constant STABLESWAP = 5;
uint8 constant BALANCER_V2 = 6;
uint8 constant BALANCER_V3 = 7;
uint8 constant CURVE_CRYPTO = 8;
uint8 constant INFINITY = 9;
uint8 constant FLUID = 10;
uint8 constant VAULT = 11;
uint8 constant PSM = 12;
uint8 constant LIQUIDITY_BOOK = 13;
uint8 constant BRIDGE = 14;
uint256 constant FAMILIES = 14;
uint256 constant MAX_STEPS = 4;
uint256 constant RATE_SCALE = 1_000_000;

/// A step of a route, and what it pays for an amount.
struct Step {
    uint8 kind;
    Pool pool;
    SwapParams params;
    uint256 reserveIn;
    uint256 reserveOut;
    uint256 feePpm;
}

/// The router, tokens, and a pool of every family for each position in a route.
contract World {
    IRouter public router;
    WrappedCoin public wrapped = new WrappedCoin();
    Accomplice public accomplice = new Accomplice();
    address public victim = address(0x71C71);
    Coin[] internal _coins;
    Pool[] internal _pools;
    uint256 internal _random;

    constructor() {
        string memory path = vm.envOr("ROUTER_ARTIFACT", string("../../../swapcli/payload/evm/router/artifact.json"));
        bytes memory code = vm.parseJsonBytes(vm.readFile(path), ".bytecode");
        uint256 kinds;
        for (uint256 kind = 1; kind <= FAMILIES; ++kind) kinds |= kind << (4 * kind);
        // The pool manager is made first, for an address that is not yet that of the router.
        address expected = _nextAddress(2);
        Pool manager = _newPool(expected);
        bytes memory creation = abi.encodePacked(code, abi.encode(address(wrapped), address(manager), kinds, kinds << 4));
        address created;
        assembly {
            created := create(0, add(creation, 32), mload(creation))
        }
        require(created == expected, "the router was not created");
        router = IRouter(created);
        for (uint256 k = 0; k < MAX_STEPS * FAMILIES; ++k) {
            _pools.push((k % FAMILIES) + 1 == SINGLETON ? manager : _newPool(created));
        }
        for (uint256 k = 0; k < 4; ++k) _coins.push(new Coin(k % 2 == 1));
        _coins.push(wrapped);
        for (uint256 k = 0; k < _coins.length; ++k) {
            vm.prank(victim);
            IApproving(address(_coins[k])).approve(created, type(uint256).max);
            _coins[k].mint(victim, 1e30);
        }
        vm.deal(address(wrapped), type(uint128).max);
    }

    function coins() external view returns (Coin[] memory) {
        return _coins;
    }

    function pools() external view returns (Pool[] memory) {
        return _pools;
    }

    function _newPool(address forRouter) private returns (Pool pool) {
        pool = new Pool(forRouter, wrapped, accomplice, victim);
        vm.deal(address(pool), type(uint104).max);
    }

    /// The address of the contract that this one makes after `skipped` - 1 others. Its first two are made above.
    function _nextAddress(uint256 skipped) private view returns (address) {
        bytes memory nonce = abi.encodePacked(bytes1(uint8(0xd6)), bytes1(0x94), address(this), bytes1(uint8(2 + skipped)));
        return address(uint160(uint256(keccak256(nonce))));
    }

    // ---- Steps

    function _next(uint256 limit) internal returns (uint256) {
        _random = uint256(keccak256(abi.encode(_random)));
        return _random % limit;
    }

    /// A swap of a family, at a position of a route.
    function _step(uint256 position, uint8 kind, address sold, address bought, uint256 rate)
        internal
        returns (Step memory step)
    {
        step.kind = kind;
        step.pool = _pools[position * FAMILIES + kind - 1];
        bool moreKinds = _next(2) == 1;
        // The second word of kinds is one id further.
        int24 id = int24(int256(moreKinds ? uint256(kind) + 65 : kind));
        step.params = SwapParams(sold, bought, uint32(rate), id, address(step.pool), 2, "");
        if (kind == WRAPPER) {
            step.params.pool_address = address(wrapped);
            return step;
        }
        step.pool.configure(sold, bought, Mischief.NONE, "");
        step.params.extra_data = _extra(step, sold, bought);
        if (kind == PAIR || kind == LIQUIDITY_BOOK) {
            (step.reserveIn, step.reserveOut) = (1e6 + _next(1e24), 1e6 + _next(1e24));
            step.pool.fill(step.reserveIn, step.reserveOut, step.feePpm);
        }
    }

    function _extra(Step memory step, address sold, address bought) private returns (bytes memory) {
        uint8 kind = step.kind;
        bool forward = sold < bought;
        bytes memory flag = abi.encodePacked(forward ? bytes1(0x01) : bytes1(0x00));
        if (kind == PAIR) {
            uint256 form = _next(3);
            if (form == 0) return "";
            step.feePpm = form == 1 ? 1 + _next(65_535) : 65_536 + _next(900_000);
            return form == 1 ? abi.encodePacked(uint16(step.feePpm)) : abi.encodePacked(uint24(step.feePpm));
        }
        if (kind == SINGLETON || kind == INFINITY) {
            bool hasNative = _next(2) == 1;
            address one = hasNative && sold == address(wrapped) ? address(0) : sold;
            address other = hasNative && bought == address(wrapped) ? address(0) : bought;
            (address low, address high) = one < other ? (one, other) : (other, one);
            if (kind == SINGLETON) return abi.encode(low, high, uint24(3000), int24(60), address(0));
            bytes memory key = abi.encode(low, high, address(0), step.pool, uint24(3000), bytes32(uint256(10)));
            return _next(2) == 1 ? abi.encodePacked(key, bytes1(0x01)) : key;
        }
        if (kind == STABLESWAP) return _next(2) == 1 ? bytes(hex"000101") : bytes(hex"0001");
        if (kind == CURVE_CRYPTO) return hex"0001";
        if (kind == BALANCER_V2) return _next(2) == 1 ? abi.encode(bytes32("pool")) : bytes("");
        if (kind == BALANCER_V3) {
            uint256 form = _next(4);
            if (form == 0) return "";
            address wrapperIn = form & 1 == 1 ? address(0xAAAA) : address(0);
            return abi.encodePacked(wrapperIn, form & 2 == 2 ? address(0xBBBB) : address(0));
        }
        if (kind == FLUID || kind == LIQUIDITY_BOOK) return flag;
        if (kind == VAULT) return sold == address(step.pool) ? bytes(hex"01") : bytes(hex"00");
        if (kind == BRIDGE) return _next(2) == 1 ? bytes(hex"01") : bytes(hex"00");
        return "";
    }

    /// What an honest pool pays for an amount.
    function _output(Step memory step, uint256 amount) internal pure returns (uint256) {
        if (step.kind == WRAPPER) return amount;
        if (step.kind == PAIR && step.feePpm != 0) {
            uint256 net = amount * (1e6 - step.feePpm);
            return net * step.reserveOut / (step.reserveIn * 1e6 + net);
        }
        return amount * 9 / 10 + 1;
    }

    function _isFatal(Step memory step, Mischief mischief) internal pure returns (bool) {
        if (uint8(mischief) < FIRST_FATAL || step.kind == WRAPPER) return false;
        if (mischief == Mischief.TAKE_LESS && step.kind == BALANCER_V3) return false;
        bool takes = mischief == Mischief.TAKE_LESS || mischief == Mischief.TAKE_NOTHING;
        return !takes || (step.kind != PAIR && step.kind != LIQUIDITY_BOOK);
    }
}
