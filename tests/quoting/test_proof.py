"""The proof of a quote: independent fractions give its sums and terms, and its bytes are the same each time."""

from __future__ import annotations

import gzip
import json
import pickle
import random
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import cast

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator

from swapcli import InputOutputError, InvalidInput, Market, NoProof, NoRoute, schema
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.market import MarketState
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.quoting.proof import prove
from swapcli.quoting.sources.local_quotes import quote_locally
from swapcli.quoting.sources.searchable_market import SearchableMarket
from swapcli.state.clock import SYSTEM_CLOCK
from tests.support.pools import build_order, build_random_market, seeds
from tests.support.proof_sums import Document, best_product, covers, directions, hop_rates, least_gain, sums

ORDERS = (("ETH", "USDC", "50"), ("USDC", "ETH", "3000"), ("AERO", "cbBTC", "100000"), ("DAI", "USDC", "5"))
MAX_COMPRESSED = 100_000

gas_prices = st.sampled_from([0, 10**6, 10**9, 10**11, 10**13])
amounts = st.integers(3, 26).map(lambda power: 10**power)


def document_of(market: MarketState, amount: int, gas_price_wei: int, *, reverse: bool = False) -> Document:
    """The document of the proof of an order from token 0 to token 1."""
    order = build_order(market, 0, 1, amount)._replace(reverse=reverse)
    request = QuoteRequest(order, ApiVersion.V2, gas_price_wei=gas_price_wei, proof=True)
    try:
        answer = quote_locally(SearchableMarket(market, SYSTEM_CLOCK), request)
    except NoRoute:
        assume(False)
    return cast("Document", json.loads(prove(answer).to_json()))


@pytest.fixture(scope="module")
def documents() -> list[Document]:
    """The proofs of some orders on the embedded market of base."""
    with Market.embedded("base") as market:
        return [json.loads(market.quote(*order, proof=True).proof().to_json()) for order in ORDERS]


@given(seeds, amounts, gas_prices, st.sampled_from([0.8, 3, 30]), st.booleans())
def test_bounds_are_the_sums_of_their_texts_rounded_up(
    seed: int, amount: int, gas_price_wei: int, noise: float, reverse: bool
) -> None:
    """Also with arbitrage, where the acyclic bound differs, and with branches."""
    market = build_random_market(seed, noise=noise, every_family=True)
    document = document_of(market, amount, gas_price_wei, reverse=reverse)
    route, gas = document["route"], document["gas"]
    check_sums(document)
    for bound in document["bounds"]:
        paid = Fraction(int(route["amountOut"]))
        if bound["kind"] == "afterGas":
            paid -= Fraction(gas["unitValue"]) * route["gasUnits"]
        largest = max(Fraction(leaf["bound"]) for leaf in bound["leaves"])
        assert Fraction(bound["bound"]) >= max(largest, paid)
        gap = (Fraction(bound["bound"]) / paid - 1) * 10_000
        assert gap <= Fraction(bound["gapBps"]) <= gap + Fraction(1, 10**6)


def test_a_bound_that_says_nothing_is_in_no_proof() -> None:
    """Where the prices of a proof net of gas run away, it has no such bound, as the certificate has none."""
    order = ("0xee8c0e9f1bffb4eb878d8f15f368a02a35481242", "0x8498312a6b3cbd158bf0c93abdcf29e6e4f55081", 10**21)
    with Market.embedded("monad") as market:
        quote = market.quote(*order, gas_price="1gwei", proof=True)
    document = cast("Document", json.loads(quote.proof().to_json()))
    for bound in document["bounds"]:
        assert 0 <= Fraction(bound["gapBps"]) < 10**6
    kinds = {bound["kind"] for bound in document["bounds"]}
    assert ("afterGas" in kinds) == (quote.document()["certificate"]["afterGasBound"] is not None)


def check_sums(document: Document) -> None:
    found = list(sums(document))
    assert {kind for kind, *_ in found} == {bound["kind"] for bound in document["bounds"]}
    for _, bound, total in found:
        assert total <= bound or bound >= int(document["route"]["amountOut"])
        assert (
            bound <= max(total * (1 + Fraction(1, 10**20)), Fraction(int(document["route"]["amountOut"]))) or total < 0
        )


@given(seeds, amounts, gas_prices, st.sampled_from([0.8, 3, 30]))
def test_no_pool_gains_more_than_its_term(seed: int, amount: int, gas_price_wei: int, noise: float) -> None:
    """By the formula of a constant-product pool; one without a term gains nothing, or no more than its gas."""
    document = document_of(build_random_market(seed, noise=noise), amount, gas_price_wei)
    unit, (sold, bought) = Fraction(document["gas"]["unitValue"]), pair_of(document)
    for bound in document["bounds"]:
        is_net = bound["kind"] == "afterGas"
        rows = bound["limits"]["tokens"] if is_net else []
        limits = {sold: Fraction(int(document["route"]["amountIn"]))}
        for token, limit, _ in rows:
            limits[token] = min(limits.get(token, Fraction(limit)), Fraction(limit))
        left_out = {tuple(each) for each in (document["scope"]["dust"] if is_net else bound["excluded"])}
        for leaf in bound["leaves"]:
            prices = [Fraction(price or 0) for price in leaf["prices"]]
            rates = hop_rates(document, bound, leaf) if is_net else {}
            hops = document["scope"]["maxHops"]
            terms = {tuple(term[:3]): Fraction(term[6]) for term in leaf["terms"]}
            unused = {tuple(each) for each in leaf["unused"]}
            for direction in directions(document):
                number, token_in, token_out = direction
                pool = document["pools"][number]
                if pool["family"] != "constant_product" or direction in left_out or direction in unused:
                    continue
                if is_net and (token_out == sold or token_in == bought or token_in not in limits):
                    continue
                limit = limits[token_in] if is_net else None
                claim = terms.get(direction, unit * pool["gas"] if is_net else Fraction(0))
                if not is_net:
                    assert least_gain(pool, direction, prices, limit) <= claim
                elif (token_in, token_out) in rates:
                    paid = {token_in: Fraction(rates[token_in, token_out]), token_out: Fraction(1)}
                    passed = [*dict.fromkeys((sold, token_in)), token_out]
                    value = best_product(rates, passed, bought, hops - len(passed) + 1, leaf["before"])
                    gain = float(least_gain(pool, direction, paid, limit)) * value
                    assert gain <= claim * (1 + Fraction(1, 10**9)) + Fraction(1, 10**9)


def pair_of(document: Document) -> tuple[int, int]:
    return document["order"]["tokenIn"], document["order"]["tokenOut"]


@given(seeds, st.sampled_from([10**9, 10**11, 10**13]))
@settings(max_examples=20)
def test_the_leaves_cover_every_choice_of_pools(seed: int, gas_price_wei: int) -> None:
    document = document_of(build_random_market(seed, noise=3, every_family=True), 10**20, gas_price_wei)
    assume(any(bound["kind"] == "afterGas" for bound in document["bounds"]))
    every, rng = list(directions(document)), random.Random(seed)
    for share in (0.0, 0.1, 0.5, 0.9, 1.0):
        for _ in range(5):
            order = rng.sample(range(len(document["tokens"])), len(document["tokens"]))
            assert covers(document, {each for each in every if rng.random() < share}, order)
    steps = document["route"]["steps"]
    order = [pair_of(document)[0]] + [step["tokenOut"] for step in steps]
    order = [*reversed(dict.fromkeys(reversed(order)))]
    order += [token for token in range(len(document["tokens"])) if token not in order]
    assert covers(document, {(step["pool"], step["tokenIn"], step["tokenOut"]) for step in steps}, order)


@pytest.mark.slow
@given(seeds, amounts, gas_prices)
def test_the_certificate_states_the_bounds_of_its_proof(seed: int, amount: int, gas_price_wei: int) -> None:
    """Whether it is kept or not: the proof is what the figures come from."""
    market = SearchableMarket(build_random_market(seed, noise=3, every_family=True), SYSTEM_CLOCK)
    order = build_order(market.market, 0, 1, amount)
    plain = QuoteRequest(order, ApiVersion.V2, gas_price_wei=gas_price_wei, certify=True)
    try:
        certified, proven = (quote_locally(market, plain._replace(proof=proof)).quote for proof in (False, True))
    except NoRoute:
        assume(False)
    assert certified.witness is None
    assert certified.certificate == proven.certificate
    assert proven.certificate is not None
    assert proven.witness is not None
    stated = {each.kind.value: Fraction(each.bound) for each in proven.witness.bounds}
    figures = {"output": proven.certificate.bound, "acyclic": proven.certificate.acyclic_bound}
    for kind, figure in figures.items():
        bound = stated.get(kind, stated["output"])
        assert bound <= Fraction(repr(figure)) <= bound * (1 + Fraction(1, 10**15))


def test_a_proof_lists_the_pools_and_the_hash_of_their_state(documents: list[Document]) -> None:
    for document in documents:
        pools = document["pools"]
        text = json.dumps(pools, sort_keys=True, separators=(",", ":"))
        assert document["scope"]["stateHash"] == sha256(text.encode()).hexdigest()
        assert document["scope"]["pools"] == len(pools) == 220
        assert [each["address"] for each in document["tokens"]] == sorted(
            each["address"] for each in document["tokens"]
        )
        route, steps = document["route"], document["route"]["steps"]
        sold, bought = pair_of(document)
        assert sum(int(step["amountIn"]) for step in steps if step["tokenIn"] == sold) == int(route["amountIn"])
        assert sum(int(step["amountOut"]) for step in steps if step["tokenOut"] == bought) == int(route["amountOut"])


def test_equal_quotes_have_equal_bytes(tmp_path: Path, documents: list[Document]) -> None:
    for number, order in enumerate(ORDERS):
        with Market.embedded("base") as market:
            quote = market.quote(*order, proof=True)
        plain, packed = tmp_path / f"{number}.json", tmp_path / f"{number}.json.gz"
        quote.proof().write(str(plain))
        quote.proof().write(str(packed))
        assert json.loads(plain.read_bytes()) == documents[number]
        assert gzip.decompress(packed.read_bytes()) == plain.read_bytes()
        again = tmp_path / "again.json.gz"
        pickle.loads(pickle.dumps(quote)).proof().write(str(again))
        assert again.read_bytes() == packed.read_bytes()
        assert packed.stat().st_size < MAX_COMPRESSED
        assert packed.read_bytes()[4:8] == bytes(4), "no time of writing"


def test_a_proof_conforms_to_its_schema(documents: list[Document]) -> None:
    validator = Draft202012Validator(schema("proof").document())
    for document in documents:
        validator.validate(document)


def test_a_quote_names_the_file_of_its_proof(tmp_path: Path) -> None:
    with Market.embedded("base") as market:
        quote = market.quote("ETH", "USDC", "1", proof=True)
        comparison = market.compare("ETH", "USDC", "1", proof=True)
    assert quote.certificate is not None
    assert "proofFile" not in quote.document()
    written = quote.write_proof(str(tmp_path / "quote.json"))
    assert written.amount_out == quote.amount_out
    assert written.document()["proofFile"] == str(tmp_path / "quote.json")
    compared = comparison.write_proof(str(tmp_path / "compare.json")).document()
    assert compared["proofFile"] == str(tmp_path / "compare.json")
    assert compared["certificate"] == quote.document()["certificate"]
    assert (tmp_path / "compare.json").read_bytes() == (tmp_path / "quote.json").read_bytes()


def test_only_quotes_that_were_requested_with_a_proof_have_one() -> None:
    with Market.embedded("base") as market:
        for options in ({}, {"certify": True}):
            with pytest.raises(NoProof, match="without a proof"):
                market.quote("ETH", "USDC", "1", **options).proof()  # type: ignore[arg-type]


def test_a_wrap_needs_no_proof() -> None:
    with Market.embedded("base") as market, pytest.raises(NoProof, match="one to one"):
        market.quote("ETH", "WETH", "1", proof=True).proof()


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("", "the file name is empty"),
        ("/nonexistent/proof.json", "cannot write"),
        ("/proc/nonexistent.json.gz", "cannot write"),
    ],
)
def test_a_file_that_cannot_be_written_is_an_error(name: str, problem: str) -> None:
    with Market.embedded("base") as market:
        proof = market.quote("ETH", "USDC", "1", proof=True).proof()
    with pytest.raises((InvalidInput, InputOutputError), match=problem):
        proof.write(name)


def test_a_bound_of_routes_without_cycles_counts_all_that_they_may_use() -> None:
    """The search breaks cycles where its own flow has them; another route may use what it left out."""
    with Market.embedded("hyperevm") as market:
        document = market.quote("HYPE", "UBTC", "5000", gas_price=500 * 10**9, proof=True).proof().document()
    ends = document["order"]["tokenIn"], document["order"]["tokenOut"]
    excluded = [row for bound in document["bounds"] for row in bound.get("excluded", ())]
    assert all(token_out == ends[0] or token_in == ends[1] for _, token_in, token_out in excluded)
