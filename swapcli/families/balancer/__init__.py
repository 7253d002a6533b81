"""Pools of Balancer's second and third vaults: weighted, stable, composable, boosted, and Gyroscope pools."""

PUBLIC = ()
