// SPDX-License-Identifier: MIT
pragma solidity 0.8.26;

// A model of 0x Settler and of the contracts around it: the same calls, with the meaning that the published source
// (github 0xProject/0x-settler) gives them, in short. The bytecode of the real ones is in no package. Not modelled:
// gas, Permit2, other actions. Pools of Uniswap V3's kind are registered instead of derived by CREATE2.

interface IToken {
    function balanceOf(address owner) external view returns (uint256);
    function allowance(address owner, address spender) external view returns (uint256);
}

interface IPair {
    function getReserves() external view returns (uint256, uint256, uint256);
    function swap(uint256 out0, uint256 out1, address to, bytes calldata data) external;
}

interface IConcentratedPool {
    function swap(address to, bool zeroForOne, int256 amount, uint160 limit, bytes calldata data)
        external
        returns (int256, int256);
}

struct PoolKey {
    address currency0;
    address currency1;
    uint24 fee;
    int24 tickSpacing;
    address hooks;
}

struct SwapParams {
    bool zeroForOne;
    int256 amountSpecified;
    uint160 sqrtPriceLimitX96;
}

interface IManager {
    function unlock(bytes calldata data) external returns (bytes memory);
    function swap(PoolKey memory key, SwapParams memory params, bytes calldata data) external returns (int256);
    function sync(address currency) external;
    function take(address currency, address to, uint256 amount) external;
    function settle() external payable returns (uint256);
}

library SafeToken {
    error TokenCallFailed();

    function move(address token, address to, uint256 amount) internal {
        _call(token, abi.encodeWithSignature("transfer(address,uint256)", to, amount));
    }

    function moveFrom(address token, address from, address to, uint256 amount) internal {
        _call(token, abi.encodeWithSignature("transferFrom(address,address,uint256)", from, to, amount));
    }

    function approveAll(address token, address spender) internal {
        _call(token, abi.encodeWithSignature("approve(address,uint256)", spender, type(uint256).max));
    }

    function _call(address token, bytes memory input) private {
        (bool done, bytes memory output) = token.call(input);
        if (!done || (output.length > 0 && !abi.decode(output, (bool)))) revert TokenCallFailed();
    }
}

/// Lets an operator take a sender's tokens during one call.
contract AllowanceHolder {
    using SafeToken for address;

    mapping(address operator => mapping(address owner => mapping(address token => uint256))) private _allowance;

    function exec(address operator, address token, uint256 amount, address payable target, bytes calldata data)
        external
        payable
        returns (bytes memory)
    {
        _allowance[operator][msg.sender][token] = amount;
        (bool done, bytes memory output) = target.call{value: msg.value}(abi.encodePacked(data, msg.sender));
        if (!done) {
            assembly {
                revert(add(output, 32), mload(output))
            }
        }
        _allowance[operator][msg.sender][token] = 0;
        return output;
    }

    function transferFrom(address token, address owner, address recipient, uint256 amount) external returns (bool) {
        _allowance[msg.sender][owner][token] -= amount;
        token.moveFrom(owner, recipient, amount);
        return true;
    }
}

/// Names the present Settler; while it is paused, no owner.
contract SettlerRegistry {
    address public current;

    error Paused();

    function set(address settler) external {
        current = settler;
    }

    function ownerOf(uint256 feature) external view returns (address) {
        if (current == address(0) || feature != 2) revert Paused();
        return current;
    }
}

/// The actions that swapcli uses.
interface IActions {
    struct TokenPermissions {
        address token;
        uint256 amount;
    }

    struct Permit {
        TokenPermissions permitted;
        uint256 nonce;
        uint256 deadline;
    }

    function TRANSFER_FROM(address recipient, Permit memory permit, bytes memory sig) external;
    function NATIVE_CHECK(uint256 deadline, uint256 msgValue) external;
    function UNISWAPV2(address recipient, address sellToken, uint256 bps, address pool, uint24 info, uint256 min)
        external;
    function UNISWAPV3(address recipient, uint256 bps, bytes memory path, uint256 min) external;
    function UNISWAPV4(
        address recipient,
        address sellToken,
        uint256 bps,
        bool feeOnTransfer,
        uint256 hashMul,
        uint256 hashMod,
        bytes memory fills,
        uint256 min
    ) external;
    function BASIC(address sellToken, uint256 bps, address pool, uint256 offset, bytes memory data) external;
}

contract SettlerModel {
    using SafeToken for address;

    struct Slippage {
        address payable recipient;
        address buyToken;
        uint256 minAmountOut;
    }

    struct PairSwap {
        address recipient;
        address sellToken;
        uint256 bps;
        address pool;
        uint24 info;
        uint256 minimum;
    }

    struct Fill {
        address recipient;
        address sellToken;
        address buyToken;
        uint256 sellAmount;
        uint256 minimum;
        uint160 limit;
        PoolKey key;
    }

    address private constant NATIVE = 0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE;
    uint256 private constant BASIS = 10_000;

    AllowanceHolder private immutable _holder;
    IManager private immutable _manager;
    mapping(bytes32 => address) private _pools;

    error TooMuchSlippage(address token, uint256 expected, uint256 actual);
    error SignatureExpired(uint256 deadline);
    error MsgValueMismatch(uint256 expected, uint256 actual);
    error ActionInvalid(uint256 i, bytes4 action);
    error TokenHashCollision(address a, address b);
    error BadEncoding();

    constructor(AllowanceHolder holder, IManager manager) {
        (_holder, _manager) = (holder, manager);
    }

    receive() external payable {}

    /// Registers a pool instead of deriving its address.
    function register(uint8 forkId, address token0, address token1, uint24 poolId, address pool) external {
        _pools[keccak256(abi.encode(forkId, token0, token1, poolId))] = pool;
    }

    function execute(Slippage calldata slippage, bytes[] calldata actions, bytes32) external payable returns (bool) {
        for (uint256 i = 0; i < actions.length; ++i) _dispatch(i, bytes4(actions[i]), actions[i][4:]);
        uint256 amount = _balance(slippage.buyToken);
        if (amount < slippage.minAmountOut) revert TooMuchSlippage(slippage.buyToken, slippage.minAmountOut, amount);
        _pay(slippage.buyToken, slippage.recipient, amount);
        return true;
    }

    /// Every swap callback of Uniswap V3's kind: two amounts first, of which the positive one is owed.
    fallback() external {
        (int256 owed0, int256 owed1, bytes memory data) = abi.decode(msg.data[4:], (int256, int256, bytes));
        address sold = abi.decode(data, (address));
        sold.move(msg.sender, uint256(owed0 > 0 ? owed0 : owed1));
    }

    function unlockCallback(bytes calldata data) external returns (bytes memory) {
        Fill memory fill = abi.decode(data, (Fill));
        bool forward = _currency(fill.sellToken) == fill.key.currency0;
        int256 delta = _manager.swap(fill.key, SwapParams(forward, -int256(fill.sellAmount), fill.limit), "");
        (int256 amount0, int256 amount1) = (delta >> 128, int128(delta));
        (uint256 debt, uint256 credit) =
            forward ? (uint256(-amount0), uint256(amount1)) : (uint256(-amount1), uint256(amount0));
        if (credit < fill.minimum) revert TooMuchSlippage(fill.buyToken, fill.minimum, credit);
        _manager.take(_currency(fill.buyToken), fill.recipient, credit);
        _manager.sync(_currency(fill.sellToken));
        if (fill.sellToken == NATIVE) {
            _manager.settle{value: debt}();
        } else {
            fill.sellToken.move(address(_manager), debt);
            _manager.settle();
        }
        return "";
    }

    function _dispatch(uint256 i, bytes4 action, bytes calldata data) private {
        if (action == IActions.TRANSFER_FROM.selector) {
            // Payments are accepted as the first action only.
            if (i > 0) revert ActionInvalid(i, action);
            _transferFrom(data);
        } else if (action == IActions.NATIVE_CHECK.selector) {
            (uint256 deadline, uint256 msgValue) = abi.decode(data, (uint256, uint256));
            if (block.timestamp > deadline) revert SignatureExpired(deadline);
            if (msg.value > msgValue) revert MsgValueMismatch(msgValue, msg.value);
        } else if (action == IActions.UNISWAPV2.selector) {
            _uniswapV2(data);
        } else if (action == IActions.UNISWAPV3.selector) {
            _uniswapV3(data);
        } else if (action == IActions.UNISWAPV4.selector) {
            _uniswapV4(data);
        } else if (action == IActions.BASIC.selector) {
            _basic(data);
        } else {
            revert ActionInvalid(i, action);
        }
    }

    function _transferFrom(bytes calldata data) private {
        (address recipient, IActions.Permit memory permit, bytes memory sig) =
            abi.decode(data, (address, IActions.Permit, bytes));
        if (msg.sender != address(_holder) || sig.length != 0 || permit.nonce != 0) revert BadEncoding();
        if (block.timestamp > permit.deadline) revert SignatureExpired(permit.deadline);
        // AllowanceHolder appends the sender to the calldata.
        address owner = address(bytes20(msg.data[msg.data.length - 20:]));
        _holder.transferFrom(permit.permitted.token, owner, recipient, permit.permitted.amount);
    }

    function _uniswapV2(bytes calldata data) private {
        PairSwap memory s = abi.decode(data, (PairSwap));
        uint256 amount = s.bps == 0 ? 0 : _share(s.sellToken, s.bps);
        if (amount > 0) s.sellToken.move(s.pool, amount);
        (uint256 sellReserve, uint256 buyReserve,) = IPair(s.pool).getReserves();
        bool forward = s.info & 1 == 1;
        if (!forward) (sellReserve, buyReserve) = (buyReserve, sellReserve);
        if (amount == 0 || s.info & 2 == 2) amount = IToken(s.sellToken).balanceOf(s.pool) - sellReserve;
        uint256 afterFee = amount * (BASIS - (s.info >> 8));
        uint256 bought = (afterFee * buyReserve) / (afterFee + sellReserve * BASIS);
        if (bought < s.minimum) revert TooMuchSlippage(address(0), s.minimum, bought);
        IPair(s.pool).swap(forward ? 0 : bought, forward ? bought : 0, s.recipient, "");
    }

    function _uniswapV3(bytes calldata data) private {
        (address recipient, uint256 bps, bytes memory path, uint256 min) =
            abi.decode(data, (address, uint256, bytes, uint256));
        if (path.length != 64) revert BadEncoding();
        address sellToken = address(uint160(_word(path, 0, 20)));
        bool forward = sellToken < address(uint160(_word(path, 44, 20)));
        (int256 amount0, int256 amount1) = IConcentratedPool(_derive(path)).swap(
            recipient, forward, int256(_share(sellToken, bps)), uint160(_word(path, 24, 20)), abi.encode(sellToken)
        );
        uint256 bought = uint256(-(forward ? amount1 : amount0));
        if (bought < min) revert TooMuchSlippage(address(0), min, bought);
    }

    function _derive(bytes memory path) private view returns (address) {
        (address a, address b) = (address(uint160(_word(path, 0, 20))), address(uint160(_word(path, 44, 20))));
        if (a > b) (a, b) = (b, a);
        return _pools[keccak256(abi.encode(uint8(_word(path, 20, 1)), a, b, uint24(_word(path, 21, 3))))];
    }

    function _uniswapV4(bytes calldata data) private {
        Fill memory fill;
        uint256 bps;
        uint256 mul;
        uint256 mod;
        bool taxed;
        bytes memory fills;
        (fill.recipient, fill.sellToken, bps, taxed, mul, mod, fills, fill.minimum) =
            abi.decode(data, (address, address, uint256, bool, uint256, uint256, bytes, uint256));
        // One fill: all of the amount, for the token that it names, in a pool without a hook's data.
        if (taxed || fills.length != 72 || _word(fills, 0, 2) != BASIS || _word(fills, 22, 1) != 1) revert BadEncoding();
        if (_word(fills, 69, 3) != 0) revert BadEncoding();
        fill.sellAmount = _share(fill.sellToken, bps);
        fill.limit = uint160(_word(fills, 2, 20));
        fill.buyToken = address(uint160(_word(fills, 23, 20)));
        if (_hash(fill.sellToken, mul, mod) == _hash(fill.buyToken, mul, mod)) {
            revert TokenHashCollision(fill.sellToken, fill.buyToken);
        }
        (address a, address b) = (_currency(fill.sellToken), _currency(fill.buyToken));
        (a, b) = a < b ? (a, b) : (b, a);
        int24 spacing = int24(uint24(_word(fills, 46, 3)));
        fill.key = PoolKey(a, b, uint24(_word(fills, 43, 3)), spacing, address(uint160(_word(fills, 49, 20))));
        _manager.unlock(abi.encode(fill));
    }

    function _basic(bytes calldata data) private {
        (address sellToken, uint256 bps, address pool, uint256 offset, bytes memory input) =
            abi.decode(data, (address, uint256, address, uint256, bytes));
        if (pool == address(_holder)) revert BadEncoding();
        uint256 amount = _share(sellToken, bps);
        uint256 value = sellToken == NATIVE ? amount : 0;
        if (value == 0 || input.length > 0) {
            if (offset + 32 > input.length) revert BadEncoding();
            assembly {
                mstore(add(add(input, 32), offset), amount)
            }
        }
        if (value == 0 && sellToken != pool && IToken(sellToken).allowance(address(this), pool) < amount) {
            sellToken.approveAll(pool);
        }
        (bool done, bytes memory output) = pool.call{value: value}(input);
        if (!done) {
            assembly {
                revert(add(output, 32), mload(output))
            }
        }
    }

    function _share(address token, uint256 bps) private view returns (uint256) {
        return _balance(token) * bps / BASIS;
    }

    function _balance(address token) private view returns (uint256) {
        return token == NATIVE ? address(this).balance : IToken(token).balanceOf(address(this));
    }

    function _pay(address token, address payable to, uint256 amount) private {
        if (token != NATIVE) {
            token.move(to, amount);
            return;
        }
        (bool done,) = to.call{value: amount}("");
        require(done, "not paid out");
    }

    function _currency(address token) private pure returns (address) {
        return token == NATIVE ? address(0) : token;
    }

    function _hash(address token, uint256 mul, uint256 mod) private pure returns (uint256) {
        return mulmod(uint160(token), mul, mod) % 8;
    }

    /// A number of up to 32 bytes at a position of packed data.
    function _word(bytes memory data, uint256 position, uint256 size) private pure returns (uint256 value) {
        assembly {
            value := mload(add(add(data, 32), position))
        }
        value >>= 256 - 8 * size;
    }
}
