"""Sources of quotes, and the figures, warnings and documents of the resulting quotes.

`openers` open sources, markets and nodes as configured in `config`. `sources` quote on pools in memory, in a store or
read from a node, or let a `remote` service quote. `followers` keep markets in memory at the latest block.
`quote_results` defines the results, `review` compares payloads with them, and `verification` compares mined swaps with
them; `proving` runs all these checks and reports on them. `aggregators` requests offers from aggregators to compare
with, and `pictures` draws routes. `market` is the public interface for programs. `installed_plugins` finds the
extensions in other packages; importing this package registers it with `core`.
"""

from swapcli.core.plugins import set_plugin_source

TYPE_CHECKING = False  # importing it from `typing` would take milliseconds where nothing else needs it
if TYPE_CHECKING:
    from swapcli.core.plugins import PluginSource

PUBLIC = (
    "account_holdings", "aggregator_options", "alternatives", "amounts", "async_market", "backtest", "batch_line",
    "comparison", "config", "depth_result", "document_schemas", "followers", "health", "impact_measures",
    "live_choice", "many_quotes", "market", "network_check", "network_details", "network_editing", "network_health",
    "network_list", "open_market", "openers", "order_amount_values", "order_amounts", "order_keys", "ordered_answers",
    "permits", "pictures", "planning", "pool_listing", "prepared_payload", "price_policy", "proof", "proof_checker",
    "protocol_list", "proving", "public_venues", "quote_change", "quote_figures", "quote_options", "quote_results",
    "remote.url_document", "resolve", "review", "router_deployment", "slippage_advice", "slippage_measures",
    "sources.freshness", "sources.in_memory", "sources.local_quotes", "sources.public", "sources.quote_source",
    "sources.remote", "sources.state_confirmation", "stores", "swap_builder", "swap_check", "swap_quote", "syncing",
    "token_list", "token_prices", "user_settings", "verification", "warnings",
)  # fmt: skip


def _open_plugins() -> "PluginSource":
    from swapcli.quoting.installed_plugins import InstalledPlugins

    return InstalledPlugins()


set_plugin_source(_open_plugins)
