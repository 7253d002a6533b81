"""`NamedTuple` and frozen, slotted `dataclass` whose classes are created in a twentieth of the standard library's time.

A quote of a few milliseconds imports over a hundred such classes. The standard library generates source text for each
and compiles it, and the annotations as well. Here the constructors of all records with the same number of fields share
one compiled function, with other names of parameters, and the other methods are shared altogether. Otherwise records
behave as those of the standard library, whose `fields`, `replace` and `asdict` take these too. To type checkers they
are the same.
"""

from __future__ import annotations

import sys
from _collections import _tuplegetter  # type: ignore[import-not-found]  # of CPython and PyPy
from functools import cache
from operator import attrgetter
from types import FunctionType

TYPE_CHECKING = False  # importing it from `typing` would take milliseconds where nothing else needs it
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from dataclasses import dataclass as dataclass
    from dataclasses import field as field
    from dataclasses import fields as fields
    from dataclasses import replace as replace
    from types import CodeType
    from typing import Any, Never, Self, TypeVar
    from typing import NamedTuple as NamedTuple

    _T = TypeVar("_T")

_MISSING: Any = object()
_KEYWORDS_OF_FIELDS = ("default", "default_factory", "init", "repr", "compare", "metadata")


class Field:
    """A field of a dataclass, with the attributes of `dataclasses.Field` that are used here."""

    __slots__ = ("compare", "default", "default_factory", "init", "metadata", "name", "repr", "type")

    def __init__(
        self,
        *,
        default: Any = _MISSING,
        default_factory: Callable[[], Any] = _MISSING,
        init: bool = True,
        repr: bool = True,  # noqa: A002 - the name in the standard library
        compare: bool = True,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """Take the arguments of `dataclasses.field`. Name and type are those of the attribute, once it is known."""
        self.name, self.type = "", ""
        self.default, self.default_factory = default, default_factory
        self.init, self.repr, self.compare = init, repr, compare
        self.metadata = metadata or {}

    def named(self, name: str, annotation: Any) -> Field:
        """Set name and type, and return the field."""
        self.name, self.type = name, annotation
        return self


class _TupleRecord(tuple):  # type: ignore[type-arg]
    """What all named tuples share."""

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
        return tuple(self)

    __replace__ = _replace


class _NamedTupleMeta(type):
    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> Any:
        """Return a class of tuples for the class statement of a record."""
        annotations = _annotations_of(namespace)
        names, defaults = tuple(annotations), {each: namespace.pop(each) for each in annotations if each in namespace}
        if names[len(names) - len(defaults) :] != tuple(defaults):
            raise TypeError(f"a field of {name} without a default follows one with a default")
        constructor = _function(f"{name}.__new__", _tuple_code(len(names)), ("_cls", *names), {})
        constructor.__defaults__ = tuple(defaults.values())
        constructor.__annotations__ = annotations
        namespace |= {each: _tuplegetter(place, None) for place, each in enumerate(names)}
        namespace |= {
            "__slots__": (),
            "__new__": constructor,
            "__match_args__": names,
            "__annotations__": annotations,
            "_fields": names,
            "_field_defaults": defaults,
        }
        return type(name, tuple(_TupleRecord if base is _NamedTuple else base for base in bases), namespace)


_NamedTuple = type.__new__(_NamedTupleMeta, "_NamedTuple", (), {})


class _NamedTupleBase:
    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        return (_NamedTuple,)


class _FrozenMethods:
    """The methods that dataclasses share: each is copied into the class."""

    __slots__ = ()

    def __repr__(self: Any) -> str:
        values = (f"{each.name}={getattr(self, each.name)!r}" for each in self._record_fields if each.repr)
        return f"{type(self).__qualname__}({', '.join(values)})"

    def __eq__(self: Any, other: Any) -> Any:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return self is other or self._compared(self) == self._compared(other)

    def __hash__(self: Any) -> int:
        return hash(self._compared(self))

    def __setattr__(self, name: str, value: Any) -> Never:
        from dataclasses import FrozenInstanceError

        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> Never:
        from dataclasses import FrozenInstanceError

        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def __getstate__(self: Any) -> list[Any]:
        return [getattr(self, each.name) for each in self._record_fields]

    def __setstate__(self: Any, state: list[Any]) -> None:
        for each, value in zip(self._record_fields, state, strict=True):
            object.__setattr__(self, each.name, value)

    def __replace__(self: Any, **changes: Any) -> Any:
        return replace(self, **changes)


_SHARED_METHODS = {name: each for name, each in vars(_FrozenMethods).items() if isinstance(each, FunctionType)}


class _StandardFields:
    """The attribute by which functions of the standard library know a dataclass, computed on first use."""

    def __get__(self, instance: object, owner: Any) -> Any:
        from dataclasses import field, make_dataclass

        def standard(each: Field) -> Any:
            given = {name: getattr(each, name) for name in _KEYWORDS_OF_FIELDS}
            return field(**{name: value for name, value in given.items() if value is not _MISSING})

        rows = [(each.name, each.type, standard(each)) for each in owner._record_fields]
        found = vars(make_dataclass(owner.__name__, rows, kw_only=True))["__dataclass_fields__"]
        owner.__dataclass_fields__ = found
        return found


_STANDARD_FIELDS = _StandardFields()


def _make_dataclass(cls: Any) -> Any:
    """Return the class with slots for its fields, and the methods of a frozen dataclass."""
    namespace = {name: value for name, value in cls.__dict__.items() if name not in ("__dict__", "__weakref__")}
    inherited: dict[str, Field] = {
        each.name: each for base in reversed(cls.__mro__[1:]) for each in vars(base).get("_record_fields", ())
    }
    own = {
        name: _field_of(name, annotation, namespace.pop(name, _MISSING))
        for name, annotation in _annotations_of(namespace).items()
        if not annotation.startswith("ClassVar")
    }
    found = inherited | own
    parameters = [each for each in found.values() if each.init]
    names = tuple([each.name for each in parameters])
    compared = [each.name for each in found.values() if each.compare]
    namespace = _SHARED_METHODS | namespace
    if "__eq__" in cls.__dict__ and "__hash__" not in cls.__dict__:
        del namespace["__hash__"]
    namespace |= {
        "__slots__": tuple([name for name in own if name not in inherited]),
        "__match_args__": names,
        "__dataclass_fields__": _STANDARD_FIELDS,
        "_record_fields": tuple(found.values()),
        "_compared": attrgetter(*compared) if compared else lambda _: (),
    }
    created = type(cls)(cls.__name__, cls.__bases__, namespace)
    created.__qualname__ = cls.__qualname__
    created.__init__ = _initializer(created, parameters, tuple(each for each in found.values() if not each.init))
    return created


def _field_of(name: str, annotation: str, value: Any) -> Field:
    found = value if isinstance(value, Field) else Field(default=value)
    return found.named(name, annotation)


def _initializer(cls: Any, parameters: list[Field], others: tuple[Field, ...]) -> FunctionType:
    """Return the constructor. It sets the slots by their descriptors, as the class forbids assignment."""
    factories = frozenset(place for place, each in enumerate(parameters) if each.default_factory is not _MISSING)
    setters = {f"set_{place}": getattr(cls, each.name).__set__ for place, each in enumerate(parameters)}
    makers = {f"make_{place}": parameters[place].default_factory for place in factories}
    code = _initializer_code(len(parameters), factories, hasattr(cls, "__post_init__"))
    names = ("self", *(each.name for each in parameters))
    function = _function(f"{cls.__qualname__}.__init__", code, names, setters | makers | {"MISSING": _MISSING})
    defaults = [_MISSING if place in factories else each.default for place, each in enumerate(parameters)]
    has_default = [place in factories or each.default is not _MISSING for place, each in enumerate(parameters)]
    count = sum(has_default)
    if not all(has_default[len(has_default) - count :]):
        raise TypeError(f"a field of {cls.__qualname__} without a default follows one with a default")
    if any(each.default is not _MISSING or each.default_factory is not _MISSING for each in others):
        raise TypeError(f"a field of {cls.__qualname__} that is no argument has a default")
    function.__defaults__ = tuple(defaults[len(defaults) - count :])
    function.__annotations__ = {each.name: each.type for each in parameters} | {"return": "None"}
    return function


def _function(qualified_name: str, code: CodeType, parameters: tuple[str, ...], names: dict[str, Any]) -> FunctionType:
    """Return a function of a shared code, with its own names of parameters and global names."""
    own_code = code.replace(co_varnames=parameters)
    function = FunctionType(own_code, {"tuple_new": tuple.__new__, "__builtins__": {}, **names})
    function.__qualname__ = qualified_name
    return function


@cache
def _tuple_code(count: int) -> CodeType:
    names = "".join(f", _{place}" for place in range(count))
    return _compile(f"def __new__(_cls{names}): return tuple_new(_cls, ({names[2:]}{',' if count else ''}))")


@cache
def _initializer_code(count: int, factories: frozenset[int], has_post_init: bool) -> CodeType:
    values = [f"make_{i}() if _{i} is MISSING else _{i}" if i in factories else f"_{i}" for i in range(count)]
    lines = [f"set_{place}(self, {value})" for place, value in enumerate(values)]
    lines += ["self.__post_init__()"] if has_post_init else []
    names = "".join(f", _{place}" for place in range(count))
    return _compile(f"def __init__(self{names}):\n " + "\n ".join(lines or ["pass"]))


def _compile(source: str) -> CodeType:
    """Return the code of the one function that a source text defines."""
    module = compile(source, "<record>", "exec")
    code: CodeType = module.co_consts[0]
    return code


def _annotations_of(namespace: dict[str, Any]) -> dict[str, Any]:
    """Return the annotations in the body of a class."""
    if sys.version_info >= (3, 14) and "__annotations__" not in namespace:
        from annotationlib import Format, call_annotate_function, get_annotate_from_class_namespace

        annotate = get_annotate_from_class_namespace(namespace)
        return call_annotate_function(annotate, Format.FORWARDREF) if annotate else {}
    return dict(namespace.get("__annotations__", {}))


if not TYPE_CHECKING:
    NamedTuple = _NamedTupleBase()

    def dataclass(*, frozen, slots):
        """Return a decorator that makes a dataclass, which must be frozen and have slots."""
        if not (frozen and slots):
            raise TypeError("records are frozen and have slots")
        return _make_dataclass

    def field(**options):
        """Return the field of an attribute, with the options of `dataclasses.field`."""
        return Field(**options)

    def fields(record):
        """Return the fields of a dataclass or of its class."""
        return record._record_fields

    def replace(record, /, **changes):
        """Return the record with other values of some fields."""
        values = {each.name: getattr(record, each.name) for each in record._record_fields if each.init}
        return type(record)(**(values | changes))
