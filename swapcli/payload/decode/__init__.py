"""The forms in which a user gives what is to be signed: calldata, documents, transactions of wallets and shells."""

PUBLIC = ("decode_payload", "documents", "given_transaction", "quantities", "shell_grammar", "transaction_list")
