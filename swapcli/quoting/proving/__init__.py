"""Check quotes, payloads, mined swaps, offers and certificates on the user's machine, and write a report.

`prove` runs the stages. Each stage yields items: a match, a difference, or a check that could not be made, with the
reason. `journal` keeps finished items in a folder, and `report_page` renders the report as a page.
"""

PUBLIC = ("proof_item", "prove", "prove_report")
