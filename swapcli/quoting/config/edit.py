"""Change one setting in the text of a settings file. Comments, order and everything else stay the same."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

import yaml

from swapcli.core.errors import ConfigError

_INDENT = 2  # spaces per level
_PLAIN = re.compile(r"[A-Za-z0-9_./+][A-Za-z0-9_./:+%@?&=~-]*")


def set_key(text: str, key: str, value: str) -> str:
    """Return the text of a settings file with a new value for a dotted key.

    A key missing from the file is written below the comment that explains it, otherwise at the end of its group. Raises
    `ConfigError` for text that is not YAML, and if the key's group is written in braces.
    """
    path, written = key.split("."), _written(value)
    node, depth = _find(text, path)
    if node is not None and depth == len(path):
        start, end = node.start_mark.index, _end(node)
        gap = "" if start and text[start - 1].isspace() else " "
        return text[:start] + gap + written + text[end:]
    column = 0 if node is None or depth == 0 else _column_of_group(node, text, path[:depth])
    names = path[depth:]
    lines = [f"{' ' * (column + _INDENT * level)}{name}:" for level, name in enumerate(names)]
    lines[-1] += f" {written}"
    start, end = _lines_of_group(node, text, depth)
    place = _below_comment(text, names[0], column, start, end)
    if place is None:
        place = end
    before = text[:place]
    if before and not before.endswith("\n"):
        before += "\n"
    return before + "\n".join(lines) + "\n" + text[place:]


def unset_key(text: str, key: str) -> str:
    """Return the text of a settings file without a key, and without groups that contained only this key.

    Raises `ConfigError` in the same cases as `set_key`. Removing a missing key changes nothing.
    """
    path = key.split(".")
    node, depth = _find(text, path)
    if node is None or depth < len(path):
        return text
    for length in range(len(path) - 1, 0, -1):
        group, _ = _find(text, path[:length])
        if not (isinstance(group, yaml.MappingNode) and len(group.value) == 1):
            break
        node, path = group, path[:length]
    start = text.rfind("\n", 0, _key_mark(text, path).index) + 1
    end = text.find("\n", _end(node))
    return text[:start] + (text[end + 1 :] if end >= 0 else "")


def _find(text: str, path: Sequence[str]) -> tuple[yaml.Node | None, int]:
    """Return the deepest existing node on the path to a key, and how many names of the path lead to it."""
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        raise ConfigError(f"the settings file is not YAML: {error}", hint="correct it in an editor") from None
    depth = 0
    while isinstance(node, yaml.MappingNode) and depth < len(path):
        if node.flow_style and depth:
            raise ConfigError(
                f"{'.'.join(path[:depth])} is written in braces, and swapcli cannot change keys in braces",
                hint="change it in an editor; swapcli config path prints its path",
            )
        below = next((value for name, value in node.value if name.value == path[depth]), None)
        if below is None:
            break
        node, depth = below, depth + 1
    return node, depth


def _key_mark(text: str, path: Sequence[str]) -> yaml.Mark:
    """Return where the last existing name of a path begins."""
    parent, _ = _find(text, path[:-1])
    assert isinstance(parent, yaml.MappingNode)
    mark: yaml.Mark = next(name.start_mark for name, _ in parent.value if name.value == path[-1])
    return mark


def _end(node: yaml.Node) -> int:
    """Return the index after a node. The parser's own end mark of a block is where the next block begins, after
    comments."""
    if isinstance(node, yaml.MappingNode) and not node.flow_style and node.value:
        return _end(node.value[-1][1])
    if isinstance(node, yaml.SequenceNode) and not node.flow_style and node.value:
        return _end(node.value[-1])
    index: int = node.end_mark.index
    return index


def _column_of_group(node: yaml.Node, text: str, path: Sequence[str]) -> int:
    """Return the column of a group's keys; for an empty group, the column below its own name."""
    if isinstance(node, yaml.MappingNode) and node.value:
        column: int = node.value[0][0].start_mark.column
        return column
    return int(_key_mark(text, path).column) + _INDENT


def _lines_of_group(node: yaml.Node | None, text: str, depth: int) -> tuple[int, int]:
    """Return where the lines of a group begin and end."""
    if depth == 0:
        return 0, len(text)
    assert node is not None
    start = text.rfind("\n", 0, node.start_mark.index) + 1
    end = text.find("\n", _end(node))
    if isinstance(node, yaml.ScalarNode):  # only comments below its name
        return (end + 1, end + 1) if end >= 0 else (len(text), len(text))
    return start, len(text) if end < 0 else end + 1


def _below_comment(text: str, name: str, column: int, start: int, end: int) -> int | None:
    """Return the index below the commented-out line of a key, as the example file has it; None if there is none."""
    found = re.compile(rf"^ {{{column}}}# {re.escape(name)}:.*$", re.MULTILINE).search(text, start)
    if found is None or (column and found.start() > end):
        return None
    return found.end() + 1 if found.end() < len(text) else found.end()


def _written(value: str) -> str:
    """Return a value as YAML: unquoted if it is read back as the same text, otherwise quoted."""
    if _PLAIN.fullmatch(value) or (value[:1] in "[{" and _is_flow(value)):
        return value
    return json.dumps(value, ensure_ascii=False)


def _is_flow(value: str) -> bool:
    """Return whether a text is a one-line YAML list or mapping."""
    try:
        return "\n" not in value and not isinstance(yaml.safe_load(value), str)
    except yaml.YAMLError:
        return False
