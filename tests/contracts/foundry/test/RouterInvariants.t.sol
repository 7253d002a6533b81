// SPDX-License-Identifier: MIT
pragma solidity 0.8.26;

import {SwapParams} from "router/Interfaces.sol";
import {Coin, IApproving, Mischief} from "./Pool.sol";
import {Log, vm} from "./Vm.sol";
import {
    BRIDGE,
    CONCENTRATED,
    FAMILIES,
    FLUID,
    IRouter,
    MAX_STEPS,
    RATE_SCALE,
    RouteParam,
    SINGLETON,
    Step,
    VAULT,
    WRAPPER,
    World
} from "./World.sol";

/// Sends random calls to the router, of honest users and of others, and notes whatever is not as it should be.
contract Handler is World {
    struct Call {
        address sender;
        RouteParam route;
        SwapParams[] swaps;
        uint256 entry;
        uint256 deadline;
        bytes integratorData;
        uint8 v;
    }

    struct Expected {
        bool succeeds;
        uint256 received;
        uint256 earned;
        address integrator;
    }

    uint8 private constant NATIVE_TO_TOKEN = 0;
    uint8 private constant TOKEN_TO_NATIVE = 1;
    uint8 private constant TOKEN_TO_TOKEN = 2;

    address private constant SWEEPER = address(0x53EE9);

    string[] public faults;
    uint256 public swapsDone;
    uint256 public swapsRefused;
    mapping(address => uint256) public donated;
    uint256 public donatedNative;

    Step[] private _steps;
    /// Tokens that are in no route.
    Coin private _spare;
    Coin private _spareBought;

    constructor() {
        (_spare, _spareBought) = (new Coin(false), new Coin(false));
    }

    function countFaults() external view returns (uint256) {
        return faults.length;
    }

    function poolsOfLastRoute() external view returns (address[] memory found) {
        found = new address[](_steps.length);
        for (uint256 k = 0; k < found.length; ++k) found[k] = _steps[k].params.pool_address;
    }

    // ---- What the fuzzer calls

    function swapHonestly(uint256 seed, uint96 amount) external {
        _swap(seed, amount, Mischief.NONE);
    }

    function swapWithMischief(uint256 seed, uint96 amount, uint8 mischiefSeed) external {
        _swap(seed, amount, Mischief(mischiefSeed % (uint8(type(Mischief).max) + 1)));
    }

    function swapOtherwise(uint256 seed, uint96 amount, uint8 mischiefSeed) external {
        _swap(seed, amount, Mischief(mischiefSeed % (uint8(type(Mischief).max) + 1)));
    }

    /// A route of one to three hops, the first of them perhaps split, over honest pools or with one that is not.
    function _swap(uint256 seed, uint96 amount, Mischief mischief) private {
        _random = seed;
        Call memory made = _makeCall(1e6 + uint256(amount));
        uint256 at = _next(_steps.length);
        bool isFatal = _place(at, mischief);
        Expected memory expected = _expect(made);
        expected.succeeds = expected.succeeds && !isFatal;
        _send(made, expected);
        if (_spareBought.balanceOf(address(0x6600)) != 0) faults.push("somebody reentered");
        if (_steps[at].kind != WRAPPER && _steps[at].pool.countViolations() != 0) {
            faults.push(_steps[at].pool.violations(0));
        }
    }

    /// By mistake, somebody sends a token or native currency to the router.
    function donate(uint256 seed, uint96 amount) external {
        if (seed % 2 == 0) {
            vm.deal(address(this), amount);
            accomplice.burst{value: amount}(payable(address(router)));
            donatedNative += amount;
            return;
        }
        Coin coin = _coins[seed % _coins.length];
        coin.mint(address(router), amount);
        donated[address(coin)] += amount;
    }

    /// A stranger calls a callback while no swap runs, or sends native currency.
    function intrude(uint256 seed, uint96 amount) external {
        _random = seed;
        address coin = address(_coins[_next(_coins.length)]);
        uint256 form = _next(5);
        bytes memory input = "";
        if (form == 1) {
            input = abi.encodeWithSignature(
                "anySwapCallback(int256,int256,bytes)", int256(uint256(amount)), -1, abi.encode(coin, uint256(amount))
            );
        } else if (form == 2) {
            bytes memory data = abi.encode(address(0), coin, uint24(1), int24(1), address(0), true, uint256(amount));
            input = abi.encodeWithSignature("unlockCallback(bytes)", data);
        } else if (form == 3) {
            bytes memory key = abi.encode(address(0), coin, address(0), address(this), uint24(1), bytes32(0));
            input = abi.encodeWithSignature(
                "lockAcquired(bytes)",
                abi.encodePacked(abi.encode(address(this)), key, abi.encode(false, true, uint256(amount)))
            );
        } else if (form == 4) {
            input = abi.encodeWithSignature(
                "balancerCallback((address,address,address,address,address,uint256))",
                address(this), coin, coin, address(0), address(0), uint256(amount)
            );
        }
        vm.deal(address(this), 1);
        if (accomplice.act{value: form == 0 ? 1 : 0}(address(router), input)) faults.push("an intruder was let in");
    }

    /// Somebody asks for what others left in the router, by a route that brings nothing, or not that token.
    function sweep(uint256 seed) external {
        _random = seed;
        (uint256 paid, uint256 wanted) = (_next(_coins.length), _next(_coins.length));
        uint256 other = (paid + 1) % _coins.length == wanted ? (paid + 2) % _coins.length : (paid + 1) % _coins.length;
        uint256 form = paid == wanted ? 0 : _next(4);
        SwapParams[] memory swaps = new SwapParams[](form < 2 ? 0 : form - 1);
        bool sellsBought = form == 2 || _next(2) == 1;
        if (form >= 2) {
            address bought = address(_coins[sellsBought ? other : wanted]);
            swaps[0] = _step(0, BRIDGE, address(_coins[paid]), bought, RATE_SCALE).params;
        }
        if (form == 3) {
            // What lies in the router is sold: of the token that is wanted, or of a third one.
            (uint256 left, uint256 got) = sellsBought ? (wanted, other) : (other, wanted);
            swaps[1] = _step(1, BRIDGE, address(_coins[left]), address(_coins[got]), RATE_SCALE).params;
        }
        RouteParam memory route = RouteParam(
            address(_coins[paid]), address(_coins[wanted]), form == 0 ? 0 : 1e6, 0, 0, SWEEPER, TOKEN_TO_TOKEN
        );
        if (route.token_out == address(wrapped) && _next(2) == 1) route.swap_type = TOKEN_TO_NATIVE;
        _coins[paid].mint(SWEEPER, 1e6);
        vm.startPrank(SWEEPER);
        IApproving(route.token_in).approve(address(router), 0);
        IApproving(route.token_in).approve(address(router), 1e6);
        uint256 before = _coins[wanted].balanceOf(SWEEPER);
        (bool done,) = address(router).call(abi.encodeCall(IRouter.swap, (route, swaps)));
        vm.stopPrank();
        if (_coins[wanted].balanceOf(SWEEPER) > before || SWEEPER.balance != 0) faults.push("what others left was taken");
        if (done && form != 0) faults.push("a route went on with what it does not have, or left something");
    }

    // ---- Calls

    function _makeCall(uint256 amount) private returns (Call memory made) {
        made.sender = address(uint160(0x5000 + _next(3)));
        (address first, address last) = _makeSteps();
        made.route = RouteParam(first, last, amount, 0, 0, address(uint160(0x6000 + _next(3))), TOKEN_TO_TOKEN);
        if (_next(2) == 1 && first == address(wrapped)) made.route.swap_type = NATIVE_TO_TOKEN;
        if (_next(2) == 1 && last == address(wrapped)) made.route.swap_type = TOKEN_TO_NATIVE;
        made.swaps = new SwapParams[](_steps.length);
        for (uint256 k = 0; k < _steps.length; ++k) made.swaps[k] = _steps[k].params;
        made.entry = _next(4);
        made.deadline = block.timestamp + _next(3);
        made.v = 27;
    }

    function _makeSteps() private returns (address first, address last) {
        delete _steps;
        uint256 hops = 1 + _next(3);
        uint256 token = _next(_coins.length);
        uint256[] memory path = new uint256[](hops + 1);
        uint256 offset = 1 + _next(_coins.length - 1);
        // Five tokens, and a step that is not 0 modulo 5: none comes twice.
        for (uint256 k = 0; k <= hops; ++k) path[k] = (token + k * offset) % _coins.length;
        (first, last) = (address(_coins[path[0]]), address(_coins[path[hops]]));
        bool isSplit = _next(2) == 1;
        if (first == address(wrapped) && hops < 3 && _next(4) == 0) _add(WRAPPER, first, first, RATE_SCALE);
        for (uint256 k = 0; k < hops && _steps.length < MAX_STEPS; ++k) {
            address sold = address(_coins[path[k]]);
            address bought = address(_coins[path[k + 1]]);
            if (k == 0 && isSplit && hops < 3) _add(_kind(false), sold, bought, 1 + _next(RATE_SCALE - 1));
            if (k == 0 && !isSplit && _steps.length == 0 && _next(8) == 0) {
                first = address(_pools[VAULT - 1]);
                sold = first;
                _add(VAULT, sold, bought, RATE_SCALE);
            } else {
                _add(_kind(k == 0 && !isSplit && _steps.length == 0), sold, bought, RATE_SCALE);
            }
        }
    }

    function _add(uint8 kind, address sold, address bought, uint256 rate) private {
        _steps.push(_step(_steps.length, kind, sold, bought, rate));
    }

    /// There is one pool manager, which can stand in a route once.
    function _kind(bool mayBeSingleton) private returns (uint8 kind) {
        kind = uint8(2 + _next(FAMILIES - 1));
        if (kind == SINGLETON && !mayBeSingleton) kind = CONCENTRATED;
    }

    function _place(uint256 at, Mischief mischief) private returns (bool isFatal) {
        Step memory step = _steps[at];
        if (step.kind == WRAPPER) return false;
        // What is sent along with the output of Fluid is a part of it.
        if (mischief == Mischief.LEAVE_NATIVE && step.kind == FLUID && step.params.token_out == address(wrapped)) {
            mischief = Mischief.NONE;
        }
        bytes memory reentrant = mischief == Mischief.REENTER ? _reentrantCall(address(step.pool)) : bytes("");
        step.pool.configure(step.params.token_in, step.params.token_out, mischief, reentrant);
        return _isFatal(step, mischief);
    }

    /// A swap that the pool could do at any other time.
    function _reentrantCall(address pool) private returns (bytes memory) {
        Coin coin = _spare;
        coin.mint(pool, 1e6);
        vm.prank(pool);
        coin.approve(address(router), 1e6);
        // A position whose bridge is not in the route: of the longest routes, the first step wraps.
        uint256 position = MAX_STEPS - 1;
        while (position < _steps.length && _steps[position].kind == BRIDGE) --position;
        Step memory step = _step(position, BRIDGE, address(coin), address(_spareBought), RATE_SCALE);
        SwapParams[] memory swaps = new SwapParams[](1);
        swaps[0] = step.params;
        RouteParam memory route =
            RouteParam(address(coin), address(_spareBought), 1e6, 1, 1, address(0x6600), TOKEN_TO_TOKEN);
        uint256 entry = _next(4);
        if (entry == 0) return abi.encodeCall(IRouter.swap, (route, swaps));
        if (entry == 1) return abi.encodeCall(IRouter.swapIntegrator, (route, swaps, abi.encode(address(1), 0, 0)));
        if (entry == 2) return abi.encodeCall(IRouter.swapBefore, (block.timestamp, route, swaps, ""));
        return abi.encodeCall(IRouter.swapWithPermit, (route, swaps, block.timestamp, 27, 0, 0));
    }

    /// Computes what is received, and chooses the terms of the call around it.
    function _expect(Call memory made) private returns (Expected memory expected) {
        (uint256 gained, bool isDust) = _gained(made.route.amount_in);
        made.route.amount_out = [gained / 2, gained, gained + 5][_next(3)];
        expected.integrator = address(uint160(0x7000 + _next(2)));
        if (made.entry == 1 || (made.entry == 2 && _next(2) == 1)) {
            (uint256 feeBps, uint256 surplusBps) = (_next(501), _next(5001));
            if (_next(2) == 1) feeBps = 0;
            else surplusBps = 0;
            made.integratorData = abi.encode(expected.integrator, feeBps, surplusBps);
            expected.earned = gained * feeBps / 10_000;
            if (gained > made.route.amount_out) {
                expected.earned += (gained - made.route.amount_out) * surplusBps / 10_000;
            }
        }
        expected.received = gained - expected.earned;
        uint256 form = _next(6);
        if (form < 3) made.route.min_received = expected.received;
        if (form == 3) made.route.min_received = expected.received + 1;
        if (made.entry >= 2 && _next(6) == 0) made.deadline = block.timestamp - 1;
        bool isLate = made.entry >= 2 && made.deadline < block.timestamp;
        expected.succeeds = form != 3 && !isLate && !isDust;
    }

    /// Replays the steps. Those that would spend or buy nothing are refused.
    function _gained(uint256 amount) private view returns (uint256 gained, bool isDust) {
        uint256 held = amount;
        uint256 k = 0;
        while (k < _steps.length) {
            gained = 0;
            address sold = _steps[k].params.token_in;
            // All steps that sell this token: the first takes a share of it, the last all that is left.
            do {
                uint256 spent = held * _steps[k].params.rate / RATE_SCALE;
                held -= spent;
                uint256 out = _output(_steps[k], spent);
                isDust = isDust || spent == 0 || out == 0;
                if (_steps[k].kind == WRAPPER) held += out;
                else gained += out;
                ++k;
            } while (k < _steps.length && _steps[k].params.token_in == sold);
            held = gained;
        }
    }

    function _send(Call memory made, Expected memory expected) private {
        RouteParam memory route = made.route;
        bool paysNative = route.swap_type == NATIVE_TO_TOKEN;
        bool getsNative = route.swap_type == TOKEN_TO_NATIVE;
        if (paysNative) {
            vm.deal(made.sender, route.amount_in);
        } else {
            Coin(route.token_in).mint(made.sender, route.amount_in);
            made.v = _next(2) == 1 ? 27 : 28;
            // A good permit stands in for an approval, where the token has one.
            bool approves = made.entry != 3 || made.v == 28 || route.token_in == address(_pools[VAULT - 1]);
            if (route.token_in != address(_pools[VAULT - 1])) {
                vm.startPrank(made.sender);
                IApproving(route.token_in).approve(address(router), 0);
                if (approves) IApproving(route.token_in).approve(address(router), route.amount_in);
                vm.stopPrank();
            }
        }
        uint256 paidBefore = _balance(route.token_in, made.sender, paysNative);
        uint256 gotBefore = _balance(route.token_out, route.destination, getsNative);
        uint256 earnedBefore = _balance(route.token_out, expected.integrator, getsNative);
        vm.recordLogs();
        (bool done, uint256 answer) = _call(made, paysNative ? route.amount_in : 0);
        if (done != expected.succeeds) faults.push(done ? "a swap was let through" : "a swap was refused");
        uint256 paid = paidBefore - _balance(route.token_in, made.sender, paysNative);
        uint256 got = _balance(route.token_out, route.destination, getsNative) - gotBefore;
        uint256 earned = _balance(route.token_out, expected.integrator, getsNative) - earnedBefore;
        if (!done) {
            ++swapsRefused;
            if (paid != 0 || got != 0 || earned != 0) faults.push("a refused swap moved something");
            return;
        }
        ++swapsDone;
        if (paid != route.amount_in) faults.push("another input was taken");
        if (got != expected.received || answer != got) faults.push("another output was paid");
        if (got < route.min_received) faults.push("less than the minimum was paid");
        _checkEvents(made, expected);
        if (earned != expected.earned) faults.push("an integrator earned something else");
        if (made.entry >= 2 && made.deadline < block.timestamp) faults.push("a swap came too late");
    }

    /// One event for an integrator, even if it earns nothing, and none without.
    function _checkEvents(Call memory made, Expected memory expected) private {
        Log[] memory logs = vm.getRecordedLogs();
        uint256 count;
        for (uint256 k = 0; k < logs.length; ++k) {
            if (logs[k].emitter != address(router)) continue;
            ++count;
            bytes32 integrator = bytes32(uint256(uint160(expected.integrator)));
            bytes memory data = abi.encode(expected.earned, expected.received);
            if (logs[k].topics[1] != integrator || keccak256(logs[k].data) != keccak256(data)) {
                faults.push("an event says something else");
            }
        }
        if (count != (made.integratorData.length == 0 ? 0 : 1)) faults.push("another number of events");
    }

    function _call(Call memory made, uint256 value) private returns (bool done, uint256 answer) {
        bytes memory input;
        if (made.entry == 0) input = abi.encodeCall(IRouter.swap, (made.route, made.swaps));
        if (made.entry == 1) {
            input = abi.encodeCall(IRouter.swapIntegrator, (made.route, made.swaps, made.integratorData));
        }
        if (made.entry == 2) {
            input = abi.encodeCall(IRouter.swapBefore, (made.deadline, made.route, made.swaps, made.integratorData));
        }
        if (made.entry == 3) {
            input = abi.encodeCall(IRouter.swapWithPermit, (made.route, made.swaps, made.deadline, made.v, 0, 0));
        }
        vm.prank(made.sender);
        bytes memory output;
        (done, output) = address(router).call{value: value}(input);
        if (done) answer = abi.decode(output, (uint256));
    }

    function _balance(address token, address owner, bool isNative) private view returns (uint256) {
        return isNative ? owner.balance : Coin(token).balanceOf(owner);
    }
}

/// What holds of the router after every call, whoever makes it.
contract RouterInvariants {
    bytes32 private constant IDLE = bytes32(uint256(1));

    Handler public handler;

    function setUp() public {
        vm.warp(1_700_000_000);
        handler = new Handler();
    }

    function targetContracts() external view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(handler);
    }

    /// One campaign for all: each costs as much as its calls.
    function invariant_all_holds_after_every_call() external view {
        _calls_end_as_they_should();
        _nothing_stays_in_the_router_and_nothing_is_taken();
        _no_allowance_outlives_a_call();
        _the_lock_is_open_between_calls();
        _who_only_approved_loses_nothing();
    }

    function _calls_end_as_they_should() private view {
        if (handler.countFaults() != 0) revert(handler.faults(0));
    }

    function _nothing_stays_in_the_router_and_nothing_is_taken() private view {
        Coin[] memory coins = handler.coins();
        address router = address(handler.router());
        for (uint256 k = 0; k < coins.length; ++k) {
            require(coins[k].balanceOf(router) == handler.donated(address(coins[k])), "a token stayed, or was taken");
        }
        require(router.balance == handler.donatedNative(), "native currency stayed, or was taken");
        require(handler.pools()[VAULT - 1].balanceOf(router) == 0, "shares stayed");
    }

    function _no_allowance_outlives_a_call() private view {
        Coin[] memory coins = handler.coins();
        address[] memory pools = handler.poolsOfLastRoute();
        for (uint256 k = 0; k < coins.length; ++k) {
            for (uint256 i = 0; i < pools.length; ++i) {
                require(coins[k].allowance(address(handler.router()), pools[i]) == 0, "an allowance is left");
            }
        }
    }

    function _the_lock_is_open_between_calls() private view {
        require(vm.load(address(handler.router()), 0) == IDLE, "the lock is closed");
    }

    function _who_only_approved_loses_nothing() private view {
        Coin[] memory coins = handler.coins();
        for (uint256 k = 0; k < coins.length; ++k) {
            require(coins[k].balanceOf(handler.victim()) == 1e30, "a victim lost something");
        }
    }

    /// Without this, all of the above could hold because every call is refused.
    function afterInvariant() external view {
        require(handler.swapsRefused() < 20 || handler.swapsDone() > 0, "nothing was swapped");
    }
}
