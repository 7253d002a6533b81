"""What only a node knows of a transaction before it is signed: nonce, gas and fees."""

PUBLIC = ("account_fee", "deadlines", "signing_fields", "signing_limits", "signing_values")
