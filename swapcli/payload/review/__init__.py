"""Compare a given payload with known facts: each module answers one question with warnings."""

PUBLIC = (
    "amount_warnings", "approval_warnings", "call_warnings", "contract_codes", "deadline_warnings", "decoded_replay",
    "fee_warnings", "message_warnings", "order_warnings", "review_verdict", "reviewed_payload", "route_differences",
    "route_warnings", "transaction_warnings", "unchecked_facts",
)  # fmt: skip
