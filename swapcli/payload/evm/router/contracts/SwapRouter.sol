// SPDX-License-Identifier: MIT
pragma solidity 0.8.26;

import {Families, SwapParams} from "./Families.sol";
import {IToken, IWrapped} from "./Interfaces.sol";
import {Tokens} from "./Tokens.sol";

struct RouteParam {
    address token_in;
    address token_out;
    uint256 amount_in;
    uint256 amount_out;
    uint256 min_received;
    address destination;
    uint8 swap_type;
}

/// Carries out routes. It has no owner and no settings, and holds nothing between transactions: what somebody sends it
/// by mistake is lost, and neither helps nor is taken by any route.
///
/// It takes the input from the caller and works through a list of swaps; each spends
/// floor(balance * rate / 1_000_000) of what the route holds of `token_in` at that moment. `token_in` and `token_out` of
/// a route are the wrapped token where `swap_type` says that they are native (0: the input, 1: the output).
contract SwapRouter is Families {
    using Tokens for address;

    error RateExceedsMaximum();
    error RateZero();
    error AmountTooSmallForRate();
    error CannotTakeBothFeeAndSurplus();
    error FeePercentageExceedsMaximum();
    error SurplusPercentageExceedsMaximum();
    error DeadlineExpired();
    error UnknownSwapType(uint8 swap_type);
    error WrongNativeToken(address token);
    error WrongValue(uint256 sent, uint256 expected);
    /// The token takes a fee on transfers, or invents amounts.
    error InputFallsShort(uint256 received, uint256 expected);
    error BadDestination(address destination);
    error NativeRefused(address receiver);
    error ReceivedTooLittle(uint256 received, uint256 least);
    /// The route would leave this contract more or less of a token than was there before it, by more than the rounding
    /// of a token that keeps shares.
    error NotSettled(address token);

    event IntegratorFeeDistribution(address indexed integrator, uint256 integrator_amount, uint256 user_amount);

    /// Who earns on a route, in basis points of the output, or of what it exceeds `amount_out` by.
    struct Shares {
        address integrator;
        uint256 feeBps;
        uint256 surplusBps;
    }

    /// What was here before the route, of each token that it touches. None of it is the route's.
    struct Ledger {
        uint256 count;
        address[] tokens;
        uint256[] found;
        uint256 native;
    }

    uint8 private constant NATIVE_TO_TOKEN = 0;
    uint8 private constant TOKEN_TO_NATIVE = 1;
    uint8 private constant TOKEN_TO_TOKEN = 2;

    uint256 private constant RATE_SCALE = 1_000_000;
    uint256 private constant BPS = 10_000;
    uint256 private constant MOST_FEE_BPS = 500;
    uint256 private constant MOST_SURPLUS_BPS = 5_000;
    /// Units by which a balance may miss what transfers make of it. Tokens that keep shares and show them as amounts
    /// (stETH) round down twice a transfer: up to two units do not arrive, or stay where no transfer reaches them.
    uint256 private constant MAX_ROUNDING = 2;

    /// `kinds` and `moreKinds`: the families of the protocols, see `Families`. `poolManager` may be zero.
    constructor(address wrapped, address poolManager, uint256 kinds, uint256 moreKinds)
        Families(wrapped, poolManager, kinds, moreKinds)
    {}

    /// Returns what the destination received, as the two functions below do.
    function swap(RouteParam calldata route, SwapParams[] calldata swaps)
        external
        payable
        alone
        returns (uint256)
    {
        return _run(route, swaps, Shares(address(0), 0, 0));
    }

    /// `integrator_data` is abi.encode(address integrator, uint256 fee_bps, uint256 surplus_bps).
    function swapIntegrator(RouteParam calldata route, SwapParams[] calldata swaps, bytes calldata integrator_data)
        external
        payable
        alone
        returns (uint256)
    {
        return _run(route, swaps, _readShares(integrator_data));
    }

    /// As `swap`, or with integrator data as `swapIntegrator`, until the second `deadline`.
    function swapBefore(
        uint256 deadline,
        RouteParam calldata route,
        SwapParams[] calldata swaps,
        bytes calldata integrator_data
    ) external payable alone returns (uint256) {
        if (block.timestamp > deadline) revert DeadlineExpired();
        return _run(
            route, swaps, integrator_data.length == 0 ? Shares(address(0), 0, 0) : _readShares(integrator_data)
        );
    }

    /// The caller's own signature (EIP-2612) stands in for an approval.
    function swapWithPermit(
        RouteParam calldata route,
        SwapParams[] calldata swaps,
        uint256 deadline,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external payable alone returns (uint256) {
        if (block.timestamp > deadline) revert DeadlineExpired();
        // Anyone may have used the signature before: what counts is whether the input can be taken.
        try IToken(route.token_in).permit(msg.sender, address(this), route.amount_in, deadline, v, r, s) {} catch {}
        return _run(route, swaps, Shares(address(0), 0, 0));
    }

    function _readShares(bytes calldata integrator_data) private pure returns (Shares memory shares) {
        shares = abi.decode(integrator_data, (Shares));
        if (shares.feeBps != 0 && shares.surplusBps != 0) revert CannotTakeBothFeeAndSurplus();
        if (shares.feeBps > MOST_FEE_BPS) revert FeePercentageExceedsMaximum();
        if (shares.surplusBps > MOST_SURPLUS_BPS) revert SurplusPercentageExceedsMaximum();
    }

    function _run(RouteParam calldata route, SwapParams[] calldata swaps, Shares memory shares)
        private
        returns (uint256 received)
    {
        if (route.destination == address(0) || route.destination == address(this)) {
            revert BadDestination(route.destination);
        }
        Ledger memory ledger = _open(route, swaps);
        _collect(route);
        uint256 collected = _held(ledger, route.token_in);
        if (collected > route.amount_in || collected + MAX_ROUNDING < route.amount_in) {
            revert InputFallsShort(collected, route.amount_in);
        }
        for (uint256 k = 0; k < swaps.length; ++k) {
            SwapParams calldata step = swaps[k];
            _trade(step, _spend(step.rate, _held(ledger, step.token_in)));
        }
        received = _payOut(route, _held(ledger, route.token_out), shares);
        if (received < route.min_received) revert ReceivedTooLittle(received, route.min_received);
        _close(ledger);
    }

    /// Takes the whole input.
    function _collect(RouteParam calldata route) private {
        if (route.swap_type > TOKEN_TO_TOKEN) revert UnknownSwapType(route.swap_type);
        uint256 value = route.swap_type == NATIVE_TO_TOKEN ? route.amount_in : 0;
        if (msg.value != value) revert WrongValue(msg.value, value);
        if (route.swap_type == TOKEN_TO_NATIVE) _checkNative(route.token_out);
        if (route.swap_type == NATIVE_TO_TOKEN) {
            _checkNative(route.token_in);
            IWrapped(WRAPPED).deposit{value: value}();
        } else {
            route.token_in.pull(msg.sender, route.amount_in);
        }
    }

    function _checkNative(address token) private view {
        if (token != WRAPPED) revert WrongNativeToken(token);
    }

    /// What is left after the division is far below 2^255.
    function _spend(uint256 rate, uint256 held) private pure returns (uint256 amount) {
        if (rate == 0) revert RateZero();
        if (rate > RATE_SCALE) revert RateExceedsMaximum();
        amount = held * rate / RATE_SCALE;
        if (amount == 0) revert AmountTooSmallForRate();
    }

    function _payOut(RouteParam calldata route, uint256 gained, Shares memory shares)
        private
        returns (uint256 received)
    {
        uint256 earned = _earned(route, gained, shares);
        bool native = route.swap_type == TOKEN_TO_NATIVE;
        if (native) IWrapped(WRAPPED).withdraw(gained);
        if (earned != 0) _pay(route.token_out, native, shares.integrator, earned);
        received = _pay(route.token_out, native, route.destination, gained - earned);
        if (shares.integrator != address(0)) emit IntegratorFeeDistribution(shares.integrator, earned, received);
    }

    function _earned(RouteParam calldata route, uint256 gained, Shares memory shares) private view returns (uint256) {
        if (shares.feeBps == 0 && shares.surplusBps == 0) return 0;
        if (shares.integrator == address(0) || shares.integrator == address(this)) {
            revert BadDestination(shares.integrator);
        }
        if (shares.feeBps != 0) return gained * shares.feeBps / BPS;
        return gained > route.amount_out ? (gained - route.amount_out) * shares.surplusBps / BPS : 0;
    }

    /// Returns by how much the receiver's balance grew. Native currency arrives whole or not at all, and its receiver
    /// may well pass it on at once, so there the amount itself counts.
    function _pay(address token, bool native, address to, uint256 amount) private returns (uint256) {
        if (native) {
            (bool done,) = to.call{value: amount}("");
            if (!done) revert NativeRefused(to);
            return amount;
        }
        return token.payMeasured(to, amount);
    }

    function _open(RouteParam calldata route, SwapParams[] calldata swaps)
        private
        view
        returns (Ledger memory ledger)
    {
        uint256 most;
        uint256 native;
        // As many swaps as the calldata has room for; the value is a part of the balance.
        unchecked {
            most = 2 * swaps.length + 2;
            native = address(this).balance - msg.value;
        }
        ledger = Ledger(0, new address[](most), new uint256[](most), native);
        _enter(ledger, route.token_in);
        for (uint256 k = 0; k < swaps.length; ++k) {
            _enter(ledger, swaps[k].token_in);
            _enter(ledger, swaps[k].token_out);
        }
        _enter(ledger, route.token_out);
    }

    function _enter(Ledger memory ledger, address token) private view {
        uint256 position = _position(ledger, token);
        if (position < ledger.count) return;
        ledger.tokens[position] = token;
        ledger.found[position] = token.balanceHere();
        ledger.count = position + 1;
    }

    /// Where the token stands, or would be entered.
    function _position(Ledger memory ledger, address token) private pure returns (uint256 position) {
        // It ends at the count at the latest.
        unchecked {
            while (position < ledger.count && ledger.tokens[position] != token) ++position;
        }
    }

    /// What the route holds of a token.
    function _held(Ledger memory ledger, address token) private view returns (uint256) {
        return token.balanceHere() - ledger.found[_position(ledger, token)];
    }

    function _close(Ledger memory ledger) private view {
        for (uint256 k = 0; k < ledger.count; ++k) {
            (uint256 balance, uint256 found) = (ledger.tokens[k].balanceHere(), ledger.found[k]);
            uint256 change = balance > found ? balance - found : found - balance;
            if (change > MAX_ROUNDING) revert NotSettled(ledger.tokens[k]);
        }
        if (address(this).balance != ledger.native) revert NotSettled(address(0));
    }
}
