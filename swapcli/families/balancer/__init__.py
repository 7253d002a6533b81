"""Pools of Balancer's second and third vault: weighted, stable, composable, boosted, and Gyroscope's."""

PUBLIC = ()
