// SPDX-License-Identifier: MIT
pragma solidity 0.8.26;

// What simulations meet: tokens by where they keep balances, a router that does as it is told, and wallets with code.

/// A token whose balances are wherever `_place` says.
abstract contract Kept {
    mapping(address => mapping(address => uint256)) private _allowances;

    function mint(address to, uint256 amount) external {
        _set(to, _get(to) + amount);
    }

    function approve(address spender, uint256 amount) external virtual returns (bool) {
        _allowances[msg.sender][spender] = amount;
        return true;
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        _move(msg.sender, to, amount);
        return true;
    }

    function transferFrom(address from, address to, uint256 amount) external returns (bool) {
        _allowances[from][msg.sender] -= amount;
        _move(from, to, amount);
        return true;
    }

    function allowance(address owner, address spender) external view returns (uint256) {
        return _allowances[owner][spender];
    }

    function decimals() external pure returns (uint8) {
        return 18;
    }

    function symbol() external pure returns (string memory) {
        return "KEPT";
    }

    function balanceOf(address owner) public view virtual returns (uint256) {
        return _get(owner);
    }

    function _move(address from, address to, uint256 amount) internal virtual {
        _set(from, _get(from) - amount);
        _set(to, _get(to) + amount);
    }

    function _get(address owner) internal view returns (uint256 value) {
        bytes32 place = _place(owner);
        assembly {
            value := sload(place)
        }
    }

    function _set(address owner, uint256 value) internal {
        bytes32 place = _place(owner);
        assembly {
            sstore(place, value)
        }
    }

    function _place(address owner) internal view virtual returns (bytes32);
}

/// As Solidity keeps a mapping, at any slot.
contract SolidityKept is Kept {
    bytes32 internal immutable _slot;

    constructor(bytes32 slot) {
        _slot = slot;
    }

    function _place(address owner) internal view virtual override returns (bytes32) {
        return keccak256(abi.encode(owner, _slot));
    }
}

/// As Vyper does.
contract VyperKept is SolidityKept {
    constructor(bytes32 slot) SolidityKept(slot) {}

    function _place(address owner) internal view override returns (bytes32) {
        return keccak256(abi.encode(_slot, owner));
    }
}

/// As Solady's ERC20 does.
contract SoladyKept is Kept {
    function _place(address owner) internal pure override returns (bytes32 place) {
        assembly {
            mstore(0x0c, 0x87a211a2)
            mstore(0x00, owner)
            place := keccak256(0x0c, 0x20)
        }
    }
}

/// As nobody does.
contract SecretlyKept is Kept {
    function _place(address owner) internal pure override returns (bytes32) {
        return keccak256(abi.encode("nobody guesses", owner));
    }
}

/// Balances grow: what is kept is a share of them.
contract Rebasing is SolidityKept {
    constructor() SolidityKept(bytes32(uint256(7))) {}

    function balanceOf(address owner) public view override returns (uint256) {
        return _get(owner) * 11 / 10;
    }

    function _move(address from, address to, uint256 amount) internal override {
        super._move(from, to, (amount * 10 + 10) / 11);
    }
}

/// The upper bit says that the owner may not trade, as with USDC.
contract Flagged is SolidityKept {
    constructor() SolidityKept(bytes32(uint256(9))) {}

    function block_(address owner) external {
        _set(owner, _get(owner) | 1 << 255);
    }

    function balanceOf(address owner) public view override returns (uint256) {
        return _get(owner) & type(uint256).max >> 1;
    }

    function _move(address from, address to, uint256 amount) internal override {
        require(_get(from) >> 255 == 0, "may not trade");
        super._move(from, to, amount);
    }
}

/// Takes a hundredth of whatever is moved.
contract Taxed is SolidityKept {
    constructor() SolidityKept(0) {}

    function _move(address from, address to, uint256 amount) internal override {
        _set(from, _get(from) - amount);
        _set(to, _get(to) + amount - amount / 100);
    }
}

/// Approves nothing.
contract Unwilling is SolidityKept {
    error NotToday(uint256 day);

    constructor() SolidityKept(0) {}

    function approve(address, uint256) external pure override returns (bool) {
        revert NotToday(7);
    }
}

interface IAny {
    function transfer(address to, uint256 amount) external;
    function transferFrom(address from, address to, uint256 amount) external;
}

/// A router that does as it is told with what it holds. Zero addresses are the native currency.
contract Obedient {
    error Unkind(uint256 code, address who);

    receive() external payable {}

    function trade(address sold, uint256 taken, address bought, uint256 paid, address receiver)
        external
        payable
        returns (uint256)
    {
        if (sold != address(0) && taken != 0) IAny(sold).transferFrom(msg.sender, address(this), taken);
        if (bought != address(0)) {
            IAny(bought).transfer(receiver, paid);
        } else {
            (bool done,) = receiver.call{value: paid}("");
            require(done, "receiver refuses");
        }
        return paid;
    }

    function payThrifty(address payable receiver, uint256 paid) external payable {
        receiver.transfer(paid);
    }

    function fail(uint256 how) external payable {
        if (how == 0) revert("not like this");
        if (how == 1) revert Unkind(5, msg.sender);
        if (how == 2) assert(false);
        if (how == 3) revert();
        assembly {
            invalid()
        }
    }

    function callBack(bytes calldata input) external payable returns (bytes memory output) {
        bool done;
        (done, output) = msg.sender.call(input);
        require(done, "the sender refuses");
    }

    function whoIs() external payable returns (address, address) {
        return (msg.sender, tx.origin);
    }
}

/// A router with the published functions, which takes the input and pays the output that was quoted, but for a part, from
/// what it holds of tokens.
contract Skimmer {
    uint256 private immutable _skimmed;

    constructor(uint256 skimmed) {
        _skimmed = skimmed;
    }

    fallback() external payable {
        (address sold, address bought, uint256 amount, uint256 quoted,, address receiver) =
            abi.decode(msg.data[4:196], (address, address, uint256, uint256, uint256, address));
        if (msg.value == 0) IAny(sold).transferFrom(msg.sender, address(this), amount);
        IAny(bought).transfer(receiver, quoted - _skimmed);
    }
}

/// A wallet with code, which counts what it is sent and can be told to refuse it.
contract Wallet {
    uint256 public immutable least;
    uint256 public count = 40;

    constructor(uint256 least_) {
        least = least_;
    }

    receive() external payable {
        require(msg.value >= least, "too little for me");
        count += 1;
    }
}
