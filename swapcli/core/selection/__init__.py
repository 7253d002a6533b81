"""Choose the few pools of a large market that an order can use. Nothing here reads a file or a database.

`select_pools` is the entry. It asks a `RankingReader` for rows; `candidate_pairs` chooses tokens and pairs of tokens,
`select_by_flow` chooses among the pools of those pairs. `depth_ranking` computes the figures that the rows hold.
"""

PUBLIC = ("depth_ranking", "ranking_reader", "select_pools")
