"""Tests mirror the program: what `swapcli/a/b/name.py` does is tested in `tests/a/b/test_name.py`.

Modules that only have records, constants and accessors have no behaviour to test. The others that have no test of their
own are listed with what tests them instead; the list may only become shorter.
"""

from __future__ import annotations

import ast
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "swapcli"
TESTS = Path(__file__).parent

NO_TEST_OF_ITS_OWN: dict[str, tuple[str, str]] = {
    "core": (
        "tests/chain/test_wrapping.py and the tests of quotes",
        "wrap",
    ),
    "core/encoding": (
        "the callers: requests of nodes and payloads",
        "abi fastlz",
    ),
    "core/model": (
        "records whose few methods the tests of routing, payloads and the interface use",
        "decoded_call depth execution market order pool quote route_result router_dialect router_variant "
        "state_source transaction transfer_behaviour written_amount",
    ),
    "core/networks": (
        "test_definition.py and test_catalogue.py read every definition through them",
        "definition_fields definition_files explorer name_services",
    ),
    "families": (
        "the tests of the families that share them, against the contracts",
        "hull_curve infinity_key",
    ),
    "families/balancer": (
        "test_balancer_pools.py and test_balancer_v3_gyro.py: laws, and recorded swaps of the contracts",
        "balancer_pool balancer_stable_math balancer_v2_composable balancer_v2_vault balancer_v3 "
        "balancer_v3_2clp balancer_v3_eclp balancer_v3_reclamm eclp_curve eclp_math eclp_pool surge_curve "
        "virtual_balance_curve",
    ),
    "families/bins": (
        "test_infinity_bin.py and test_liquidity_book.py: laws, and recorded swaps of the contracts",
        "bin_curve bin_math bin_state bin_swap volatility_fee",
    ),
    "families/curve": (
        "test_stableswap.py, test_curve_meta.py and test_cryptoswap.py: recorded swaps of the contracts",
        "cryptoswap_curve cryptoswap_math stableswap_liquidity stableswap_math",
    ),
    "families/dodo": (
        "test_dodo_v2.py: recorded swaps of the contracts, and laws",
        "dodo_curve dodo_math",
    ),
    "families/fixed_rate": (
        "test_fixed_rates.py: laws that hold of all three families",
        "fixed_rate_curve",
    ),
    "families/fluid": (
        "test_fluid_t1.py: recorded swaps of the contract",
        "fluid_curve",
    ),
    "families/iziswap": (
        "test_iziswap.py: recorded swaps of the contracts, and laws",
        "iziswap_curve iziswap_math",
    ),
    "families/sampled": (
        "tests of the family and test_curves.py",
        "sampled_curve",
    ),
    "families/smardex": (
        "test_smardex.py: recorded swaps of the contract, and laws",
        "two_part_curve",
    ),
    "families/valantis": (
        "test_valantis_stex.py: recorded swaps of the contracts, and laws",
        "stex_fee",
    ),
    "core/routing": (
        "test_router.py and the properties beside it, by the certificate and the replay",
        "broken_pools least_input market_index",
    ),
    "core/routing/graph": (
        "the search's tests, by the certificate",
        "best_paths digraph widest_path_prices",
    ),
    "core/routing/search": (
        "test_router.py and the properties beside it, by the certificate and the replay",
        "candidate_rounding candidate_routes problem scored_route warm_search",
    ),
    "core/routing/solver": (
        "the other tests of the solver",
        "dual",
    ),
    "core/selection": (
        "test_select_pools.py: selected markets quote as whole ones",
        "candidate_pairs depth_ranking",
    ),
    "core/validation": (
        "the readers of documents, each with its tests of malformed fields",
        "field_reader values",
    ),
    "faces/cli": (
        "the tests of commands, which run the program",
        "account_options balance_amounts confirmation errors garbage_collection help_topics lazy_group "
        "options output overview payload_checker payload_output permits picture_options quote_context "
        "session typer_root",
    ),
    "faces/cli/commands": (
        "tests of commands that have the name of more than one, which run the program",
        "completion execute help",
    ),
    "faces/cli/commands/compare": (
        "test_compare.py runs the command",
        "view",
    ),
    "faces/cli/commands/decode": (
        "test_decode.py runs the command",
        "view",
    ),
    "faces/cli/commands/depth": (
        "test_depth.py runs the command",
        "view",
    ),
    "faces/cli/commands/health": (
        "test_health.py runs the command",
        "view",
    ),
    "faces/cli/commands/route": (
        "test_route.py and test_batch.py run the command",
        "batch_continuity batch_options batch_results watch watch_view",
    ),
    "faces/cli/commands/serve": (
        "test_serve.py runs the command",
        "sources workers",
    ),
    "faces/cli/commands/sync": (
        "test_sync.py and test_refusals.py run the command",
        "progress",
    ),
    "faces/cli/commands/verify": (
        "tests/state/mined/test_swap_verification.py runs the command on a node",
        "document view",
    ),
    "faces/cli/completion": (
        "test_completion.py asks real shells",
        "names packaged_tokens setting_facts settings_reader shell_scripts",
    ),
    "faces/cli/render": (
        "the snapshots of test_render.py, and test_columns.py at every width",
        "list_view node_view payload_json payload_view plain pool_and_price_views quote_facts route_view "
        "simulation_view state_wording store_view terminal_tables",
    ),
    "faces/cli/tools": (
        "test_mcp.py and test_schema.py of the commands, and tests/chain/test_mcp_tools.py, over every tool",
        "answers caller command_process schemas swap_check tool_table",
    ),
    "faces/service": (
        "the tests of the endpoints, which ask a running service",
        "access_policy app asgi_handlers endpoint_messages endpoint_table examples health_checks key_file "
        "market_registry operations_pages parent_channel readiness shared_listener shared_memory "
        "shared_pool_stores",
    ),
    "interface": (
        "the parsers and renderers that share them, and the OpenAPI document",
        "integrators json_schemas quote_fields request_parameters segments",
    ),
    "payload": (
        "tests/chain/test_permit_commands.py and test_router_variant_commands.py on a node",
        "payloads_by_variant permits variant_memory",
    ),
    "payload/checks": (
        "test_presign_checks.py on a node",
        "payments",
    ),
    "payload/decode": (
        "test_documents.py, and test_decode.py, test_document.py and test_messages.py of the command",
        "decode_payload envelopes foreign_content given_transaction message_requests printed_forms shell_grammar"
        " signed_orders transaction_fields transaction_list typed_messages",
    ),
    "payload/evm": (
        "test_router_params.py and test_fibrous_calldata.py: what a router pays for the calldata",
        "permit2_allowance typed_data unsigned_transaction wrapped_native",
    ),
    "payload/evm/decoding": (
        "test_decode.py, with payloads of every dialect, and test_settler_executions.py",
        "basic_calls router_ledger settler universal_router",
    ),
    "payload/evm/dialects": (
        "tests/payload/test_dialects.py and the router's tests",
        "fibrous",
    ),
    "payload/evm/universal_router": (
        "tests of the dialect against a model and the real contract",
        "commands",
    ),
    "payload/review": (
        "the command decode, whose tests change payloads one by one",
        "contract_codes decoded_replay reviewed_payload route_differences",
    ),
    "payload/signing": (
        "test_signing_values.py on a node",
        "signing_fields",
    ),
    "payload/simulation": (
        "test_presign_checks.py and test_rehearsal.py on a node",
        "allowance_probe rehearsal sender_balances",
    ),
    "payload/starknet": (
        "recorded vectors of calls",
        "decode_felts dialect",
    ),
    "payload/verdict": (
        "tests/chain/test_verdict_commands.py",
        "verdict_document verdict_outcomes",
    ),
    "quoting": (
        "tests of the library's public functions",
        "permits pool_liquidity quote_change quote_options quote_results route_document slippage_advice token_prices",
    ),
    "quoting/config": (
        "test_loader.py and test_value_types.py, over every setting",
        "settings",
    ),
    "quoting/openers": (
        "the tests of commands and of the library that open sources by them",
        "account_names check_nodes pool_sources program_setup user_setup",
    ),
    "quoting/pictures": (
        "the snapshots of test_svg.py, and a real browser",
        "depth_chart mermaid route_flow route_words",
    ),
    "quoting/remote": (
        "the client's tests against a real service",
        "transport_errors url_document",
    ),
    "quoting/review": (
        "the tests of decode and of checked payloads",
        "document_review fresh_quote node_warnings presign_checker verdict",
    ),
    "quoting/sources": (
        "the tests of the sources that share them, each against the chain",
        "freshness in_memory live_reading market_prices probed_transfers public quote_source "
        "requote_sampled_pools sampled_markets",
    ),
    "quoting/verification": (
        "tests/state/mined/test_swap_verification.py on a node",
        "transaction_verification",
    ),
    "state": (
        "tests of live quotes on a chain",
        "snapshot_reader",
    ),
    "state/feed": (
        "tests/quoting/followers: publisher and followers with a real Redis",
        "counters feed_stream publisher token_index",
    ),
    "state/markets": (
        "test_format.py and test_format_errors.py, field by field",
        "address_field fields network_field pools_field tokens_field",
    ),
    "state/mined": (
        "test_swap_verification.py on a node",
        "swap_events swapped_pools",
    ),
    "state/readers": (
        "the readers of the families, which all use them",
        "factory_contract infinity_key manager_storage pool_constants pool_ref pool_ref_text",
    ),
    "state/readers/bins": (
        "test_liquidity_book.py and test_infinity_cl.py, on contracts",
        "infinity_bin",
    ),
    "state/readers/ekubo": (
        "test_ekubo.py and test_twamm.py",
        "core_calls",
    ),
    "state/readers/fixed_rate": (
        "test_fixed_rate_readers.py, on recorded answers",
        "bridge psm vault",
    ),
    "state/readers/sampled": (
        "test_sampled_pools.py",
        "sampled sampled_discovery",
    ),
    "state/readers/solidly": (
        "test_solidly.py, and tests/families/reading/ekubo for the forks of Starknet",
        "factory_fee_pairs sithswap solidly_v1 starkdefi",
    ),
    "state/readers/uniswap": (
        "test_uniswap_v3.py, test_infinity_cl.py and the end-to-end tests of forks",
        "algebra jediswap jediswap_cl ramses_v3 solidly_v3 tenkswap uniswap_v4",
    ),
    "state/rpc": (
        "test_rpc_node.py, test_public_nodes.py and the tests of failing nodes",
        "connect_nodes failover json_rpc_client load_sharing network_reachability node node_race "
        "node_records nodes_by_kind",
    ),
    "state/store": (
        "test_store.py, test_ranking_updates.py and the tests of sync",
        "block_writer database documents network_record past_states ranking_queries rows schema summary",
    ),
    "state/sync": (
        "the tests of follow and discover on a chain",
        "advance pools_with_unknown_events skipped transfer_checks",
    ),
    "state/transfers": (
        "test_transfer_trials.py on a node",
        "token_slots",
    ),
}
"""By folder: what tests these modules instead, and their names."""

MIN_MIRRORED_PERCENT = 62
"""Of the modules with behaviour, those with a test of their own: raise it when it has risen."""


def is_accessor(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Return whether the function does no more than return a value that exists, as members of a protocol do."""
    match [each for each in function.body if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))]:
        case [] | [ast.Pass()] | [ast.Raise()] | [ast.Return(value=None)]:
            return True
        case [ast.Return(value=value)]:
            while isinstance(value, ast.Attribute | ast.Subscript):
                value = value.value
            return isinstance(value, ast.Name | ast.Constant)
    return False


def has_behaviour(file: Path) -> bool:
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return any(isinstance(node, functions) and not is_accessor(node) for node in ast.walk(ast.parse(file.read_text())))


def is_mirrored(module: Path) -> bool:
    return (TESTS / module.parent / f"test_{module.stem}.py").exists()


MODULES = [
    file.relative_to(PACKAGE)
    for file in sorted(PACKAGE.rglob("*.py"))
    if not file.name.startswith("__") and has_behaviour(file)
]
"""The modules with behaviour, below `swapcli`."""


def test_a_module_has_a_test_of_its_own_or_a_reason() -> None:
    listed = {Path(folder, f"{name}.py") for folder, (_, names) in NO_TEST_OF_ITS_OWN.items() for name in names.split()}
    without = {each for each in MODULES if not is_mirrored(each)}
    assert without - listed == set(), "write a test at the path of the module"
    assert listed - without == set(), "the list only becomes shorter"


def test_the_share_of_mirrored_modules_only_rises() -> None:
    percent = 100 * sum(map(is_mirrored, MODULES)) // len(MODULES)
    assert percent >= MIN_MIRRORED_PERCENT
    assert percent <= MIN_MIRRORED_PERCENT + 5, "raise MIN_MIRRORED_PERCENT"
