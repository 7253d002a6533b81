// SPDX-License-Identifier: MIT
pragma solidity 0.8.26;

import {SwapParams} from "router/Interfaces.sol";
import {RouteParam, SwapRouter} from "router/SwapRouter.sol";

/// What the checks use of halmos' cheat codes, and of Foundry's as halmos has them.
interface Svm {
    function createBytes(uint256 size, string calldata name) external returns (bytes memory);
}

interface Vm {
    function assume(bool condition) external;
    function deal(address owner, uint256 wei_) external;
    function load(address target, bytes32 slot) external view returns (bytes32);
    function prank(address sender) external;
    function store(address target, bytes32 slot, bytes32 value) external;
    function warp(uint256 timestamp) external;
}

Svm constant svm = Svm(address(uint160(uint256(keccak256("svm cheat code")))));
Vm constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));

/// A token whose allowances are not looked at.
contract FreeCoin {
    mapping(address => uint256) public balanceOf;

    function mint(address to, uint256 amount) external {
        unchecked {
            balanceOf[to] += amount;
        }
    }

    function transfer(address to, uint256 amount) external {
        balanceOf[msg.sender] -= amount;
        balanceOf[to] += amount;
    }

    function transferFrom(address from, address to, uint256 amount) external {
        balanceOf[from] -= amount;
        balanceOf[to] += amount;
    }
}

/// Answers every call with zeros, so that nothing but the router refuses.
contract Accepting {
    fallback() external payable {
        assembly {
            return(0, 96)
        }
    }
}

/// A pair of Liquidity Book that gives as much as it was told to.
contract FreePool {
    FreeCoin private immutable _bought;
    uint256 private immutable _amount;

    constructor(FreeCoin bought, uint256 amount) {
        (_bought, _amount) = (bought, amount);
    }

    function swap(bool, address to) external {
        _bought.mint(to, _amount);
    }
}

/// For all callers, values, times and bytes of the sizes that stand here. halmos runs each function that begins with
/// `check_` on symbols in place of its arguments.
contract RouterSymbolic {
    bytes32 private constant IDLE = bytes32(uint256(1));
    bytes32 private constant BUSY = bytes32(uint256(2));
    uint8 private constant LIQUIDITY_BOOK = 13;
    uint8 private constant TOKEN_TO_TOKEN = 2;
    address private constant WRAPPED = address(0x1111);

    address private accepting;
    SwapRouter private router;
    FreeCoin private sold;
    FreeCoin private bought;

    function setUp() public {
        uint256 kinds = uint256(LIQUIDITY_BOOK) << (4 * LIQUIDITY_BOOK);
        accepting = address(new Accepting());
        router = new SwapRouter(WRAPPED, accepting, kinds, 0);
        (sold, bought) = (new FreeCoin(), new FreeCoin());
    }

    function _isEntry(bytes4 selector) private view returns (bool) {
        return selector == router.swap.selector || selector == router.swapIntegrator.selector
            || selector == router.swapBefore.selector || selector == router.swapWithPermit.selector;
    }

    // ---- Callbacks and the lock

    /// Nobody knows bytes whose hash is the mark of an idle router.
    function _assumeNoPreimage(address caller, bytes4 callback, bytes memory data) private {
        vm.assume(keccak256(abi.encodePacked(caller, callback, data)) != IDLE);
    }

    function _refusesWhileIdle(address caller, bytes memory input, uint256 value) private {
        vm.deal(caller, value);
        vm.prank(caller);
        (bool done,) = address(router).call{value: value}(input);
        assert(!done);
        assert(vm.load(address(router), 0) == IDLE);
    }

    /// The callback of concentrated pools, under any name.
    function check_idle_router_refuses_any_callback(address caller, bytes4 selector, int256 a, int256 b, uint256 value)
        external
    {
        vm.assume(!_isEntry(selector));
        vm.assume(selector != router.unlockCallback.selector && selector != router.lockAcquired.selector);
        vm.assume(selector != router.balancerCallback.selector);
        bytes memory data = svm.createBytes(64, "data");
        _assumeNoPreimage(caller, bytes4(0), data);
        _refusesWhileIdle(caller, bytes.concat(selector, abi.encode(a, b, data)), value);
    }

    function check_idle_router_refuses_the_pool_manager() external {
        bytes memory data = svm.createBytes(224, "data");
        _assumeNoPreimage(accepting, router.unlockCallback.selector, data);
        _refusesWhileIdle(accepting, abi.encodeCall(router.unlockCallback, (data)), 0);
    }

    /// Not even a contract of the same code, in a state that lets it call back.
    function check_nobody_else_is_the_pool_manager(bytes32 state) external {
        address caller = address(new Accepting());
        vm.store(address(router), 0, state);
        bytes memory data = svm.createBytes(224, "data");
        vm.prank(caller);
        (bool done,) = address(router).call(abi.encodeCall(router.unlockCallback, (data)));
        assert(!done);
    }

    function check_idle_router_refuses_vaults_of_infinity() external {
        bytes memory data = svm.createBytes(320, "data");
        _assumeNoPreimage(accepting, router.lockAcquired.selector, data);
        _refusesWhileIdle(accepting, abi.encodeCall(router.lockAcquired, (data)), 0);
    }

    function check_idle_router_refuses_vaults_of_balancer() external {
        bytes memory input = bytes.concat(router.balancerCallback.selector, svm.createBytes(192, "trade"));
        _assumeNoPreimage(accepting, router.balancerCallback.selector, input);
        _refusesWhileIdle(accepting, input, 0);
    }

    function check_idle_router_refuses_native_currency(address caller, uint256 value) external {
        _refusesWhileIdle(caller, "", value);
    }

    /// Whatever the lock holds but the mark of an idle router: a swap, or a hash that a callback must have.
    function check_busy_router_refuses_every_entry(
        address caller,
        bytes32 state,
        uint256 amount,
        uint256 minimum,
        uint256 deadline
    ) external {
        vm.assume(state != IDLE);
        RouteParam memory route =
            RouteParam(address(sold), address(bought), amount, 0, minimum, address(0x9999), TOKEN_TO_TOKEN);
        vm.store(address(router), 0, state);
        SwapParams[] memory swaps = new SwapParams[](0);
        bytes memory data = svm.createBytes(96, "shares");
        bytes[4] memory inputs = [
            abi.encodeCall(router.swap, (route, swaps)),
            abi.encodeCall(router.swapIntegrator, (route, swaps, data)),
            abi.encodeCall(router.swapBefore, (deadline, route, swaps, data)),
            abi.encodeCall(router.swapWithPermit, (route, swaps, deadline, 27, 0, 0))
        ];
        for (uint256 k = 0; k < 4; ++k) {
            vm.prank(caller);
            (bool done,) = address(router).call(inputs[k]);
            assert(!done);
        }
        assert(vm.load(address(router), 0) == state);
    }

    /// While a pool is expected to call back, nobody else is let in, and no other bytes are.
    function check_only_the_promised_callback_is_let_in(
        address expected,
        address caller,
        address token,
        uint256 amount,
        address otherToken,
        uint256 otherAmount
    ) external {
        vm.assume(caller != expected || token != otherToken || amount != otherAmount);
        bytes memory data = abi.encode(token, amount);
        vm.store(address(router), 0, keccak256(abi.encodePacked(expected, bytes4(0), data)));
        vm.prank(caller);
        (bool done,) = address(router).call(
            abi.encodeWithSignature(
                "anySwapCallback(int256,int256,bytes)", int256(otherAmount), int256(-1), abi.encode(otherToken, otherAmount)
            )
        );
        assert(!done);
    }

    // ---- Deadline, shares, minimum

    function check_no_swap_after_its_deadline(uint256 deadline, uint256 now_, uint256 amount, uint256 given) external {
        vm.assume(now_ > deadline && now_ < 2 ** 64);
        (RouteParam memory route, SwapParams[] memory swaps) = _order(amount, given, 0, 0);
        vm.warp(now_);
        try router.swapBefore(deadline, route, swaps, "") returns (uint256) {
            assert(false);
        } catch {}
        try router.swapWithPermit(route, swaps, deadline, 27, 0, 0) returns (uint256) {
            assert(false);
        } catch {}
    }

    function check_shares_stay_within_their_limits(uint256 feeBps, uint256 surplusBps, address integrator) external {
        vm.assume(feeBps > 500 || surplusBps > 5_000 || (feeBps != 0 && surplusBps != 0));
        (RouteParam memory route, SwapParams[] memory swaps) = _order(1_000, 1_000, 0, 0);
        try router.swapIntegrator(route, swaps, abi.encode(integrator, feeBps, surplusBps)) returns (uint256) {
            assert(false);
        } catch {}
    }

    /// Whatever the pool gives: who is paid gets it all, the minimum at least, and nothing stays.
    function check_the_minimum_is_paid_or_nothing_is_done(uint256 given, uint256 minimum, uint256 left)
        external
    {
        // The division by the scale of rates is beyond the solver for an input that is a symbol.
        uint256 amount = 1_234_567_890;
        (RouteParam memory route, SwapParams[] memory swaps) = _order(amount, given, minimum, left);
        try router.swap(route, swaps) returns (uint256 received) {
            assert(received == given && received >= minimum);
            assert(bought.balanceOf(route.destination) == received);
            assert(bought.balanceOf(address(router)) == left && sold.balanceOf(address(router)) == left);
            assert(sold.balanceOf(address(this)) == 0);
            assert(vm.load(address(router), 0) == IDLE);
        } catch {
            assert(bought.balanceOf(route.destination) == 0);
            assert(sold.balanceOf(address(this)) == amount);
        }
    }

    /// A rate beyond the scale spends nothing, whatever lies in the router.
    function check_no_rate_beyond_the_scale(uint32 rate, uint256 amount, uint256 left) external {
        vm.assume(rate == 0 || rate > 1_000_000);
        (RouteParam memory route, SwapParams[] memory swaps) = _order(amount, 1, 0, left);
        swaps[0].rate = rate;
        try router.swap(route, swaps) returns (uint256) {
            assert(false);
        } catch {}
    }

    /// One swap of this contract's `amount` for what a pool gives, with `left` of both tokens in the router.
    function _order(uint256 amount, uint256 given, uint256 minimum, uint256 left)
        private
        returns (RouteParam memory route, SwapParams[] memory swaps)
    {
        vm.assume(amount < 2 ** 128 && given < 2 ** 128 && left < 2 ** 128);
        sold.mint(address(this), amount);
        sold.mint(address(router), left);
        bought.mint(address(router), left);
        FreePool pool = new FreePool(bought, given);
        swaps = new SwapParams[](1);
        swaps[0] = SwapParams(
            address(sold), address(bought), 1_000_000, int24(uint24(LIQUIDITY_BOOK)), address(pool), 2, hex"00"
        );
        route = RouteParam(address(sold), address(bought), amount, 0, minimum, address(0x9999), TOKEN_TO_TOKEN);
    }
}
