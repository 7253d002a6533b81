"""Payloads beside a fresh quote of the same order: what they say, whether they are right, and what was mined."""

PUBLIC = ("document_review", "payload_checker", "payload_review", "transaction_verification", "verdict")
