"""What a payload that somebody gave says, beside what is known: each module asks one question, and warns."""

PUBLIC = (
    "amount_warnings", "approval_warnings", "call_warnings", "contract_codes", "decoded_replay", "order_warnings",
    "reviewed_payload", "route_warnings",
)  # fmt: skip
