"""Choose the few pools of a large market that an order can use. Nothing here reads a file or database.

`select_pools` is the entry point. It gets rows from a `RankingReader`; `candidate_pairs` chooses tokens and pairs of
tokens, and `select_by_flow` chooses among the pools of those pairs. `depth_ranking` computes the figures in the rows.
"""

PUBLIC = ("depth_ranking", "ranking_reader", "select_pools")
