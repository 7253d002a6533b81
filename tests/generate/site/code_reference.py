"""The reference of the codes of errors and findings, made from their tables."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

from swapcli.core.errors import SwapcliError
from swapcli.core.model.finding import FindingCode
from swapcli.faces.cli.exit_codes import MEANING, status_of
from swapcli.faces.cli.help_topics import ORDER, topic_text
from tests.generate.site.markdown import escape, table

_MEANING = re.compile(r"^  ([A-Z][A-Z_]+) {2,}(\S.*(?:\n {8,}\S.*)*)", re.MULTILINE)


def codes_page() -> str:
    """Return the page: exit statuses, errors, findings."""
    return (
        "\n\n".join(
            [
                "# Errors and warnings",
                "Codes are stable and meant for programs. The guides are the topics "
                "[exit codes](topics/exit-codes.md) and [warnings](topics/warnings.md).",
                "## Exit statuses",
                table(("status", "meaning"), ((str(status), escape(text)) for status, text in MEANING.items())),
                "## Errors",
                table(("code", "exit status", "meaning"), _errors()),
                "## Warnings and dangers",
                "A `block` means: do not sign the payload as it is.",
                table(("code", "level", "meaning"), _findings()),
            ]
        )
        + "\n"
    )


def _errors() -> Iterator[tuple[str, ...]]:
    for error in sorted(_subclasses(SwapcliError), key=lambda each: (_status(each), each.code)):
        text = (inspect.getdoc(error) or "").partition("\n\n")[0]
        yield f"`{error.code}`", str(_status(error)), escape(text)


def _subclasses(kind: type[SwapcliError]) -> Iterator[type[SwapcliError]]:
    for each in kind.__subclasses__():
        if each.__module__ == kind.__module__:
            yield each
            yield from _subclasses(each)


def _status(kind: type[SwapcliError]) -> int:
    return status_of(kind.__new__(kind))


def _findings() -> Iterator[tuple[str, ...]]:
    meanings = finding_meanings()
    for code in FindingCode:
        yield f"`{code}`", code.level.value, escape(meanings.get(code, ""))


def finding_meanings() -> dict[str, str]:
    """Return the meaning of each code of a finding, as help topics explain it."""
    found = (match for topic in ORDER for match in _MEANING.findall(topic_text(topic)))
    return {code: " ".join(text.split()) for code, text in found}
