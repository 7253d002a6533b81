// SPDX-License-Identifier: MIT
pragma solidity 0.8.26;

// A pool and a provider of liquidity for the real Vault of Balancer V3.

interface IVault {
    function unlock(bytes calldata data) external returns (bytes memory);
    function settle(address token, uint256 amountHint) external returns (uint256);
}

interface IMoved {
    function transfer(address to, uint256 amount) external;
}

/// A constant product; the Vault takes the fee.
contract ProductPool {
    struct PoolSwapParams {
        uint8 kind;
        uint256 amountGivenScaled18;
        uint256[] balancesScaled18;
        uint256 indexIn;
        uint256 indexOut;
        address router;
        bytes userData;
    }

    address public immutable getVault;

    constructor(address vault) {
        getVault = vault;
    }

    function onSwap(PoolSwapParams calldata params) external pure returns (uint256) {
        uint256 amount = params.amountGivenScaled18;
        return params.balancesScaled18[params.indexOut] * amount / (params.balancesScaled18[params.indexIn] + amount);
    }

    function computeInvariant(uint256[] memory balances, uint8) external pure returns (uint256) {
        return balances[0] + balances[1];
    }

    function getMinimumSwapFeePercentage() external pure returns (uint256) {
        return 1e12;
    }

    function getMaximumSwapFeePercentage() external pure returns (uint256) {
        return 1e17;
    }

    function emitTransfer(address, address, uint256) external {}
}

contract BalancerProvider {
    /// Pays the Vault and calls it, while it is unlocked.
    function provide(IVault vault, bytes calldata input, address[] calldata tokens, uint256[] calldata amounts)
        external
    {
        vault.unlock(abi.encodeCall(this.provideUnlocked, (input, tokens, amounts)));
    }

    function provideUnlocked(bytes calldata input, address[] calldata tokens, uint256[] calldata amounts) external {
        for (uint256 k = 0; k < tokens.length; ++k) {
            IMoved(tokens[k]).transfer(msg.sender, amounts[k]);
            IVault(msg.sender).settle(tokens[k], amounts[k]);
        }
        (bool done, bytes memory output) = msg.sender.call(input);
        if (!done) {
            assembly {
                revert(add(output, 32), mload(output))
            }
        }
    }
}

/// A token's rate that a test sets; while it is zero, the provider reverts.
contract RateProvider {
    uint256 private _rate;

    constructor(uint256 rate) {
        _rate = rate;
    }

    function setRate(uint256 rate) external {
        _rate = rate;
    }

    function getRate() external view returns (uint256) {
        require(_rate != 0, "no rate");
        return _rate;
    }
}
