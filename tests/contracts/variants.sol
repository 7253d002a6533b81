// SPDX-License-Identifier: MIT
pragma solidity 0.8.26;

import {Families, SwapParams} from "./Families.sol";
import {IWrapped} from "./Interfaces.sol";
import {RouteParam} from "./SwapRouter.sol";
import {Tokens} from "./Tokens.sol";

interface IPoolFacts {
    function fee() external view returns (uint24);
    function tickSpacing() external view returns (int24);
    function coins(uint256 index) external view returns (address);
}

/// A router of the interface that reads rates and extra data in one way only, on the protocols of the tests' network.
/// It refuses extra data in any other form. It may also pay less than it gains, and return another amount than it pays.
contract VariantRouter is Families {
    using Tokens for address;

    error WrongForm(int24 protocol_id, bytes data);
    error OnlyItself();
    error ReceivedTooLittle(uint256 received, uint256 least);

    enum Rate {
        RELATIVE,
        ABSOLUTE_INPUT,
        ABSOLUTE
    }

    enum Form {
        TWO_BYTES,
        WORD,
        EMPTY,
        THREE_BYTES,
        TWO_BYTES_OR_WORD
    }

    uint256 private constant SCALE = 1_000_000;
    uint256 private constant UNISWAP_V2_FEE = 3000;

    Rate private immutable RATE;
    Form private immutable FORM;
    /// Units that it does not pay, and units that it returns beyond those that it pays.
    uint256 private immutable SKIMMED;
    uint256 private immutable CLAIMED;

    constructor(
        address wrapped,
        address poolManager,
        uint256 kinds,
        uint256 moreKinds,
        Rate rate,
        Form form,
        uint256 skimmed,
        uint256 claimed
    ) Families(wrapped, poolManager, kinds, moreKinds) {
        (RATE, FORM, SKIMMED, CLAIMED) = (rate, form, skimmed, claimed);
    }

    function swap(RouteParam calldata route, SwapParams[] calldata swaps)
        external
        payable
        alone
        returns (uint256 received)
    {
        if (route.swap_type == 0) IWrapped(WRAPPED).deposit{value: route.amount_in}();
        else route.token_in.pull(msg.sender, route.amount_in);
        uint256[] memory first = new uint256[](swaps.length);
        for (uint256 k = 0; k < swaps.length; ++k) {
            SwapParams memory step = swaps[k];
            first[k] = _balanceBeforeFirstSwap(swaps, first, k);
            bool isAbsolute = RATE == Rate.ABSOLUTE || (RATE == Rate.ABSOLUTE_INPUT && step.token_in == route.token_in);
            uint256 whole = isAbsolute ? first[k] : step.token_in.balanceHere();
            step.extra_data = _twoBytes(step);
            this.trade(step, whole * step.rate / SCALE);
        }
        received = route.token_out.balanceHere() - SKIMMED;
        if (received < route.min_received) revert ReceivedTooLittle(received, route.min_received);
        if (route.swap_type == 1) {
            IWrapped(WRAPPED).withdraw(received);
            (bool done,) = route.destination.call{value: received}("");
            require(done);
        } else {
            route.token_out.pay(route.destination, received);
        }
        received += CLAIMED;
    }

    function trade(SwapParams calldata step, uint256 amount) external {
        if (msg.sender != address(this)) revert OnlyItself();
        _trade(step, amount);
    }

    /// `first` has the balances before the first swap of the tokens of earlier swaps.
    function _balanceBeforeFirstSwap(SwapParams[] calldata swaps, uint256[] memory first, uint256 position)
        private
        view
        returns (uint256)
    {
        for (uint256 k = 0; k < position; ++k) {
            if (swaps[k].token_in == swaps[position].token_in) return first[k];
        }
        return swaps[position].token_in.balanceHere();
    }

    /// Returns the extra data in the form that `Families` reads. Reverts unless it comes in this router's form.
    function _twoBytes(SwapParams memory step) private view returns (bytes memory wanted) {
        bytes memory expected;
        int24 id = step.protocol_id;
        if (id == 0 || id == 25) return step.extra_data;
        if (id == 5 || id == 9) expected = _number(IPoolFacts(step.pool_address).fee(), FORM);
        else if (id == 11) expected = _number(uint24(IPoolFacts(step.pool_address).tickSpacing()), FORM);
        else if (id == 1) (expected, wanted) = (_fee(FORM), _fee(Form.TWO_BYTES));
        else if (id == 126) (expected, wanted) = _coins(step);
        else expected = FORM == Form.WORD || FORM == Form.TWO_BYTES_OR_WORD ? new bytes(32) : bytes("");
        if (keccak256(expected) != keccak256(step.extra_data)) revert WrongForm(id, step.extra_data);
    }

    function _fee(Form form) private pure returns (bytes memory) {
        return form == Form.WORD ? new bytes(32) : _number(UNISWAP_V2_FEE, form);
    }

    function _number(uint256 value, Form form) private pure returns (bytes memory) {
        if (form == Form.EMPTY) return "";
        if (form == Form.WORD) return abi.encode(value);
        return form == Form.THREE_BYTES ? abi.encodePacked(uint24(value)) : abi.encodePacked(uint16(value));
    }

    function _coins(SwapParams memory step) private view returns (bytes memory expected, bytes memory indices) {
        indices = abi.encodePacked(_coin(step.pool_address, step.token_in), _coin(step.pool_address, step.token_out));
        expected = FORM == Form.EMPTY ? bytes("") : FORM == Form.WORD ? new bytes(32) : indices;
    }

    function _coin(address pool, address token) private view returns (uint8 index) {
        while (IPoolFacts(pool).coins(index) != token) ++index;
    }
}
