"""The options of `swapcli route` that choose how the route is shown: another view, or a picture."""

# No `from __future__ import annotations`: see `swapcli.startup`.

from typing import Annotated

from swapcli import InvalidOption
from swapcli.core.encoding.text import printable
from swapcli.core.records import NamedTuple
from swapcli.faces.cli.command_app import UsageError
from swapcli.faces.cli.files import STDIN as STDOUT
from swapcli.faces.cli.options import OUTPUT, option
from swapcli.faces.cli.output import Output, OutputFormat
from swapcli.faces.cli.render.route_layout import RouteShape

_SHAPES = "|".join(RouteShape)


SvgWidth = Annotated[
    str | None, option("--svg-width", "Width of the picture in pixels.  [default: 720]", OUTPUT, "PIXELS")
]


class PictureOptions(NamedTuple):
    """How the route is shown besides as a table or JSON."""

    view: Annotated[
        str | None, option("--view", "Show the route as a table, a tree or a line.  [default: table]", OUTPUT, _SHAPES)
    ] = None
    svg: Annotated[
        str | None, option("--svg", "Also draw the route to this file; - draws to stdout only.", OUTPUT, "FILE")
    ] = None
    svg_width: SvgWidth = None
    full: Annotated[bool, option("--full", "On a terminal too, show all paths and whole pool ids.", OUTPUT)] = False
    mermaid: Annotated[bool, option("--mermaid", "Print the route as a Mermaid flowchart.", OUTPUT)] = False

    def for_file(self, output_file: str | None) -> "PictureOptions":
        """Return the options for a file of `--output`, whose name may end as that of a picture."""
        if output_file is None or self.svg is not None or self.mermaid:
            return self
        from swapcli.faces.cli.output_file import picture_of_file

        match picture_of_file(output_file):
            case "svg":
                return self._replace(svg=STDOUT)
            case "mermaid":
                return self._replace(mermaid=True)
        return self

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

    @property
    def draws_to_stdout(self) -> bool:
        """Whether the picture takes the place of the text."""
        return self.svg == STDOUT

    def check(self, output: Output) -> None:
        """Raise an error for options that do not go together, or have invalid values."""
        _ = self.shape
        if self.svg is not None:
            from swapcli.faces.cli.output_file import check_svg_file

            check_svg_file(self.svg)
        if self.svg_width is not None:
            _ = self.width
        if self.svg is None and self.svg_width is not None:
            raise UsageError("--svg-width needs --svg")
        documents = {
            "--get" if output.fields is not None else "JSON": output.format is OutputFormat.JSON,
            "--view": self.view is not None,
            "--mermaid": self.mermaid,
            "--svg -": self.draws_to_stdout,
        }
        requested = [name for name, is_set in documents.items() if is_set]
        if len(requested) > 1:
            hint = "leave out one of them; --table overrides JSON in the settings" if "JSON" in requested else None
            raise InvalidOption(" and ".join(requested) + " cannot be combined", hint=hint or "leave out one of them")

    @property
    def width(self) -> int:
        """The width of the picture in pixels. Raises `InvalidOption`."""
        from swapcli.quoting.pictures.picture_width import parse_width

        return parse_width("--svg-width", self.svg_width)
