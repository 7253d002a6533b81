"""The names of `typing` that the core uses in annotations. Without that library, the core is imported 3 ms faster.

To type checkers, these are the names of `typing`. At run time they mean nothing: modules that use them have `from
__future__ import annotations`, so no annotation is evaluated.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any as Any
    from typing import ClassVar as ClassVar
    from typing import Concatenate as Concatenate
    from typing import Final as Final
    from typing import NoReturn as NoReturn
    from typing import ParamSpec as ParamSpec
    from typing import Protocol as Protocol
    from typing import Self as Self
    from typing import TypeAlias as TypeAlias
    from typing import TypeVar as TypeVar
    from typing import cast as cast
else:
    Any = ClassVar = Concatenate = Final = NoReturn = Protocol = Self = TypeAlias = object

    def cast(_, value):
        return value

    def TypeVar(name, **_):  # noqa: N802 as in `typing`
        return name

    ParamSpec = TypeVar
