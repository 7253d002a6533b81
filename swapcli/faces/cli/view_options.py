"""The options of `swapcli route` that choose how to show the route."""

# No `from __future__ import annotations`: see `swapcli.startup`.

from typing import Annotated

from swapcli import InvalidOption
from swapcli.core.encoding.text import printable
from swapcli.core.records import NamedTuple
from swapcli.faces.cli.options import OUTPUT, Verbose, option
from swapcli.faces.cli.output import Output, OutputFormat
from swapcli.faces.cli.render.route_layout import RouteShape


class ViewOptions(NamedTuple):
    """Options for the shape of the route as text, and for how much of it to show."""

    view: Annotated[
        str | None, option("--view", "Layout of the route.  [default: table]", OUTPUT, "|".join(RouteShape))
    ] = None
    verbose: Verbose = False

    @property
    def shape(self) -> RouteShape:
        """The shape of the route. Raises `InvalidOption`."""
        if self.view is None:
            return RouteShape.TABLE
        if self.view not in tuple(RouteShape):
            names = ", ".join(RouteShape)
            raise InvalidOption(
                f'--view: no view "{printable(self.view)}"', hint=f"views: {names}", details={"option": "--view"}
            )
        return RouteShape(self.view)

    def check(self, output: Output) -> None:
        """Raise `InvalidOption` for an unknown view, and for a view with a format that is not text."""
        _ = self.shape
        if self.view is None or output.is_for_people:
            return
        other, hint = f"--format {output.format}", "remove one of them"
        if output.fields is not None:
            other = "--get"
        elif output.format is OutputFormat.JSON:
            other, hint = "JSON", "remove one of them; --format table overrides JSON in the settings"
        raise InvalidOption(f"--view cannot be combined with {other}", hint=hint)
