"""Stand-ins for the `typing` names that the core uses in annotations. Not importing `typing` saves 3 ms at import.

Type checkers see the real `typing` names. At run time the stand-ins have no meaning, because every module that uses
them has `from __future__ import annotations`, so no annotation is evaluated.
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
