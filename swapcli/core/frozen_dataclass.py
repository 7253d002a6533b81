"""Frozen dataclasses with slots that import and compile nothing at startup.

To type checkers, `dataclass` and `replace` are the functions of the standard library, and the features implemented here
behave the same: the functions of `dataclasses` take these classes, and standard dataclasses may extend them.
`dataclasses` loads `inspect` and more, which takes a third of the time needed to import the whole core.
"""

from __future__ import annotations

from functools import cache
from operator import attrgetter
from types import FunctionType

from swapcli.core.annotations import TYPE_CHECKING
from swapcli.core.records import annotations_of, code_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import dataclass as dataclass
    from dataclasses import replace as replace
    from types import CodeType
    from typing import Any

_NO_DEFAULT = object()


def _decorate(**_: bool) -> Callable[[type[Any]], Any]:
    """Return the decorator. Its options are for type checkers only: `frozen` and `slots` are always on."""
    return _build


def _build(cls: type[Any]) -> Any:
    """Return the class of frozen records with slots that a class statement defines."""
    namespace = dict(vars(cls))
    own = [name for name, kind in annotations_of(namespace).items() if not str(kind).startswith("ClassVar")]
    fields = {name: default for base in reversed(cls.__mro__[1:]) for name, default in _fields_of(base).items()}
    inherited = set(fields)
    fields |= {name: namespace.pop(name, _NO_DEFAULT) for name in own}
    names, defaults = tuple(fields), tuple(each for each in fields.values() if each is not _NO_DEFAULT)
    if any(each is _NO_DEFAULT for each in [*fields.values()][len(names) - len(defaults) :]):
        raise TypeError(f"a field of {cls.__name__} without a default follows one with a default")
    for unneeded in ("__dict__", "__weakref__"):
        namespace.pop(unneeded, None)
    namespace["__slots__"] = tuple(name for name in own if name not in inherited)
    namespace["__match_args__"] = names
    namespace |= {"_values": attrgetter(*names)} | _STANDARD
    namespace = _METHODS | namespace
    metaclass: Any = type(cls)
    built: Any = metaclass(cls.__name__, cls.__bases__, namespace)
    code = _constructor_code(len(names), hasattr(built, "__post_init__")).replace(co_varnames=("self", *names))
    setters = {f"set_{index}": getattr(built, name).__set__ for index, name in enumerate(names)}
    built.__init__ = FunctionType(code, {**setters, "__builtins__": {}}, "__init__", defaults)
    built.__init__.__qualname__ = f"{built.__qualname__}.__init__"
    built.__init__.__annotations__ = {name: _annotation(built, name) for name in names} | {"return": None}
    _point_super_at(built)
    return built


def _point_super_at(built: type[Any]) -> None:
    """Make `super()` in methods find the built class: all methods share one cell, which holds the original class."""
    for member in vars(built).values():
        method = getattr(member, "__func__", None) or getattr(member, "fget", None) or member
        method = getattr(method, "__wrapped__", method)
        if "__class__" in (names := getattr(getattr(method, "__code__", None), "co_freevars", ())):
            method.__closure__[names.index("__class__")].cell_contents = built
            return


def _fields_of(cls: type[Any]) -> dict[str, object]:
    """Return the fields of a dataclass with their defaults; `{}` for any other class."""
    if "__match_args__" not in vars(cls):
        return {}
    names, defaults = cls.__match_args__, cls.__init__.__defaults__ or ()
    return dict(zip(names, (*[_NO_DEFAULT] * (len(names) - len(defaults)), *defaults), strict=True))


def _annotation(cls: type[Any], field: str) -> Any:
    return next(kinds[field] for base in cls.__mro__ if field in (kinds := annotations_of(vars(base))))


@cache
def _constructor_code(count: int, has_post_init: bool) -> CodeType:
    """Return the code of a constructor with this number of fields.

    Each class gets a copy with its own parameter names.
    """
    parameters = "".join(f", _{index}" for index in range(count))
    calls = [f"set_{index}(self, _{index})" for index in range(count)]
    calls += ["self.__post_init__()"] if has_post_init else []
    # Each call returns None.
    return code_of(f"lambda self{parameters}: {' or '.join(calls) or None}", "__init__")


class _Shared:
    """The methods of these classes. They are copied into each class, so no common base class is needed."""

    __match_args__: tuple[str, ...]
    _values: Callable[[Any], Any]

    def __eq__(self, other: object) -> Any:
        return self._values(self) == self._values(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self) -> int:
        return hash(self._values(self))

    def __repr__(self) -> str:
        shown = ", ".join([f"{name}={getattr(self, name)!r}" for name in self.__match_args__])
        return f"{type(self).__qualname__}({shown})"

    def __setattr__(self, name: str, value: object) -> None:
        _check_change("assign to", self, name)
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        _check_change("delete", self, name)
        object.__delattr__(self, name)

    def __getstate__(self) -> list[object]:
        return [getattr(self, name) for name in self.__match_args__]

    def __setstate__(self, state: list[object]) -> None:
        for name, value in zip(self.__match_args__, state, strict=True):
            object.__setattr__(self, name, value)

    def __replace__(self, /, **changes: Any) -> Any:
        return _replace(self, **changes)


def _check_change(verb: str, record: _Shared, name: str) -> None:
    if name in record.__match_args__:
        from dataclasses import FrozenInstanceError

        raise FrozenInstanceError(f"cannot {verb} field {name!r}")


def _replace(record: Any, /, **changes: Any) -> Any:
    """Return a copy of a record with changed fields. Raises `TypeError` for an unknown field."""
    return type(record)(**{name: getattr(record, name) for name in record.__match_args__} | changes)


class _Standard:
    """An attribute by which the standard library recognizes dataclasses, created on first use."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, _: object, cls: Any) -> Any:
        built = next(base for base in cls.__mro__ if "__match_args__" in vars(base))
        return getattr(_standard_class(built), self.name)


@cache
def _standard_class(cls: Any) -> type[Any]:
    """Return a standard dataclass with the same fields."""
    from dataclasses import field, make_dataclass

    fields = [
        (name, _annotation(cls, name), field() if default is _NO_DEFAULT else field(default=default))
        for name, default in _fields_of(cls).items()
    ]
    return make_dataclass(cls.__name__, fields, frozen=True)


_METHODS = {name: method for name, method in vars(_Shared).items() if callable(method)}
_STANDARD = {name: _Standard(name) for name in ("__dataclass_fields__", "__dataclass_params__")}

if not TYPE_CHECKING:
    dataclass, replace = _decorate, _replace
