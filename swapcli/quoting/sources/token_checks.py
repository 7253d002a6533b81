"""Compare the tokens of live quotes with their contracts, in the same requests that read the pools, once per token."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from swapcli.core.model.network import Network
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.token import Token

if TYPE_CHECKING:
    from swapcli.core.networks.token_facts import TokenFacts
    from swapcli.state.confirmed_tokens_file import ConfirmedTokensFile
    from swapcli.state.rpc.node import Node


class TokenChecks:
    """The record of the network's tokens that have been compared with their contracts, in this process or in earlier
    ones (`file`).

    >>> wrong = checks.check(tokens, facts, order_tokens)
    """

    def __init__(self, network: Network, file: ConfirmedTokensFile | None = None) -> None:
        self._network, self._file = network, file

    @cached_property
    def _confirmed(self) -> dict[str, tuple[int, str]]:
        return self._file.load() if self._file else {}

    def unconfirmed(self, addresses: Iterable[str], tokens: Mapping[str, Token]) -> list[str]:
        """Return the addresses whose tokens have not been compared yet with the symbols and decimals in `tokens`."""
        confirmed = self._confirmed
        return [
            address
            for address in dict.fromkeys(addresses)
            if address != ZERO_ADDRESS
            and (token := tokens.get(address)) is not None
            and confirmed.get(address) != (token.decimals, token.symbol)
        ]

    def check(
        self, tokens: Mapping[str, Token], facts: Mapping[str, TokenFacts], order_tokens: Collection[str]
    ) -> frozenset[str]:
        """Compare `tokens` with the `facts` from their contracts, and remember the tokens that match.

        Raises `ConfigError` for a wrong token in the order or in the network's definition, which the user can correct.
        Returns the addresses of all other wrong tokens, whose pools no route may use.
        """
        new = [tokens[address] for address in self.unconfirmed(facts, tokens)]
        if not new:
            return frozenset()
        from swapcli.core.networks.token_facts import check_token_facts, contradicts

        wrong = []
        for token in new:
            found = facts[token.address]
            if token.address in order_tokens or token.address in self._listed:
                check_token_facts(self._network, token, found, checks_symbol=self._own.get(token.address) == token)
            elif contradicts(token, found):
                wrong.append(token.address)
        checked = [token for token in new if token.address not in wrong]
        self._confirmed.update((token.address, (token.decimals, token.symbol)) for token in checked)
        if self._file:
            self._file.add(token for token in checked if facts[token.address].decimals is not None)
        return frozenset(wrong)

    @cached_property
    def _listed(self) -> frozenset[str]:
        wrapped = self._network.wrapped_native_address
        return frozenset(token.address for token in self._network.tokens) | ({wrapped} if wrapped else set())

    @cached_property
    def _own(self) -> Mapping[str, Token]:
        from swapcli.core.networks.catalogue import own_tokens

        return {token.address: token for token in own_tokens(self._network)}


def compare_listed_tokens(
    node: Node, network: Network, checks: TokenChecks, listed: Iterable[Token] = ()
) -> frozenset[str]:
    """Compare the `listed` tokens, by default those in the network's definition, with their contracts at the latest
    block.

    Returns the same result and raises the same errors as `TokenChecks.check`. Also raises `UpstreamError`.
    """
    wrapped = (network.wrapped_native,) if network.wrapped_native else ()
    tokens = {token.address: token for token in (listed or (*network.tokens, *wrapped))}
    unconfirmed = checks.unconfirmed(tokens, tokens)
    if not unconfirmed:
        return frozenset()
    from swapcli.core.networks.token_facts import TokenFacts
    from swapcli.families.reading.lockstep_reads import run_batched
    from swapcli.state.rpc.multicall import MulticallReader
    from swapcli.state.tokens import read_token_facts

    reader = MulticallReader(node, node.read_head().block, network.multicall)
    found = run_batched([(address, read_token_facts(address)) for address in unconfirmed], reader.call)
    facts = {address: each for address, each in zip(unconfirmed, found, strict=True) if isinstance(each, TokenFacts)}
    reader.verify_block()
    return checks.check(tokens, facts, ())
