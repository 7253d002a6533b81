"""Pictures of a route, drawn from its flow."""

PUBLIC = ("depth_chart", "frontier_chart", "mermaid", "picture_width", "route_flow", "spread_chart", "svg", "text")
