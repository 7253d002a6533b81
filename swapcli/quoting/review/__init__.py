"""Payloads beside a fresh quote of the same order: what they say, whether they are right, and what was mined."""

PUBLIC = (
    "contract_codes", "decoded_replay", "document_review", "payload_checker", "payload_input", "payload_review",
    "swap_rehearsal", "transaction_verification", "verdict",
)  # fmt: skip
