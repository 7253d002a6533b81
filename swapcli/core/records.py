"""A `NamedTuple` whose classes are created in a twentieth of the standard library's time.

A quote of a few milliseconds imports about ninety such classes. The standard library generates source text for each and
compiles it. Here the constructors of all records with the same number of fields share one compiled function, with
different parameter names, and they share all other methods. Otherwise records behave like the standard library's named
tuples, and type checkers cannot tell them apart.
"""

from __future__ import annotations

import sys
from _collections import _tuplegetter  # type: ignore[import-not-found]  # of CPython and PyPy
from functools import cache
from types import FunctionType, MappingProxyType

TYPE_CHECKING = False  # importing it from `typing` would take milliseconds that nothing else needs
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from types import CodeType
    from typing import Any, Self, TypeVar
    from typing import NamedTuple as NamedTuple

    RecordClass = TypeVar("RecordClass", bound=type[Any])


class _Record(tuple):  # type: ignore[type-arg]
    """The methods that all named tuples share."""

    __slots__ = ()
    if TYPE_CHECKING:  # at run time they would be among the type hints of each record
        _fields: tuple[str, ...]

    @classmethod
    def _make(cls, values: Iterable[Any]) -> Self:
        record = tuple.__new__(cls, values)
        if len(record) != len(cls._fields):
            raise TypeError(f"expected {len(cls._fields)} values of {cls.__name__}, not {len(record)}")
        return record

    def _replace(self, **changes: Any) -> Self:
        record = self._make(map(changes.pop, self._fields, self))
        if changes:
            raise ValueError(f"{type(self).__name__} has no field {', '.join(changes)}")
        return record

    def _asdict(self) -> dict[str, Any]:
        return dict(zip(self._fields, self, strict=True))

    def __repr__(self) -> str:
        values = (f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
        return f"{type(self).__name__}({', '.join(values)})"

    def __getnewargs__(self) -> tuple[Any, ...]:
        # Pickles and copies use plain dictionaries: a proxy can be neither pickled nor copied.
        return tuple(dict(value) if type(value) is MappingProxyType else value for value in self)

    __replace__ = _replace


class _NamedTupleMeta(type):
    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> Any:
        """Return the tuple class for a record's class statement."""
        annotations = annotations_of(namespace)
        names, defaults = tuple(annotations), {each: namespace.pop(each) for each in annotations if each in namespace}
        if names[len(names) - len(defaults) :] != tuple(defaults):
            raise TypeError(f"a field of {name} without a default follows one with a default")
        code = _constructor_code(len(names)).replace(co_varnames=("_cls", *names))
        constructor = FunctionType(code, _GLOBALS_OF_CONSTRUCTORS)
        constructor.__qualname__ = f"{name}.__new__"
        constructor.__defaults__ = tuple(defaults.values())
        constructor.__annotations__ = annotations
        namespace |= {each: _tuplegetter(index, None) for index, each in enumerate(names)}
        namespace |= {
            "__slots__": (),
            "__new__": constructor,
            "__match_args__": names,
            "__annotations__": annotations,
            "_fields": names,
            "_field_defaults": defaults,
        }
        return type(name, tuple(_Record if base is _NamedTuple else base for base in bases), namespace)


_NamedTuple = type.__new__(_NamedTupleMeta, "_NamedTuple", (), {})

_GLOBALS_OF_CONSTRUCTORS = {"tuple_new": tuple.__new__, "__builtins__": {}}


@cache
def _constructor_code(count: int) -> CodeType:
    """Return the code of a constructor with this number of fields.

    Each class gets a copy with its own parameter names.
    """
    names = "".join(f", _{index}" for index in range(count))
    return code_of(f"lambda _cls{names}: tuple_new(_cls, ({names[2:]}{',' if count else ''}))", "__new__")


def code_of(source: str, name: str) -> CodeType:
    """Return the code of a lambda expression, for a function called `name`.

    The first `compile` in a process creates the classes of all syntax nodes, which takes as long as importing ten
    modules.
    """
    code: CodeType = eval(source).__code__
    return code.replace(co_name=name, co_filename="<record>")


def annotations_of(namespace: Mapping[str, Any]) -> dict[str, Any]:
    """Return the annotations in the body of a class."""
    if sys.version_info >= (3, 14) and "__annotations__" not in namespace:
        if not namespace.keys() & {"__annotate__", "__annotate_func__"}:
            return {}  # `annotationlib` is slow to import
        from annotationlib import Format, call_annotate_function, get_annotate_from_class_namespace

        annotate = get_annotate_from_class_namespace(namespace)
        return call_annotate_function(annotate, Format.FORWARDREF) if annotate else {}
    return dict(namespace.get("__annotations__", {}))


if not TYPE_CHECKING:
    NamedTuple = _NamedTuple


def extend_record(record: RecordClass, fields: Mapping[str, tuple[Any, Any]]) -> RecordClass:
    """Return the record class with the given `fields`: annotations and defaults by name."""
    namespace = {
        "__module__": record.__module__,
        "__qualname__": record.__qualname__,
        "__doc__": record.__doc__,
        "__annotations__": {name: annotation for name, (annotation, _) in fields.items()},
    }
    defaults = {name: default for name, (_, default) in fields.items()}
    extended: RecordClass = _NamedTupleMeta(record.__name__, (_NamedTuple,), namespace | defaults)
    return extended
