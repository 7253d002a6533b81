// SPDX-License-Identifier: MIT
pragma solidity 0.8.26;

import {PoolKey, SwapParams} from "kit.sol";

interface IHookedManager {
    function updateDynamicLPFee(PoolKey memory key, uint24 fee) external;
    function mint(address to, uint256 id, uint256 amount) external;
}

/// What both kinds of hooks share: they take a part of a currency, as a claim against the manager.
abstract contract TakingHook {
    function _idOf(PoolKey calldata key) internal pure returns (bytes32) {
        return keccak256(abi.encode(key));
    }

    /// The currency that is sold, or the one that is bought.
    function _currency(PoolKey calldata key, bool zeroForOne, bool sold) internal pure returns (address) {
        return zeroForOne == sold ? key.currency0 : key.currency1;
    }

    function _take(address currency, uint256 amount) internal {
        if (amount != 0) IHookedManager(msg.sender).mint(address(this), uint160(currency), amount);
    }

    function _bought(SwapParams calldata params, int256 delta) internal pure returns (uint256) {
        return uint256(params.zeroForOne ? int256(int128(delta)) : delta >> 128);
    }

    /// Every other callback: its selector.
    fallback() external {
        assembly {
            mstore(0, shl(224, shr(224, calldataload(0))))
            return(0, 32)
        }
    }

    /// The delta of beforeSwap: the specified amount is in the upper half.
    function _specified(uint256 amount) internal pure returns (int256) {
        return int256(amount << 128);
    }
}

/// A hook whose fees of each direction anybody sets: an LP fee for dynamic pools, parts of the input and of the output.
contract FeeHook is TakingHook {
    struct Fees {
        bool setsLpFee;
        uint24 lpFee;
        uint256 input;
        uint256 output;
    }

    uint256 public constant UNIT = 1_000_000;
    mapping(bytes32 => Fees[2]) private _fees;
    uint256 public paused;

    function setFees(bytes32 id, Fees calldata first, Fees calldata second) external {
        _fees[id][0] = first;
        _fees[id][1] = second;
    }

    function pause(uint256 flag) external {
        paused = flag;
    }

    function feesOf(bytes32 id, uint256 direction)
        external
        view
        returns (uint256 lpFee, uint256 input, uint256 output)
    {
        Fees memory fees = _fees[id][direction];
        return (fees.lpFee, fees.input, fees.output);
    }

    function beforeSwap(address, PoolKey calldata key, SwapParams calldata params, bytes calldata)
        external
        returns (bytes4, int256, uint24)
    {
        Fees memory fees = _fees[_idOf(key)][params.zeroForOne ? 0 : 1];
        uint256 amount = uint256(-params.amountSpecified) * fees.input / UNIT;
        _take(_currency(key, params.zeroForOne, true), amount);
        return (this.beforeSwap.selector, _specified(amount), fees.setsLpFee ? fees.lpFee | 0x400000 : 0);
    }

    function afterSwap(address, PoolKey calldata key, SwapParams calldata params, int256 delta, bytes calldata)
        external
        returns (bytes4, int128)
    {
        Fees memory fees = _fees[_idOf(key)][params.zeroForOne ? 0 : 1];
        uint256 amount = _bought(params, delta) * fees.output / UNIT;
        _take(_currency(key, params.zeroForOne, false), amount);
        return (this.afterSwap.selector, int128(int256(amount)));
    }
}

/// A hook by Clanker's rule with constant fees. Its first version does not tell the token, nor the locker.
contract LaunchHook is TakingHook {
    struct Pool {
        uint24 tokenFee;
        uint24 pairedFee;
        bool tokenIsFirst;
        bool moduleEnabled;
        uint256 createdAt;
        address locker;
    }

    struct Config {
        uint24 baseFee;
        uint24 maxLpFee;
        uint256 referenceTickFilterPeriod;
        uint256 resetPeriod;
        int24 resetTickFilter;
        uint256 feeControlNumerator;
        uint24 decayFilterBps;
    }

    struct Variables {
        int24 referenceTick;
        int24 resetTick;
        uint256 resetTickTimestamp;
        uint256 lastSwapTimestamp;
        uint24 appliedVR;
        uint24 prevVA;
    }

    uint24 public protocolFee;
    bool public isSecondVersion;
    mapping(bytes32 => Pool) private _pools;
    mapping(bytes32 => Config) private _configs;
    mapping(bytes32 => Variables) private _variables;

    /// What a hook with dynamic fees tells of a pool; swaps here keep the constant ones.
    function setVolatility(bytes32 id, Config calldata config, Variables calldata variables, uint24 lastFee) external {
        _configs[id] = config;
        _variables[id] = variables;
        protocolFee = lastFee;
    }

    function poolConfigVars(bytes32 id) external view returns (Config memory) {
        return _configs[id];
    }

    function poolFeeVars(bytes32 id) external view returns (Variables memory) {
        return _variables[id];
    }

    function setPool(bytes32 id, Pool calldata pool, bool secondVersion) external {
        _pools[id] = pool;
        isSecondVersion = secondVersion;
    }

    function clankerFee(bytes32 id) external view returns (uint24) {
        return _pools[id].tokenFee;
    }

    function pairedFee(bytes32 id) external view returns (uint24) {
        return _pools[id].pairedFee;
    }

    function mevModuleEnabled(bytes32 id) external view returns (bool) {
        return _pools[id].moduleEnabled;
    }

    function poolCreationTimestamp(bytes32 id) external view returns (uint256) {
        return _pools[id].createdAt;
    }

    function clankerIsToken0(bytes32 id) external view returns (bool) {
        require(isSecondVersion);
        return _pools[id].tokenIsFirst;
    }

    function locker(bytes32 id) external view returns (address) {
        require(isSecondVersion);
        return _pools[id].locker;
    }

    function beforeSwap(address, PoolKey calldata key, SwapParams calldata params, bytes calldata)
        external
        returns (bytes4, int256, uint24)
    {
        Pool memory pool = _pools[_idOf(key)];
        bool buys = params.zeroForOne != pool.tokenIsFirst;
        uint24 fee = buys ? pool.pairedFee : pool.tokenFee;
        protocolFee = fee / 5;
        IHookedManager(msg.sender).updateDynamicLPFee(key, fee);
        if (!buys) return (this.beforeSwap.selector, 0, 0);
        uint256 part = uint256(protocolFee) * 1e18 / (1e6 + protocolFee);
        uint256 amount = uint256(-params.amountSpecified) * part / 1e18;
        _take(_currency(key, params.zeroForOne, true), amount);
        return (this.beforeSwap.selector, _specified(amount), 0);
    }

    function afterSwap(address, PoolKey calldata key, SwapParams calldata params, int256 delta, bytes calldata)
        external
        returns (bytes4, int128)
    {
        if (params.zeroForOne != _pools[_idOf(key)].tokenIsFirst) return (this.afterSwap.selector, 0);
        uint256 amount = _bought(params, delta) * protocolFee / 1e6;
        _take(_currency(key, params.zeroForOne, false), amount);
        return (this.afterSwap.selector, int128(int256(amount)));
    }
}

/// A factory of launched tokens, and the locker of their positions, with what readers ask both.
contract Launchpad {
    struct Deployment {
        address token;
        address hook;
        address locker;
        address[] extensions;
    }

    struct Rewards {
        address token;
        PoolKey poolKey;
        uint256 positionId;
        uint256 numPositions;
        uint16[] rewardBps;
        address[] rewardAdmins;
        address[] rewardRecipients;
    }

    mapping(address => Deployment) private _deployments;
    mapping(address => PoolKey) private _keys;
    mapping(address => uint8[]) public feePreferences;

    function launch(address token, PoolKey calldata key, uint8[] calldata preferences) external {
        _deployments[token] = Deployment(token, key.hooks, address(this), new address[](0));
        _keys[token] = key;
        feePreferences[token] = preferences;
    }

    function tokenDeploymentInfo(address token) external view returns (Deployment memory) {
        return _deployments[token];
    }

    function tokenRewards(address token) external view returns (Rewards memory rewards) {
        rewards.token = token;
        rewards.poolKey = _keys[token];
        rewards.rewardBps = new uint16[](feePreferences[token].length);
    }

    /// What a hook calls before each swap: here the fees stay where they are.
    function collectRewardsWithoutUnlock(address token) external {}

    /// Call a hook as its factory.
    function forward(address to, bytes calldata data) external {
        (bool done, bytes memory answer) = to.call(data);
        require(done, string(answer));
    }
}
