"""How good and how fast are quotes of users' orders, compared with other revisions?"""
