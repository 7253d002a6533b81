"""The fields of a transaction that only a node can provide before it is signed: nonce, gas and fees."""

PUBLIC = ("account_fee", "deadlines", "signing_fields", "signing_limits", "signing_values")
