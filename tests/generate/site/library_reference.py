"""The reference of the library: the names of the package, with their docstrings."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Sequence

import swapcli
import swapcli.core.errors

_OPENED = ("Market", "AsyncMarket", "SwapQuote", "PreparedSwap")
"""Classes whose constructors are not public: other names return their objects."""


def library_page() -> str:
    """Return the page in reStructuredText, whose directives read the docstrings."""
    names = [name for name in swapcli.__all__ if not name.startswith("__")]
    functions = [name for name in names if not inspect.isclass(getattr(swapcli, name))]
    errors = [name for name in names if _is_error(name)]
    records = [name for name in names if name not in (*functions, *errors, *_OPENED)]
    return "\n\n".join(
        [
            _title("The library", "="),
            "The guide is the topic :doc:`topics/library`; this is what each name means.",
            *_section("Functions", (f".. autofunction:: swapcli.{name}" for name in functions)),
            *_section("Markets and quotes", map(_class, _OPENED)),
            *_section("Records", (f"{_class(name)}\n   :undoc-members:" for name in records)),
            *_section("Errors", (_error(name) for name in errors)),
            "All errors, as one tree:",
            ".. code-block:: text\n\n" + _indented(_error_tree()),
        ]
    )


def process_docstring(_app: object, _what: str, _name: str, _obj: object, _options: object, lines: list[str]) -> None:
    """Turn the Markdown of a docstring (code in backticks, indented examples) into reStructuredText, in place."""
    text = re.sub(r"(?<!`)`([^`]+)`(?!`)(\w?)", _literal, "\n".join(lines))
    lines[:] = _with_code_blocks(text.split("\n"))


def process_signature(
    _app: object, _what: str, name: str, _obj: object, _options: object, _signature: str, _returned: str
) -> tuple[str, str] | None:
    """Leave out the parameters of constructors that are not public."""
    return ("", "") if name.rpartition(".")[2] in _OPENED else None


def _literal(found: re.Match[str]) -> str:
    """Return code as a literal, which ends before a letter only if a blank that is not shown stands between them."""
    code, letter = found.groups()
    return f"``{code}``\\ {letter}" if letter else f"``{code}``"


def _with_code_blocks(lines: Sequence[str]) -> list[str]:
    """Return the lines with a directive before each indented block."""
    result: list[str] = []
    is_code = False
    for number, line in enumerate(lines):
        is_indented = line.startswith("    ")
        if is_indented and not is_code and (number == 0 or not lines[number - 1].strip()):
            result += [".. code-block:: python", ""]
            is_code = True
        elif line.strip() and not is_indented:
            is_code = False
        result.append(line)
    return result


def _section(title: str, directives: Iterable[str]) -> list[str]:
    return [_title(title, "-"), *directives]


def _title(text: str, mark: str) -> str:
    return f"{text}\n{mark * len(text)}"


def _class(name: str) -> str:
    return f".. autoclass:: swapcli.{name}\n   :members:\n   :inherited-members: object, tuple, Exception, Enum, str"


def _error(name: str) -> str:
    return f".. autoexception:: swapcli.{name}"


def _is_error(name: str) -> bool:
    value = getattr(swapcli, name)
    return inspect.isclass(value) and issubclass(value, BaseException)


def _error_tree() -> str:
    """Return the tree of the errors, which the docstring of their module draws."""
    text = inspect.getdoc(swapcli.core.errors) or ""
    return "\n".join(line for line in text.splitlines() if re.match(r"SwapcliError$|[│├└]", line))


def _indented(text: str) -> str:
    return "\n".join(f"   {line}" for line in text.splitlines())
