// SPDX-License-Identifier: MIT
pragma solidity 0.8.26;

// Owns positions and pays for whatever pools ask of it, with tokens that it makes.

interface IMade {
    function mint(address to, uint256 amount) external;
    function token0() external view returns (address);
    function token1() external view returns (address);
}

struct PoolKey {
    address currency0;
    address currency1;
    uint24 fee;
    int24 tickSpacing;
    address hooks;
}

interface IManager {
    function unlock(bytes calldata data) external returns (bytes memory);
    function sync(address currency) external;
    function take(address currency, address to, uint256 amount) external;
    function settle() external payable returns (uint256);
}

contract Keeper {
    receive() external payable {}

    function act(address to, bytes calldata input) external {
        _call(to, input);
    }

    /// `input` is what the manager is asked once it is unlocked.
    function actUnlocked(IManager manager, PoolKey calldata key, bytes calldata input) external {
        manager.unlock(abi.encode(key, input));
    }

    function unlockCallback(bytes calldata data) external returns (bytes memory) {
        (PoolKey memory key, bytes memory input) = abi.decode(data, (PoolKey, bytes));
        int256 delta = abi.decode(_call(msg.sender, input), (int256));
        _settle(key.currency0, delta >> 128);
        _settle(key.currency1, int128(delta));
        return "";
    }

    /// Every mint and swap callback: two amounts first, of which the positive ones are owed.
    fallback() external {
        (int256 owed0, int256 owed1) = abi.decode(msg.data[4:], (int256, int256));
        if (owed0 > 0) IMade(IMade(msg.sender).token0()).mint(msg.sender, uint256(owed0));
        if (owed1 > 0) IMade(IMade(msg.sender).token1()).mint(msg.sender, uint256(owed1));
    }

    function _settle(address currency, int256 amount) private {
        IManager manager = IManager(msg.sender);
        if (amount > 0) manager.take(currency, address(this), uint256(amount));
        if (amount >= 0) return;
        if (currency == address(0)) {
            manager.settle{value: uint256(-amount)}();
            return;
        }
        manager.sync(currency);
        IMade(currency).mint(msg.sender, uint256(-amount));
        manager.settle();
    }

    function _call(address to, bytes memory input) private returns (bytes memory output) {
        bool done;
        (done, output) = to.call(input);
        if (!done) {
            assembly {
                revert(add(output, 32), mload(output))
            }
        }
    }
}
