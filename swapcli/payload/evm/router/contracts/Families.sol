// SPDX-License-Identifier: MIT
pragma solidity 0.8.26;

import {ApprovedPools} from "./ApprovedPools.sol";
import {IConcentrated, ILiquidityBook, IPair, SwapParams} from "./Interfaces.sol";
import {SettledPools} from "./SettledPools.sol";
import {Tokens} from "./Tokens.sol";

/// One swap with a pool of any family: sells exactly an amount of what this contract holds, or reverts.
///
/// What a swap brings is not returned: the caller measures balances. A pool can do no more than take the amount that it
/// is sold, whatever it answers; whether what it gave was enough is for `min_received`.
abstract contract Families is SettledPools {
    using Tokens for address;

    error UnknownProtocol(int24 protocol_id);
    /// The pool gave nothing of the token that was to be bought. It may have given another, which nobody would miss.
    error NothingBought(address pool);

    uint256 private constant WRAPPER = 1;
    uint256 private constant PAIR = 2;
    uint256 private constant CONCENTRATED = 3;
    uint256 private constant SINGLETON = 4;
    uint256 private constant STABLESWAP = 5;
    uint256 private constant BALANCER_V2 = 6;
    uint256 private constant BALANCER_V3 = 7;
    uint256 private constant CURVE_CRYPTO = 8;
    uint256 private constant INFINITY = 9;
    uint256 private constant FLUID = 10;
    uint256 private constant VAULT = 11;
    uint256 private constant PSM = 12;
    uint256 private constant LIQUIDITY_BOOK = 13;
    uint256 private constant BRIDGE = 14;

    uint256 private constant PPM = 1e6;
    /// Pools of Uniswap V3's kind each name their callback otherwise.
    bytes4 private constant ANY_FUNCTION = 0;

    /// Four bits for each protocol id, the least id lowest: ids 0 to 63 and 64 to 127.
    uint256 private immutable KINDS;
    uint256 private immutable MORE_KINDS;

    constructor(address wrapped, address poolManager, uint256 kinds, uint256 moreKinds)
        ApprovedPools(wrapped)
        SettledPools(poolManager)
    {
        KINDS = kinds;
        MORE_KINDS = moreKinds;
    }

    /// The callback of a concentrated pool, whatever the protocol calls it: (int256, int256, bytes), the positive amount
    /// is owed. It is payable so that it need not look for a value: no pool sends one, and what came would have to leave.
    fallback() external payable {
        (int256 owed0, int256 owed1, bytes memory data) = abi.decode(msg.data[4:], (int256, int256, bytes));
        _admit(ANY_FUNCTION, data);
        (address token, uint256 amount) = abi.decode(data, (address, uint256));
        if ((owed0 > 0 ? owed0 : owed1) != int256(amount)) revert PartlyTaken(msg.sender);
        token.pay(msg.sender, amount);
    }

    /// Sells `amount` of `step.token_in`, 0 < amount < 2^255: a greater one would be a negative number to some pools.
    function _trade(SwapParams calldata step, uint256 amount) internal {
        uint256 kind = _kind(step.protocol_id);
        if (kind == WRAPPER) return _checkWrapper(step);
        uint256 before = step.token_out.balanceHere();
        if (kind == PAIR) _tradePair(step, amount);
        else if (kind == CONCENTRATED) _tradeConcentrated(step, amount);
        else if (kind == SINGLETON) _tradeUniswapV4(step, amount);
        else if (kind == STABLESWAP) _tradeStableSwap(step, amount);
        else if (kind == BALANCER_V2) _tradeBalancerV2(step, amount);
        else if (kind == BALANCER_V3) _tradeBalancerV3(step, amount);
        else if (kind == CURVE_CRYPTO) _tradeCryptoSwap(step, amount);
        else if (kind == INFINITY) _tradeInfinity(step, amount);
        else if (kind == FLUID) _tradeFluid(step, amount);
        else if (kind == VAULT) _tradeShareVault(step, amount);
        else if (kind == PSM) _tradePegModule(step, amount);
        else if (kind == LIQUIDITY_BOOK) _tradeLiquidityBook(step, amount);
        else if (kind == BRIDGE) _tradeBridge(step, amount);
        else revert UnknownProtocol(step.protocol_id);
        if (step.token_out.balanceHere() <= before) revert NothingBought(step.pool_address);
    }

    function _kind(int24 id) private view returns (uint256) {
        if (id < 0 || id >= 128) return 0;
        uint256 position = uint256(int256(id));
        return ((position < 64 ? KINDS : MORE_KINDS) >> (4 * (position & 63))) & 15;
    }

    /// The native currency is held wrapped throughout, so that there is nothing to do.
    function _checkWrapper(SwapParams calldata step) private view {
        if (step.pool_address != WRAPPED || step.token_in != WRAPPED || step.token_out != WRAPPED) {
            revert WrongPool(step.pool_address);
        }
    }

    function _tradePair(SwapParams calldata step, uint256 amount) private {
        IPair pair = IPair(step.pool_address);
        bool zeroForOne = step.token_in < step.token_out;
        // A pair pays for what it has received, and refuses to pay for a unit more.
        uint256 paid = step.token_in.payMeasured(address(pair), amount);
        // Solidly's pairs tell their output; Uniswap V2's do not even tell their fee.
        uint256 amountOut = step.extra_data.length == 0
            ? pair.getAmountOut(paid, step.token_in)
            : _pairOutput(pair, zeroForOne, paid, _fee(step.extra_data));
        (uint256 out0, uint256 out1) = zeroForOne ? (uint256(0), amountOut) : (amountOut, uint256(0));
        pair.swap(out0, out1, address(this), "");
    }

    function _pairOutput(IPair pair, bool zeroForOne, uint256 amount, uint256 feePpm) private view returns (uint256) {
        (uint256 reserve0, uint256 reserve1,) = pair.getReserves();
        (uint256 reserveIn, uint256 reserveOut) = zeroForOne ? (reserve0, reserve1) : (reserve1, reserve0);
        uint256 net = amount * (PPM - feePpm);
        return net * reserveOut / (reserveIn * PPM + net);
    }

    /// Two or three bytes, big-endian, in parts per million.
    function _fee(bytes calldata extra) private pure returns (uint256) {
        if (extra.length > 3) revert BadExtraData();
        uint256 fee = uint24(bytes3(extra)) >> (24 - 8 * extra.length);
        if (fee >= PPM) revert BadExtraData();
        return fee;
    }

    function _tradeConcentrated(SwapParams calldata step, uint256 amount) private {
        bool zeroForOne = step.token_in < step.token_out;
        bytes memory data = abi.encode(step.token_in, amount);
        _expect(step.pool_address, ANY_FUNCTION, data);
        IConcentrated(step.pool_address).swap(
            address(this), zeroForOne, int256(amount), _limit(zeroForOne), data
        );
        _checkCalledBack(step.pool_address);
    }

    /// A pair of Liquidity Book sells what it has received, whatever its fee.
    function _tradeLiquidityBook(SwapParams calldata step, uint256 amount) private {
        bool swapForY = _flag(step.extra_data);
        step.token_in.pay(step.pool_address, amount);
        ILiquidityBook(step.pool_address).swap(swapForY, address(this));
    }
}
