"""The `network` object of a market file: a name that the catalogue knows, a full description, or both.

What the file gives overrides the catalogue member by member, so a file may carry its own router or protocol list.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from swapcli.errors import InvalidAddress, UnknownNetwork
from swapcli.markets.addresses import read_address
from swapcli.markets.document import as_object, list_in, member, object_in, refuse, text_in, uint_in
from swapcli.markets.tokens_field import MAX_DECIMALS
from swapcli.model.network import Kind, Network, ProtocolInfo
from swapcli.model.order import ZERO_ADDRESS
from swapcli.model.token import Token

_MAX_SAFE_NUMBER = 2**53 - 1
_MAX_PROTOCOL_ID = 2**23 - 1  # int24 in the router's ABI
_DESCRIPTION = ("chain_id", "native", "wrapped_native", "router", "protocols")


def outline(entry: Mapping[str, object], networks: Callable[[str], Network]) -> Network:
    """The network without what needs the file's tokens: `wrapped_native` is the catalogue's, or None.

    Raises `MarketError` where the name is unknown and the description incomplete.
    """
    name = text_in(entry, "name", "network.")
    if not name:
        refuse("network.name", "empty")
    try:
        known = networks(name)
    except UnknownNetwork:
        return _described(entry, name)
    return _overridden(known, entry)


def with_wrapped_native(network: Network, entry: Mapping[str, object], tokens: Mapping[str, Token]) -> Network:
    """`network` with the file's `wrapped_native`, which must be one of its tokens unless the catalogue has it."""
    if "wrapped_native" not in entry:
        return network
    address = _address_or_none(entry, "wrapped_native", network.kind)
    if address is None:
        return replace(network, wrapped_native=None)
    if network.wrapped_native is not None and network.wrapped_native.address == address:
        return network
    if address not in tokens:
        refuse("network.wrapped_native", f"{address} is not among the tokens")
    return replace(network, wrapped_native=tokens[address])


def network_to_json(network: Network) -> dict[str, object]:
    """The full form, JSON-ready."""
    native, wrapped = network.native, network.wrapped_native
    entry: dict[str, object] = {"name": network.name}
    if network.kind is not Kind.EVM:
        entry["kind"] = network.kind.value
    entry["chain_id"] = network.chain_id if network.chain_id <= _MAX_SAFE_NUMBER else str(network.chain_id)
    entry["native"] = {"symbol": native.symbol, "name": native.name, "decimals": native.decimals}
    entry["wrapped_native"] = wrapped.address if wrapped else None
    entry["router"] = network.router
    entry["protocols"] = [
        {"id": protocol.id, "amm_name": protocol.amm_name, "display_name": protocol.display_name}
        for protocol in network.protocols
    ]
    return entry


def _described(entry: Mapping[str, object], name: str) -> Network:
    missing = [key for key in _DESCRIPTION if key not in entry]
    if missing:
        refuse(
            "network.name",
            f'no network "{name}" is known and the file does not describe it: {", ".join(missing)} missing',
            hint="give the network in full in the file, or add it to the configuration",
        )
    blank = Token(ZERO_ADDRESS, "", "", 0)
    bare = Network(name, _kind(entry), 0, native=blank, wrapped_native=None, tokens=(), protocols=())
    return _overridden(bare, entry)


def _overridden(known: Network, entry: Mapping[str, object]) -> Network:
    """`known` with the members that `entry` gives; `wrapped_native` waits for the tokens."""
    return replace(
        known,
        chain_id=uint_in(entry, "chain_id", "network.", minimum=1) if "chain_id" in entry else known.chain_id,
        native=_native(entry, known.native) if "native" in entry else known.native,
        # Null says that whoever wrote the file knew of none, not that there is none.
        router=(_address_or_none(entry, "router", known.kind) if "router" in entry else None) or known.router,
        protocols=_protocols(entry, known) if "protocols" in entry else known.protocols,
    )


def _kind(entry: Mapping[str, object]) -> Kind:
    if "kind" not in entry:
        return Kind.EVM
    kind = text_in(entry, "kind", "network.")
    if kind not in tuple(Kind):
        refuse("network.kind", f'expected one of {", ".join(Kind)}, not "{kind}"')
    return Kind(kind)


def _native(entry: Mapping[str, object], known: Token) -> Token:
    native, where = object_in(entry, "native", "network."), "network.native."
    return known._replace(
        symbol=text_in(native, "symbol", where),
        name=text_in(native, "name", where),
        decimals=uint_in(native, "decimals", where, maximum=MAX_DECIMALS),
    )


def _address_or_none(entry: Mapping[str, object], key: str, kind: Kind) -> str | None:
    value = member(entry, key, "network.")
    if value is None:
        return None
    try:
        return read_address(value, kind)
    except InvalidAddress as error:
        refuse(f"network.{key}", error.message)


def _protocols(entry: Mapping[str, object], known: Network) -> tuple[ProtocolInfo, ...]:
    listed = tuple(
        _protocol(as_object(item, f"network.protocols[{index}]"), f"network.protocols[{index}].", known)
        for index, item in enumerate(list_in(entry, "protocols", "network."))
    )
    _refuse_repeats("amm_name", [protocol.amm_name for protocol in listed])
    _refuse_repeats("id", [protocol.id for protocol in listed])
    return listed


def _refuse_repeats(key: str, values: Sequence[object]) -> None:
    seen: set[object] = set()
    for value in values:
        if value in seen:
            refuse("network.protocols", f"two of them have the {key} {value}")
        seen.add(value)


def _protocol(item: Mapping[str, object], where: str, known: Network) -> ProtocolInfo:
    amm_name, display_name = text_in(item, "amm_name", where), text_in(item, "display_name", where)
    number = uint_in(item, "id", where, maximum=_MAX_PROTOCOL_ID)
    same = known.protocol(amm_name)
    if same is None:
        return ProtocolInfo(number, amm_name, display_name)
    return same._replace(id=number, display_name=display_name)
