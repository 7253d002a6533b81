"""The command line of the benchmark: what a run measures, and what it may write."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.plan import PAGE, QUESTIONS, SEEDS, SIZES, Plan, parse_plan


def test_a_plain_run_measures_everything_and_writes_the_page() -> None:
    plan = parse_plan([])
    assert (plan.sizes, plan.seeds) == (SIZES, SEEDS) == ((1_000, 10_000), (7, 1))
    assert plan.runs >= 15
    assert plan.out == PAGE
    assert plan.is_whole
    assert plan.is_comparable
    assert plan.command() == "make bench"


@pytest.mark.parametrize(
    "words", ["--quick", "--seed 5", "--market market_a.json", "--sizes 100", "--quick --seed 5", "--only chain"]
)
def test_other_runs_only_print(words: str) -> None:
    plan = parse_plan(words.split())
    assert plan.out is None
    assert parse_plan([*words.split(), "--out", "page.md"]).out == Path("page.md")
    assert plan.is_comparable == (words == "--only chain")


def test_a_seed_makes_as_many_other_markets() -> None:
    plan = parse_plan(["--seed", "12345"])
    assert plan.seeds == (12_345, 12_346)
    assert parse_plan(["--seed", "0", "--quick"]).seeds == (0,)
    assert not plan.is_comparable


def test_questions_come_in_the_order_of_measuring() -> None:
    plan = parse_plan(["--only", "chain,speed"])
    assert (plan.questions, plan.is_whole) == (("speed", "chain"), False)
    assert parse_plan(["--only", ",".join(QUESTIONS)]) == parse_plan([])


def test_a_quick_run_is_smaller_in_every_part() -> None:
    whole, quick = parse_plan([]), parse_plan(["--quick"])
    assert all(less < more for less, more in zip(quick.chain, whole.chain, strict=True) if more != whole.chain.swaps)
    assert max(quick.stores) < max(whole.stores)
    numbers = (
        "rounds", "passes", "runs", "real_orders", "service_s", "soak_requests", "load_rounds", "rival_orders",
        "contradiction_cases", "store_runs", "pair_rounds", "world_orders",
        "exact_output_orders", "proven_orders", "ablation_orders", "small_market_orders",
    )  # fmt: skip
    assert all(getattr(quick, name) < getattr(whole, name) for name in numbers)
    assert set(numbers) | {"sizes", "stores", "chain", "is_quick", "out"} == {
        name for name in Plan._fields if getattr(quick, name) != getattr(whole, name)
    }


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--only=chains", "argument --only: expected some of orders, speed, optimum, service, chain, not 'chains'"),
        ("--only=chain,", "argument --only: expected some of orders, speed, optimum, service, chain, not 'chain,'"),
        ("--seed=one", "argument --seed: expected a whole number, not 'one'"),
        ("--seed=-1", "argument --seed: expected a whole number, not '-1'"),
        ("--seed=1.5", "argument --seed: expected a whole number, not '1.5'"),
        ("--seed=" + "9" * 19, "argument --seed: expected a whole number, not '9999999999999999999'"),
        ("--sizes=", "argument --sizes: expected numbers with commas between them, not ''"),
        ("--sizes=1,,2", "argument --sizes: expected numbers with commas between them, not '1,,2'"),
        ("--sizes=0", "argument --sizes: expected numbers with commas between them, not '0'"),
        ("--baselines=x", "unrecognized arguments: --baselines=x"),
    ],
)
def test_bad_words_get_one_sentence_and_status_2(words: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parse_plan([words])
    assert ended.value.code == 2
    assert capsys.readouterr().err == f"bench: {said}\n"


@given(
    st.sets(st.integers(1, 10**6), min_size=1, max_size=4),
    st.none() | st.integers(0, 10**18 - 1),
    st.booleans(),
    st.sampled_from(QUESTIONS),
)
def test_the_command_of_a_section_repeats_it(sizes: set[int], seed: int | None, quick: bool, question: str) -> None:
    words = ["--sizes", ",".join(map(str, sizes)), *(["--quick"] if quick else [])]
    words += ["--seed", str(seed)] if seed is not None else []
    plan = parse_plan(words)
    whole = plan.command()
    assert parse_plan(whole.split('"')[1].split() if '"' in whole else [])._replace(out=None) == plan._replace(out=None)
    assert parse_plan(plan.command(question).split('"')[1].split()) == parse_plan([*words, "--only", question])
