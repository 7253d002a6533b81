// SPDX-License-Identifier: MIT
pragma solidity 0.8.26;

import {PoolKey, SwapParams} from "kit.sol";

interface ILentToken {
    function balanceOf(address owner) external view returns (uint256);
    function approve(address spender, uint256 amount) external returns (bool);
    function transfer(address to, uint256 amount) external returns (bool);
    function transferFrom(address from, address to, uint256 amount) external returns (bool);
}

interface IManagerOfOwnVaults {
    function sync(address currency) external;
    function settle() external payable returns (uint256);
    function take(address currency, address to, uint256 amount) external;
}

/// Lends one token, as a vault of the Euler Vault Kit does for one account: shares are worth one unit each.
///
/// It has the functions that a reader calls, and emits the events of the kit in its order. Any price is one.
contract OwnVault {
    event VaultStatus(
        uint256 totalShares, uint256 totalBorrows, uint256 fees, uint256 cash, uint256 accumulator, uint256 rate, uint256 time
    );
    event Deposit(address indexed sender, address indexed owner, uint256 assets, uint256 shares);
    event Withdraw(
        address indexed sender, address indexed receiver, address indexed owner, uint256 assets, uint256 shares
    );
    event Borrow(address indexed account, uint256 assets);
    event Repay(address indexed account, uint256 assets);

    ILentToken public immutable asset;
    uint256 public totalBorrows;
    mapping(address => uint256) public balanceOf;
    mapping(address => uint256) public debtOf;

    constructor(ILentToken asset_) {
        asset = asset_;
    }

    function cash() public view returns (uint256) {
        return asset.balanceOf(address(this));
    }

    function totalAssets() external view returns (uint256) {
        return cash() + totalBorrows;
    }

    function maxDeposit(address) external pure returns (uint256) {
        return 1 << 110;
    }

    function previewMint(uint256 shares) external pure returns (uint256) {
        return shares;
    }

    function convertToShares(uint256 assets) external pure returns (uint256) {
        return assets;
    }

    function convertToAssets(uint256 shares) external pure returns (uint256) {
        return shares;
    }

    function caps() external pure returns (uint16, uint16) {
        return (0, 0);
    }

    function hookConfig() external pure returns (address, uint32) {
        return (address(0), 0);
    }

    function LTVBorrow(address) external pure returns (uint16) {
        return 9_000;
    }

    function oracle() external view returns (address) {
        return address(this);
    }

    function unitOfAccount() external pure returns (address) {
        return address(840);
    }

    /// Bid and ask.
    function getQuotes(uint256 amount, address, address) external pure returns (uint256, uint256) {
        return (amount, amount);
    }

    function deposit(address owner, uint256 assets) external {
        asset.transferFrom(msg.sender, address(this), assets);
        balanceOf[owner] += assets;
        emit Deposit(msg.sender, owner, assets, assets);
        _status();
    }

    function repay(address account, uint256 assets) external {
        asset.transferFrom(msg.sender, address(this), assets);
        debtOf[account] -= assets;
        totalBorrows -= assets;
        emit Repay(account, assets);
        _status();
    }

    function withdraw(address account, address to, uint256 assets) external {
        balanceOf[account] -= assets;
        asset.transfer(to, assets);
        emit Withdraw(account, to, account, assets, assets);
        _status();
    }

    function borrow(address account, address to, uint256 assets) external {
        debtOf[account] += assets;
        totalBorrows += assets;
        asset.transfer(to, assets);
        emit Borrow(account, assets);
        _status();
    }

    function _status() private {
        emit VaultStatus(0, totalBorrows, 0, cash(), 1e27, 0, block.timestamp);
    }
}

/// A pool of EulerSwap's second version that is its own hook, on two such vaults, with a constant sum as its curve.
///
/// It stands for the connector of the vaults as well.
contract OwnVaultPool {
    uint256 private constant WAD = 1e18;

    event Swap(
        address indexed sender,
        uint256 amount0In,
        uint256 amount1In,
        uint256 amount0Out,
        uint256 amount1Out,
        uint256 fee0,
        uint256 fee1,
        uint112 reserve0,
        uint112 reserve1,
        address indexed to
    );

    address public poolManager;
    OwnVault[2] public vaults;
    address[2] private _tokens;
    uint112[2] private _reserves;
    uint112[2] private _equilibrium;
    uint256[2] private _prices;
    uint256 private _fee;
    address private constant ACCOUNT = address(0xacc);

    function set(address manager, OwnVault vault0, OwnVault vault1, uint112[2] memory reserves, uint256[2] memory prices, uint256 fee)
        external
    {
        (poolManager, vaults, _reserves, _equilibrium, _prices, _fee) =
            (manager, [vault0, vault1], reserves, reserves, prices, fee);
        _tokens = [address(vault0.asset()), address(vault1.asset())];
        for (uint256 k; k < 2; ++k) ILentToken(_tokens[k]).approve(address(vaults[k]), type(uint256).max);
    }

    function EVC() external view returns (address) {
        return address(this);
    }

    function getAssets() external view returns (address, address) {
        return (_tokens[0], _tokens[1]);
    }

    function getReserves() external view returns (uint112, uint112, uint32) {
        return (_reserves[0], _reserves[1], 1);
    }

    function poolKey() external view returns (address, address, uint24, int24, address) {
        return (_tokens[0], _tokens[1], 0, 1, address(this));
    }

    function getStaticParams() external view returns (address[7] memory found, uint256 protocolFee) {
        (address vault0, address vault1) = (address(vaults[0]), address(vaults[1]));
        return ([vault0, vault1, vault0, vault1, ACCOUNT, address(0), address(0)], 0);
    }

    function getDynamicParams() external view returns (uint256[13] memory) {
        return [
            _equilibrium[0], _equilibrium[1], 0, 0, _prices[0], _prices[1], WAD, WAD, _fee, _fee, 0, 0, 0
        ];
    }

    function isAccountOperatorAuthorized(address, address) external pure returns (bool) {
        return true;
    }

    function getControllers(address account) external view returns (address[] memory found) {
        found = new address[](vaults[0].debtOf(account) + vaults[1].debtOf(account) == 0 ? 0 : 1);
        if (found.length == 1) found[0] = address(vaults[vaults[0].debtOf(account) > 0 ? 0 : 1]);
    }

    function getCollaterals(address) external view returns (address[] memory found) {
        found = new address[](2);
        (found[0], found[1]) = (address(vaults[0]), address(vaults[1]));
    }

    function beforeSwap(address sender, PoolKey calldata, SwapParams calldata params, bytes calldata)
        external
        returns (bytes4, int256, uint24)
    {
        uint256 sold = params.zeroForOne ? 0 : 1;
        uint256 amountIn = uint256(-params.amountSpecified);
        uint256 fee = amountIn * _fee / WAD;
        uint256 amountOut = _quote(sold, amountIn - fee);
        IManagerOfOwnVaults manager = IManagerOfOwnVaults(msg.sender);
        manager.take(_tokens[sold], address(this), amountIn);
        _deposit(vaults[sold], amountIn);
        manager.sync(_tokens[1 - sold]);
        _withdraw(vaults[1 - sold], amountOut);
        manager.settle();
        _reserves[sold] += uint112(amountIn - fee);
        _reserves[1 - sold] -= uint112(amountOut);
        _emit(sender, sold, amountIn, amountOut, fee);
        return (this.beforeSwap.selector, int256(amountIn << 128) | int256(uint256(uint128(int128(-int256(amountOut))))), 0);
    }

    /// A constant sum, whose reserve of the bought token rounds up.
    function _quote(uint256 sold, uint256 net) private view returns (uint256) {
        (uint256 x, uint256 y) = (_reserves[sold] + net, _equilibrium[1 - sold]);
        (uint256 px, uint256 py, uint256 x0) = (_prices[sold], _prices[1 - sold], _equilibrium[sold]);
        uint256 least = x <= x0 ? y + ((x0 - x) * px + py - 1) / py : y - (x - x0) * px / py;
        return _reserves[1 - sold] > least ? _reserves[1 - sold] - least : 0;
    }

    function _deposit(OwnVault vault, uint256 amount) private {
        uint256 debt = vault.debtOf(ACCOUNT);
        uint256 repaid = amount < debt ? amount : debt;
        if (repaid > 0) vault.repay(ACCOUNT, repaid);
        if (amount > repaid) vault.deposit(ACCOUNT, amount - repaid);
    }

    function _withdraw(OwnVault vault, uint256 amount) private {
        uint256 balance = vault.balanceOf(ACCOUNT);
        uint256 withdrawn = amount < balance ? amount : balance;
        if (withdrawn > 0) vault.withdraw(ACCOUNT, msg.sender, withdrawn);
        if (amount > withdrawn) vault.borrow(ACCOUNT, msg.sender, amount - withdrawn);
    }

    function _emit(address sender, uint256 sold, uint256 amountIn, uint256 amountOut, uint256 fee) private {
        (uint256 in0, uint256 in1) = sold == 0 ? (amountIn - fee, uint256(0)) : (uint256(0), amountIn - fee);
        (uint256 out0, uint256 out1) = sold == 0 ? (uint256(0), amountOut) : (amountOut, uint256(0));
        (uint256 fee0, uint256 fee1) = sold == 0 ? (fee, uint256(0)) : (uint256(0), fee);
        emit Swap(sender, in0, in1, out0, out1, fee0, fee1, _reserves[0], _reserves[1], msg.sender);
    }
}
