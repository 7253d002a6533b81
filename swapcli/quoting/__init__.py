"""What answers an order: sources of quotes, and the figures, warnings and documents of their answers.

`compose` opens the sources that the settings of `config` name; `sources` quote, each from other pools: in memory, in a
store, read from a node, or of a `remote` service; `followers` keep markets in memory at the newest block.
`quote_results` has their answers, `review` compares payloads with them, and `market` is the public interface of it all
for programs.
"""
