// SPDX-License-Identifier: MIT
pragma solidity 0.8.26;

interface IToken {
    function balanceOf(address owner) external view returns (uint256);
    function transfer(address to, uint256 amount) external returns (bool);
    function transferFrom(address from, address to, uint256 amount) external returns (bool);
}

interface IPair {
    function getReserves() external view returns (uint112, uint112, uint32);
    function swap(uint256 amount0Out, uint256 amount1Out, address to, bytes calldata data) external;
}

/// A model of RingSwap's wrapped tokens: one for one, and mintable without a deposit.
contract WrappedToken {
    address public immutable token;
    mapping(address => uint256) public balanceOf;

    constructor(address token_) {
        token = token_;
    }

    function mint(address to, uint256 amount) external {
        balanceOf[to] += amount;
    }

    function wrapTo(uint256 amount, address to) external returns (uint256) {
        require(amount > 0);
        IToken(token).transferFrom(msg.sender, address(this), amount);
        balanceOf[to] += amount;
        return amount;
    }

    function unwrapTo(uint256 amount, address to) external returns (uint256) {
        require(amount > 0);
        balanceOf[msg.sender] -= amount;
        IToken(token).transfer(to, amount);
        return amount;
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        balanceOf[msg.sender] -= amount;
        balanceOf[to] += amount;
        return true;
    }
}

/// Wraps, swaps for what Uniswap V2's formula says, and unwraps.
contract RingTrader {
    function sell(address pair, WrappedToken[2] calldata wrapped, bool forward, uint256 amount)
        external
        returns (uint256 paid)
    {
        WrappedToken sold = wrapped[forward ? 0 : 1];
        WrappedToken bought = wrapped[forward ? 1 : 0];
        (uint256 x, uint256 y,) = IPair(pair).getReserves();
        if (!forward) (x, y) = (y, x);
        sold.wrapTo(amount, pair);
        uint256 net = amount * 997;
        paid = net * y / (x * 1000 + net);
        IPair(pair).swap(forward ? 0 : paid, forward ? paid : 0, address(this), "");
        bought.unwrapTo(bought.balanceOf(address(this)), msg.sender);
    }
}
