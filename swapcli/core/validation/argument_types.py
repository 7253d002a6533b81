"""Check the types of arguments in calls to the library, using the annotations of the called functions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import wraps

from swapcli.core.annotations import Any, Final, ParamSpec, TypeVar
from swapcli.core.errors import InvalidInput
from swapcli.core.records import NamedTuple

P = ParamSpec("P")
T = TypeVar("T")

_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "None": (type(None),),
    "str": (str,),
    "int": (int,),
    "float": (int, float),
    "bytes": (bytes,),
    "Mapping": (Mapping,),
    "Sequence": (Sequence,),
    "Collection": (Collection,),
    "Iterable": (Iterable,),
}
_WORDS: Final[Mapping[str, str]] = {
    "str": "a string",
    "int": "an integer",
    "float": "a number",
    "bytes": "bytes",
    "Mapping": "a mapping",
    "Sequence": "a list",
    "Collection": "a list",
    "Iterable": "a list",
    "Container": "a list",
    "Callable": "a function",
    "PathLike": "a path",
}
_LISTS: Final = ("Sequence", "Collection", "Iterable", "Container")
_TEXT_LISTS: Final = ("Sequence[str]", "Collection[str]", "Iterable[str]")
_HAS_VARARGS: Final = 0x04  # CO_VARARGS of `inspect`
_MAX_SHOWN: Final = 40  # characters of a wrong argument


class _Accepted(NamedTuple):
    """The alternatives of an annotation, by name; `of_text` if the items of a list must be strings."""

    names: tuple[str, ...]
    of_text: bool = False

    def accepts(self, value: object, known: Mapping[str, Any]) -> bool:
        """Return whether a value is one of the alternatives; `known` has the classes by name."""
        return any(_is_a(value, name, known) for name in self.names) and not (
            self.of_text
            and isinstance(value, Collection)
            and not isinstance(value, str)  # which another alternative accepts
            and not all(isinstance(item, str) for item in value)
        )

    @property
    def words(self) -> str:
        """The alternatives in words, such as "a string or None"."""
        words = dict.fromkeys(_WORDS.get(name, "None" if name == "None" else f"a {name}") for name in self.names)
        *first, last = [f"{each} of strings" if self.of_text and each == "a list" else each for each in words]
        return f"{', '.join(first)} or {last}" if first else last


def checks_arguments(function: Callable[P, T]) -> Callable[P, T]:
    """Return a function that raises `InvalidInput` for an argument that its annotation excludes.

    The function checks strings, numbers, lists, mappings, paths, functions and the classes that the function's module
    imports; other types and flags are left to the function.
    """
    code = function.__code__
    named = code.co_varnames[: code.co_argcount]
    others = code.co_varnames[code.co_argcount + code.co_kwonlyargcount] if code.co_flags & _HAS_VARARGS else None
    checker = _Checker(function.__annotations__, function.__globals__)

    @wraps(function)
    def call(*arguments: P.args, **keywords: P.kwargs) -> T:
        for name, value in zip(named, arguments, strict=False):  # too many are an error of the call
            checker.check(name, value)
        if others is not None:
            for value in arguments[len(named) :]:
                checker.check(others, value)
        for name, value in keywords.items():
            checker.check(name, value)
        return function(*arguments, **keywords)

    return call


def check_keywords(what: str, given: Mapping[str, object], keywords: type) -> None:
    """Check keyword arguments against the `TypedDict` that lists them; None counts as omitted.

    Raises `TypeError` for a keyword that `what`, such as "a quote", does not have, and `InvalidInput` for a wrong type.
    """
    checker = _Checker(keywords.__annotations__, {})
    for name, value in given.items():
        if name not in keywords.__annotations__:
            raise TypeError(f"{what} got an unexpected keyword argument '{name}'")
        if value is not None:
            checker.check(name, value)


class _Checker:
    """Checks arguments against annotations, whose classes are among the `known` names."""

    def __init__(self, annotations: Mapping[str, Any], known: Mapping[str, Any]) -> None:
        self._annotations, self._known = annotations, known
        self._accepted: dict[str, _Accepted | None] = {}  # parsing all annotations at once would delay the import

    def check(self, name: str, value: object) -> None:
        """Raise `InvalidInput` if the annotation of an argument excludes its value."""
        if name not in self._accepted:
            self._accepted[name] = _parse_annotation(self._annotations.get(name), self._known)
        accepted = self._accepted[name]
        if accepted is not None and not accepted.accepts(value, self._known):
            is_shown = value is None or not name.endswith("_url")  # a URL may contain a key
            shown = _shown(value) if is_shown else type(value).__name__
            raise InvalidInput(f"{name} must be {accepted.words}, not {shown}", details={"argument": name})


def _parse_annotation(annotation: Any, known: Mapping[str, Any]) -> _Accepted | None:
    """Return what an annotation accepts; None if there is none, or if one of its alternatives cannot be checked."""
    text = getattr(annotation, "__forward_arg__", annotation)  # a `TypedDict` wraps its annotations
    if not isinstance(text, str):
        return None
    if text.startswith("Required["):
        text = text[len("Required[") : -1]
    alternatives = list(_split_alternatives(text))
    names = tuple(each.partition("[")[0] for each in alternatives)
    if not all(_can_check(name, known) for name in names):
        return None
    return _Accepted(names, any(each in _TEXT_LISTS for each in alternatives))


def _can_check(name: str, known: Mapping[str, Any]) -> bool:
    return name in _TYPES or name in ("Callable", "PathLike") or isinstance(known.get(name), type)


def _split_alternatives(text: str) -> Iterator[str]:
    """Yield the alternatives of a union, each with what its brackets contain."""
    depth, start = 0, 0
    for position, character in enumerate(text):
        depth += (character in "[(") - (character in "])")
        if character == "|" and depth == 0:
            yield text[start:position].strip()
            start = position + 1
    yield text[start:].strip()


def _is_a(value: object, name: str, known: Mapping[str, Any]) -> bool:
    if name == "Callable":
        return callable(value)
    if name == "PathLike":
        return hasattr(value, "__fspath__")
    if name in _LISTS and isinstance(value, str | bytes | bytearray):
        return False  # the list of its characters is never meant
    return isinstance(value, _TYPES.get(name) or known[name])


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"
