"""Calls to Uniswap's Universal Router: the commands that it accepts, and the plan that derives them from a route."""

PUBLIC = ("commands", "plan")
