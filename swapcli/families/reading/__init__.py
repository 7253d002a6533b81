"""The code that pool readers share. `pool_readers` calls a reader, which turns a `PoolRef` into a pool."""

PUBLIC = (
    "block_time", "build_pool", "call_encoding", "calls", "contract_kinds", "factory_contract",
    "infinity_pool_creation", "l1_fee_params", "l1_gas", "lockstep_reads", "logs_bloom", "manager_storage",
    "pool_change_events", "pool_readers", "pool_ref", "pool_ref_text", "share_price", "starknet_calls", "tick_bitmap",
    "views",
)  # fmt: skip
