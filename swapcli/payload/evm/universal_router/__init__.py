"""Calls of Uniswap's Universal Router: the commands that it reads, and the plan that makes them from a route."""

PUBLIC = ("commands", "plan")
