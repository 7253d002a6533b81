"""A run that checks quotes, payloads, mined swaps, offers and certificates on the user's machine, and its report.

`prove` runs the stages, each of which yields items: a match, a difference, or what could not be checked and why.
`journal` keeps finished items in a folder, and `report_page` writes the report that a person reads.
"""

PUBLIC = ("proof_item", "prove", "prove_report")
