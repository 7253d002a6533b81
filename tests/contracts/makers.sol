// SPDX-License-Identifier: MIT
pragma solidity 0.8.26;

interface IToken {
    function balanceOf(address owner) external view returns (uint256);
    function transfer(address to, uint256 amount) external returns (bool);
    function transferFrom(address from, address to, uint256 amount) external returns (bool);
}

/// A market maker whose maths is its own: it quotes any amount of the pairs that it lists, and pays what it quotes.
///
/// Tests make it depend on the sender and the gas price, refuse, lie, or return what is no amount.
contract Maker {
    enum Behaviour {
        HONEST,
        REVERTS,
        LIES,
        ANSWERS_SHORTLY,
        FALLS,
        BURNS_GAS
    }

    struct Pair {
        address first;
        address second;
    }

    struct Book {
        uint256 depth;
        uint256 priceWad;
    }

    Pair[] private pairs;
    mapping(address => mapping(address => Book)) public books;
    Behaviour public behaviour;
    address public onlySender;
    uint256 public gasPriceLimit;
    /// Of the amounts from this one on, it pays a tenth less than its curve says.
    uint256 public thinFrom = type(uint256).max;

    function list(address first, address second, uint256 depth, uint256 priceWad) external {
        if (books[first][second].depth == 0) pairs.push(Pair(first, second));
        books[first][second] = Book(depth, priceWad);
        books[second][first] = Book(depth * priceWad / 1e18, 1e36 / priceWad);
    }

    function behave(Behaviour next) external {
        behaviour = next;
    }

    /// Pay half to any other sender, and to transactions with a higher gas price.
    function prefer(address sender, uint256 limit) external {
        (onlySender, gasPriceLimit) = (sender, limit);
    }

    function thin(uint256 amount) external {
        thinFrom = amount;
    }

    function getPairs() external view returns (Pair[] memory) {
        return pairs;
    }

    function pairCount() external view returns (uint256) {
        return pairs.length;
    }

    function pairAt(uint256 index) external view returns (address, address) {
        return (pairs[index].first, pairs[index].second);
    }

    function spread() external pure returns (uint256) {
        return 30;
    }

    /// The quote, after the input that would be taken.
    function quote(address tokenIn, address tokenOut, uint256 amount) external view returns (uint256, uint256) {
        return (amount, _quote(tokenIn, tokenOut, amount));
    }

    function swap(address tokenIn, address tokenOut, uint256 amount, address to) external returns (uint256 paid) {
        paid = _quote(tokenIn, tokenOut, amount);
        IToken(tokenIn).transferFrom(msg.sender, address(this), amount);
        IToken(tokenOut).transfer(to, paid);
    }

    function _quote(address tokenIn, address tokenOut, uint256 amount) private view returns (uint256) {
        Book memory book = books[tokenIn][tokenOut];
        require(book.depth != 0, "no such pair");
        if (behaviour == Behaviour.REVERTS) revert("closed");
        if (behaviour == Behaviour.LIES) return amount * 1e24;
        if (behaviour == Behaviour.ANSWERS_SHORTLY) {
            assembly {
                mstore(0, not(0))
                return(0, 5)
            }
        }
        if (behaviour == Behaviour.BURNS_GAS) {
            assembly {
                invalid()
            }
        }
        // A constant product with a spread of 30 basis points.
        uint256 paid = amount * 9970 / 10_000 * book.priceWad / 1e18 * book.depth / (book.depth + amount);
        if (behaviour == Behaviour.FALLS && amount > book.depth / 100) paid = paid / amount;
        if (amount >= thinFrom) paid = paid * 9 / 10;
        if (onlySender != address(0) && (msg.sender != onlySender || tx.gasprice > gasPriceLimit)) paid = paid / 2;
        return paid > IToken(tokenOut).balanceOf(address(this)) ? 0 : paid;
    }
}

/// A pool that quotes itself, per side, as a trader sees it. Its reserves are its balances.
contract AnnouncedPool {
    address public immutable base;
    address public immutable quoteToken;

    constructor(address base_, address quoteToken_) {
        (base, quoteToken) = (base_, quoteToken_);
    }

    function querySellBase(address, uint256 amount) external view returns (uint256, uint256) {
        return _query(base, quoteToken, amount, 0);
    }

    function querySellQuote(address, uint256 amount) external view returns (uint256, uint256) {
        return _query(quoteToken, base, amount, 0);
    }

    /// Pay for what was transferred before.
    function sell(address tokenIn, address tokenOut, uint256 amount, address to) external returns (uint256 paid) {
        (paid,) = _query(tokenIn, tokenOut, amount, amount);
        IToken(tokenOut).transfer(to, paid);
    }

    function _query(address tokenIn, address tokenOut, uint256 amount, uint256 received)
        private
        view
        returns (uint256, uint256)
    {
        uint256 reserveIn = IToken(tokenIn).balanceOf(address(this)) - received;
        uint256 out = amount * IToken(tokenOut).balanceOf(address(this)) / (reserveIn + amount);
        return (out - out / 1000, out / 1000);
    }
}

/// Announces pools by events only; as a vault, it knows their tokens.
contract Announcer {
    event NewPool(address base, address quote, address creator, address pool);
    event PoolCreated(address indexed pool);

    mapping(address => address[]) private tokens;

    function create(address base, address quote) external returns (address pool) {
        pool = address(new AnnouncedPool(base, quote));
        tokens[pool] = [base, quote];
        emit NewPool(base, quote, msg.sender, pool);
        emit PoolCreated(pool);
    }

    function announce(address base, address quote, address pool) external {
        emit NewPool(base, quote, msg.sender, pool);
    }

    function announceAlone(address pool) external {
        emit PoolCreated(pool);
    }

    /// Emit an event of the same kind with other data.
    function announceBytes(bytes calldata data) external {
        bytes memory copy = data;
        bytes32 topic = NewPool.selector;
        assembly {
            log1(add(copy, 32), mload(copy), topic)
        }
    }

    function getPoolTokens(address pool) external view returns (address[] memory) {
        return tokens[pool];
    }
}
