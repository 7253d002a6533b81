"""How good and how fast are quotes of users' orders, beside those of other revisions?"""
