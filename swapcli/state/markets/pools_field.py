"""The `pools` list in a market file. Each family reads and writes its own pool fields."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from swapcli.core.errors import InvalidAddress, InvalidPoolState
from swapcli.core.model.network import Network
from swapcli.core.model.pool import MAX_FEE_PPM, Pool, PoolIdentity
from swapcli.core.model.token import Token
from swapcli.core.plugins import FAMILY_GROUP, skipped_plugin
from swapcli.core.validation.values import MISSING, describe, parse_integer
from swapcli.families import family, family_names, is_family
from swapcli.families.state_fields import StateFields
from swapcli.state.markets.address_field import is_hex, read_address

_IDENTITY = ("address", "address_modelled", "protocol", "family", "tokens", "fee_ppm")
"""The keys that every pool has."""


def pool_to_json(pool: Pool, is_placeholder: bool = False) -> dict[str, object]:
    """Return a pool as an entry of the `pools` list, ready for JSON. `is_placeholder` marks the address as a
    placeholder."""
    return {
        "address": pool.address,
        **({"address_modelled": True} if is_placeholder else {}),
        "protocol": pool.protocol,
        "family": pool.family,
        "tokens": list(pool.tokens),
        "fee_ppm": pool.fee_ppm,
        **pool.state(),
    }


class PoolParser:
    """Parses the pools of one file, given the file's `tokens` and network."""

    def __init__(self, network: Network, tokens: Mapping[str, Token]) -> None:
        self._network = network
        self._protocols = {protocol.amm_name: protocol.amm_name for protocol in network.protocols}
        self._tokens = tokens
        self._by_spelling = dict(tokens)
        self._families: dict[str, type[Pool]] = {}
        self.placeholder_pools: set[str] = set()
        """The keys of the pools whose addresses are placeholders."""

    def read(self, items: Sequence[object], skip_bad_pools: bool) -> tuple[dict[str, Pool], list[InvalidPoolState]]:
        """Return the pools by key, and the errors for skipped pools. Raises the first error unless `skip_bad_pools` is
        true."""
        pools: dict[str, Pool] = {}
        skipped: list[InvalidPoolState] = []
        for index, item in enumerate(items):
            try:
                pool = self._pool(item, index)
                if pool.key in pools:
                    raise InvalidPoolState("address", "this pool is listed twice", pool=pool.key)
                pools[pool.key] = pool
            except InvalidPoolState as error:
                if not skip_bad_pools:
                    raise
                skipped.append(error)
        return pools, skipped

    def _pool(self, item: object, index: int) -> Pool:
        if not isinstance(item, dict):
            raise InvalidPoolState(f"pools[{index}]", f"expected an object, not {describe(item)}")
        try:
            pool = self._family(item).from_state(self._identity(item), item)
            if item.get("address_modelled") is not None and StateFields(item).boolean("address_modelled"):
                self.placeholder_pools.add(pool.key)
        except InvalidPoolState as error:
            hint = error.hint or self._misspelt(item, error)
            raise InvalidPoolState(error.field, error.problem, pool=_label(item, index), hint=hint) from error
        return pool

    def _misspelt(self, item: Mapping[str, object], error: InvalidPoolState) -> str | None:
        """Return the hint about a pool's key that is close to a missing key and to no other field; None if there is
        none."""
        if error.problem != "missing":
            return None
        from swapcli.core.encoding.closest import closest_names

        family = self._families.get(str(item.get("family")))
        others = [key for key in item if key not in _IDENTITY and not hasattr(family, key)]
        nearest = closest_names(error.field, others, limit=1)
        return f"the pool has {describe(nearest[0])}: did you mean {error.field}?" if nearest else None

    def _identity(self, item: Mapping[str, object]) -> PoolIdentity:
        tokens = self._pool_tokens(item)
        return PoolIdentity(
            address=self._address("address", item.get("address")),
            protocol=self._protocol(item),
            tokens=tuple([token.address for token in tokens]),
            decimals=tuple([token.decimals for token in tokens]),
            fee_ppm=StateFields.parse("fee_ppm", item.get("fee_ppm", MISSING), parse_integer, 0, MAX_FEE_PPM),
        )

    def _pool_tokens(self, item: Mapping[str, object]) -> list[Token]:
        listed = item.get("tokens")
        if not isinstance(listed, list) or len(listed) < 2:
            found = f"a list of {len(listed)}" if isinstance(listed, list) else describe(listed)
            expected = f"expected a list of at least two addresses, not {found}"
            raise InvalidPoolState("tokens", "missing" if listed is None else expected)
        tokens = [self._token(address, index) for index, address in enumerate(listed)]
        if len({token.address for token in tokens}) != len(tokens):
            raise InvalidPoolState("tokens", "the same token is listed twice")
        return tokens

    def _token(self, address: object, index: int) -> Token:
        # A file writes a token's address many times, mostly in one way.
        known = self._by_spelling.get(address) if isinstance(address, str) else None
        if known is None:
            canonical = self._address(f"tokens[{index}]", address)
            known = self._tokens.get(canonical)
            if known is None:
                raise InvalidPoolState(f"tokens[{index}]", f"{canonical} is not among the file's tokens")
            self._by_spelling[str(address)] = known
        return known

    def _address(self, field: str, value: object) -> str:
        try:
            return read_address(value, self._network.kind)
        except InvalidAddress as error:
            raise InvalidPoolState(field, error.message) from None

    def _protocol(self, item: Mapping[str, object]) -> str:
        name = item.get("protocol")
        if name is None:
            raise InvalidPoolState("protocol", "missing")
        if not isinstance(name, str):
            raise InvalidPoolState("protocol", f"expected a name, not {describe(name)}")
        known = self._protocols.get(name)
        if known is None:
            problem = f"{self._network.name} has no protocol {describe(name)}"
            raise InvalidPoolState("protocol", problem, hint=_closest(name, self._protocols) or None)
        return known

    def _family(self, item: Mapping[str, object]) -> type[Pool]:
        name = item.get("family")
        known = self._families.get(name) if isinstance(name, str) else None
        if known is not None:
            return known
        if not isinstance(name, str):
            raise InvalidPoolState("family", "missing" if name is None else f"expected a name, not {describe(name)}")
        if not is_family(name):
            names = family_names()
            hint = skipped_plugin(FAMILY_GROUP, name) or _closest(name, names) or f"known families: {', '.join(names)}"
            raise InvalidPoolState("family", f"unknown family {describe(name)}", hint=hint)
        self._families[name] = family(name)
        return self._families[name]


def _closest(name: str, known: Iterable[str]) -> str:
    """Return the question about known names that are close; empty if there are none."""
    from swapcli.core.encoding.closest import closest_names, did_you_mean

    return did_you_mean(closest_names(name, known))


def _label(item: Mapping[str, object], index: int) -> str:
    """Return the name of a pool for an error: its pool id, its address, or its position in the file."""
    for key in ("pool_id", "address"):
        value = item.get(key)
        if isinstance(value, str) and is_hex(value):
            return value
    return f"pools[{index}]"
