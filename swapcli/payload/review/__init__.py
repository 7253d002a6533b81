"""What a payload that somebody gave says, beside what is known: each module asks one question, and warns."""

PUBLIC = (
    "amount_warnings", "approval_warnings", "call_warnings", "contract_codes", "decoded_replay", "fee_warnings",
    "message_warnings", "order_warnings", "review_verdict", "reviewed_payload", "route_differences",
    "route_warnings", "transaction_warnings", "unchecked_facts",
)  # fmt: skip
