"""Parse rules of Uniswap V4 hooks: the key `hook_rules` in a network's definition. A hook with a known rule needs no
code.

`docs/network-keys.md` describes each key.

`lp` is in ppm; without it, the fee in the pool manager applies. A value is a number, hex, or a name after `$`: one of
`POOL_NAMES`, of `contracts`, or of `values`. A fee may also be `{decay: [first, last, since, seconds]}`: it falls
linearly from `first` to `last` within `seconds` after `since`. Or it is `{sum: [value, ...]}`: the sum of values. Or
`{either: [value, fee, fee]}`: the first fee if the value is not 0, otherwise the second.

`cut` is for hooks that charge part of the LP fee a second time: the pool takes the fee from the input, and before that
the hook takes this part of it, in ppm, for itself. The part is rounded up; `cut_rounds_up` shows whether the underlying
fee is rounded up as well.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from swapcli.core.model.network import Kind, Network
from swapcli.core.model.quoter import ReadValue
from swapcli.core.networks.definition_fields import DefinitionFields
from swapcli.core.networks.quoter_definitions import check_value, parse_reads
from swapcli.core.records import NamedTuple
from swapcli.core.validation.values import parse_integer, parse_list, parse_printable

FEES: Final = "fees"
CLANKER_STATIC: Final = "clanker_static"
CLANKER_DYNAMIC: Final = "clanker_dynamic"
FLAUNCH: Final = "flaunch"
DELI: Final = "deli"
RULES: Final = (FEES, CLANKER_STATIC, CLANKER_DYNAMIC, FLAUNCH, DELI)
POOL_NAMES: Final = (
    "pool_manager", "pool_id", "token0", "token1", "currency0", "hooks", "key_fee", "tick_spacing", "time",
)  # fmt: skip
"""The values of every pool.

`time` is the block's time; `currency0` is the zero address if token0 is the native token.
"""

RULE_KEYS: Final = (
    "rule", "hooks", "code_hash", "contracts", "values", "requires", "opens_at", "fees", "exchanged_unless", "fee_unit",
    "gas", "source",
)  # fmt: skip
FEE_KEYS: Final = ("lp", "input", "output", "cut", "cut_rounds_up")
_MAX_FEE_UNIT: Final = 10**18  # a fee has at most 18 decimals
_MAX_GAS: Final = 10_000_000  # a bound against mistakes; chosen

Term = int | str
"""A number, hex with 0x, or the name of a value after `$`."""


class Decay(NamedTuple):
    """A fee that falls linearly from `first` to `last` within a number of seconds after a start time. It is rounded
    up."""

    first: Term
    last: Term
    since: Term
    seconds: Term


class Sum(NamedTuple):
    """A fee that is the sum of the fees of several parties."""

    parts: tuple[Term, ...]


class Either(NamedTuple):
    """The first fee if a value is not 0, otherwise the second."""

    value: Term
    first: FeeTerm
    second: FeeTerm


FeeTerm = Term | Decay | Sum | Either


class FeeTerms(NamedTuple):
    """The fees of one direction. `lp` is None if the hook does not change the LP fee; `cut` is the hook's part of the
    LP fee."""

    lp: FeeTerm | None = None
    input: FeeTerm = 0
    output: FeeTerm = 0
    cut: FeeTerm = 0
    cut_rounds_up: bool = False


class HookRule(NamedTuple):
    """A rule for one or more hooks. Its fields are the keys of the definition."""

    rule: str
    hooks: tuple[str, ...]
    code_hash: str | None = None
    contracts: Mapping[str, str] = MappingProxyType({})
    values: tuple[ReadValue, ...] = ()
    requires: tuple[tuple[Term, Term], ...] = ()
    opens_at: Term | None = None
    fees: tuple[FeeTerms, FeeTerms] = (FeeTerms(), FeeTerms())
    exchanged_unless: tuple[Term, Term] | None = None
    fee_unit: int = 10**6
    gas: int = 0
    source: str = ""


def parse_hook_rules(network: Network, where: str = "") -> dict[str, HookRule]:
    """Return the rules of a network by hook address; the first rule of a hook counts.

    Raises `ConfigError`, which names the key below `where`; the default is the network's name.
    """
    path = f"{where}.hook_rules" if where else f"{network.name}: hook_rules"
    rules: dict[str, HookRule] = {}
    for number, item in enumerate(network.hook_rules):
        rule = _parse_rule(item, f"{path}[{number}]")
        for hooks in rule.hooks:
            rules.setdefault(hooks, rule)
    return rules


def hook_rule_texts(network: Network) -> dict[str, str]:
    """Return the rules of a network by hook address, unchecked, as JSON that `parse_hook_rule` reads."""
    texts: dict[str, str] = {}
    for item in network.hook_rules:
        for address in _hooks_of(item):
            texts.setdefault(address, json.dumps(item, sort_keys=True))
    return texts


def hook_rule_text(network: Network, hooks: str) -> str:
    """Return the rule of one hook in the form of `hook_rule_texts`; empty if the network has none."""
    return next((json.dumps(item, sort_keys=True) for item in network.hook_rules if hooks in _hooks_of(item)), "")


def _hooks_of(item: object) -> list[str]:
    hooks = item.get("hooks") if isinstance(item, Mapping) else None
    return [str(each).lower() for each in hooks] if isinstance(hooks, list) else []


@lru_cache(maxsize=256)
def parse_hook_rule(text: str) -> HookRule:
    """Parse a rule in the form of `hook_rule_texts`. Raises `ConfigError`."""
    return _parse_rule(json.loads(text), "hook rule")


def _parse_rule(item: object, path: str) -> HookRule:
    fields = DefinitionFields.of_keys(item, path, RULE_KEYS)
    name = fields.text("rule")
    if name not in RULES:
        raise fields.unknown(fields.path_of("rule"), "rule", name, RULES)
    hooks = fields.addresses("hooks", Kind.EVM)
    if not hooks:
        raise fields.failure(fields.path_of("hooks"), "expected the address of a hook")
    contracts = {
        each: fields.parse_address(place, value, Kind.EVM) for each, place, value in fields.members("contracts")
    }
    names = {*POOL_NAMES, *contracts}
    values = tuple(parse_reads(fields, "values", names))
    if name != FEES and fields.has("fees"):
        raise fields.failure(fields.path_of("fees"), f"only the rule {FEES} takes fees here")
    return HookRule(
        rule=name,
        hooks=hooks,
        code_hash=fields.optional_hash("code_hash"),
        contracts=contracts,
        values=values,
        requires=tuple(_parse_pair(fields, at, pair, names) for at, pair in fields.optional_items("requires")),
        opens_at=_parse_optional_term(fields, "opens_at", names),
        fees=_parse_fees(fields, names) if fields.has("fees") else (FeeTerms(), FeeTerms()),
        exchanged_unless=_parse_exchange(fields, names),
        fee_unit=fields.whole("fee_unit", 1, _MAX_FEE_UNIT, default=10**6),
        gas=fields.whole("gas", 0, _MAX_GAS, default=0),
        source=fields.text("source", ""),
    )


def _parse_fees(fields: DefinitionFields, names: Collection[str]) -> tuple[FeeTerms, FeeTerms]:
    value, path = fields.values["fees"], fields.path_of("fees")
    if isinstance(value, list):
        first, second = fields.parse(path, value, parse_list, 2, 2)
        return _parse_terms(fields, f"{path}[0]", first, names), _parse_terms(fields, f"{path}[1]", second, names)
    terms = _parse_terms(fields, path, value, names)
    return terms, terms


def _parse_terms(fields: DefinitionFields, path: str, value: object, names: Collection[str]) -> FeeTerms:
    terms = fields.of_keys(value, path, FEE_KEYS)
    rounds_up = terms.boolean(FEE_KEYS[-1], default=False)
    fees = (key for key in terms.values if key != FEE_KEYS[-1])
    read = {str(key): _parse_fee(terms, terms.path_of(key), terms.values[key], names) for key in fees}
    return FeeTerms(read.get("lp"), read.get("input", 0), read.get("output", 0), read.get("cut", 0), rounds_up)


def _parse_fee(fields: DefinitionFields, path: str, value: object, names: Collection[str]) -> FeeTerm:
    if not isinstance(value, dict):
        return _parse_term(fields, path, value, names)
    several = fields.of_keys(value, path, ("decay", "sum", "either"))
    if several.has("sum"):
        return Sum(tuple(_parse_term(several, at, each, names) for at, each in several.optional_items("sum")))
    if several.has("either"):
        at = several.path_of("either")
        flag, *fees = several.read("either", parse_list, len(Either._fields), len(Either._fields))
        first, second = (_parse_fee(fields, f"{at}[{k}]", each, names) for k, each in enumerate(fees, 1))
        return Either(_parse_term(several, f"{at}[0]", flag, names), first, second)
    at = several.path_of("decay")
    entries = several.read("decay", parse_list, len(Decay._fields), len(Decay._fields))
    return Decay(*(_parse_term(several, f"{at}[{k}]", each, names) for k, each in enumerate(entries)))


def _parse_optional_term(fields: DefinitionFields, key: str, names: Collection[str]) -> Term | None:
    return _parse_term(fields, fields.path_of(key), fields.values[key], names) if fields.has(key) else None


def _parse_exchange(fields: DefinitionFields, names: Collection[str]) -> tuple[Term, Term] | None:
    if not fields.has("exchanged_unless"):
        return None
    return _parse_pair(fields, fields.path_of("exchanged_unless"), fields.values["exchanged_unless"], names)


def _parse_pair(fields: DefinitionFields, path: str, value: object, names: Collection[str]) -> tuple[Term, Term]:
    first, second = _terms(fields, path, value, names)
    return first, second


def _terms(fields: DefinitionFields, path: str, value: object, names: Collection[str]) -> Iterator[Term]:
    entries = fields.parse(path, value, parse_list, 2, 2)
    return (_parse_term(fields, f"{path}[{k}]", each, names) for k, each in enumerate(entries))


def _parse_term(fields: DefinitionFields, path: str, value: object, names: Collection[str]) -> Term:
    if isinstance(value, int) and not isinstance(value, bool):
        return fields.parse(path, value, parse_integer, 0, _MAX_FEE_UNIT)
    text = fields.parse(path, value, parse_printable)
    check_value(fields, path, text, names)
    return text
