"""Read the input of swapcli decode: calldata, documents, wallet transactions and shell text."""

PUBLIC = ("decode_payload", "documents", "given_transaction", "quantities", "shell_grammar", "transaction_list")
