"""Rules of hooks in a network's definition: what is read, and which mistakes are named."""

from __future__ import annotations

from typing import Any

import pytest

from swapcli.core.errors import ConfigError
from swapcli.core.networks.catalogue import find_network
from swapcli.core.networks.hook_rules import (
    CLANKER_STATIC,
    FEES,
    Decay,
    FeeTerms,
    Sum,
    hook_rule_text,
    hook_rule_texts,
    parse_hook_rule,
    parse_hook_rules,
)
from swapcli.families.uniswap.v4_hooks import check_hook_address, may_change_amounts, may_take_input, may_take_output

HOOK, OTHER = f"0x{'12' * 18}28cc", f"0x{'34' * 18}00cc"
BASE = find_network("base")
ROW: dict[str, Any] = {
    "rule": "fees",
    "hooks": [HOOK],
    "values": [{"name": "fee", "contract": "$hooks", "call": "feeOf(bytes32)", "arguments": ["$pool_id"]}],
    "fees": [{"lp": {"sum": ["$fee", 2]}, "output": 5}, {"input": {"decay": ["$fee", 0, 10, 60]}}],
    "exchanged_unless": ["$token0", "0x05"],
    "gas": 7,
}


def parse(*rows: object) -> object:
    return parse_hook_rules(BASE._replace(hook_rules=rows))


def test_a_row_is_read_with_all_that_it_says() -> None:
    rule = parse_hook_rules(BASE._replace(hook_rules=(ROW,)))[HOOK]
    assert (rule.rule, rule.gas, rule.fee_unit, rule.code_hash, rule.opens_at) == (FEES, 7, 10**6, None, None)
    assert rule.fees == (FeeTerms(Sum(("$fee", 2)), 0, 5), FeeTerms(None, Decay("$fee", 0, 10, 60), 0))
    assert rule.exchanged_unless == ("$token0", "0x05")
    assert [each.name for each in rule.values] == ["fee"]


def test_the_first_row_of_a_hook_counts_also_as_text() -> None:
    network = BASE._replace(hook_rules=({**ROW, "gas": 1}, {**ROW, "gas": 2, "hooks": [HOOK, OTHER]}))
    assert {hook: rule.gas for hook, rule in parse_hook_rules(network).items()} == {HOOK: 1, OTHER: 2}
    texts = hook_rule_texts(network)
    assert {hook: parse_hook_rule(text).gas for hook, text in texts.items()} == {HOOK: 1, OTHER: 2}
    assert hook_rule_text(network, HOOK) == texts[HOOK]
    assert hook_rule_text(network, f"0x{'56' * 20}") == ""


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"rule": "feez"}, 'unknown rule "feez"'),
        ({"hooks": []}, "expected the address of a hook"),
        ({"hook": HOOK}, 'unknown key "hook"'),
        ({"rule": CLANKER_STATIC}, "only the rule fees takes fees here"),
        ({"code_hash": "0x12"}, "64 hexadecimal digits"),
        ({"requires": [["$paused", 0]]}, "one of"),
        ({"requires": [["$fee"]]}, "2"),
        ({"fees": [{"lp": 1}]}, "2"),
        ({"fees": {"lp": "$feez"}}, "one of"),
        ({"fees": {"lp": -1}}, "0"),
        ({"fees": {"tax": 1}}, 'unknown key "tax"'),
        ({"fees": {"lp": {"decay": [1, 0, 5]}}}, "4"),
        ({"fees": {"lp": {"sum": ["$feez"]}}}, "one of"),
        ({"fees": {"lp": {"total": [1, 2]}}}, 'unknown key "total"'),
        ({"contracts": {"factory": "0x12"}}, "address"),
        ({"gas": -1}, "0"),
    ],
)
def test_a_mistake_is_named(changes: dict[str, object], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem) as caught:
        parse({**ROW, **changes})
    assert str(caught.value.details["key"]).startswith("base: hook_rules[0]")


@pytest.mark.parametrize("name", ["base", "monad"])
def test_the_catalogues_rules_fit_their_hooks_permissions(name: str) -> None:
    rules = parse_hook_rules(find_network(name))
    assert rules
    for hooks, rule in rules.items():
        check_hook_address(hooks, has_dynamic_fee=True)
        assert may_change_amounts(hooks), "a hook that leaves amounts alone needs no rule"
        assert rule.source
        assert not any(terms.input for terms in rule.fees) or may_take_input(hooks)
        assert not any(terms.output for terms in rule.fees) or may_take_output(hooks)
