"""Read settings from flags, the environment and a file. Each source returns unparsed `RawValue`s by key."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NoReturn

from swapcli.core.encoding.byte_order_mark import to_plain_utf8
from swapcli.core.encoding.secret import Secret
from swapcli.core.errors import ConfigError
from swapcli.core.records import NamedTuple
from swapcli.core.validation.values import describe
from swapcli.interface.value_types import NODE_URL
from swapcli.quoting.config.settings import ENVIRONMENT_PREFIX, NAMED_TABLES, TABLE, Setting, variable_of
from swapcli.state import user_folders
from swapcli.state.environment import variable
from swapcli.state.user_folders import CONFIG_VARIABLE

if TYPE_CHECKING:
    from pathlib import Path

FLAG_ORIGIN = "flag"
MAX_BYTES = 1 << 20  # a bound against a wrong file; chosen

_MEMBER_NAME = r"[a-z0-9][a-z0-9_-]*"
_GROUPS = frozenset(key.partition(".")[0] for key in TABLE if "." in key)


class SourceText(NamedTuple):
    """The path and the text of a settings file, from which the lines of keys can be looked up."""

    path: str
    text: str

    def lines(self) -> Mapping[str, int]:
        """Return the line of each key, by the key's path."""
        from swapcli.quoting.config.yaml_parser import lines_of_yaml

        return lines_of_yaml(self.text)

    def __repr__(self) -> str:
        return f"SourceText(path={self.path!r})"  # no secrets


class RawValue(NamedTuple):
    """An unparsed value. `origin` tells where it came from, and `place` begins error messages about it.

    `folder` is the base of a relative file name in the value, or None for the working directory. `source` is the file
    that contains the value.
    """

    value: object
    origin: str
    place: str
    folder: Path | None = None
    source: SourceText | None = None

    @property
    def lined_place(self) -> str:
        """The value's place with its line in the file, as in `FILE:LINE: KEY`."""
        if self.source is None:
            return self.place
        from swapcli.quoting.config.file_lines import find_line

        key = self.place.removeprefix(f"{self.source.path}: ")
        return f"{self.source.path}:{find_line(self.source.lines(), key)}: {key}"

    def __repr__(self) -> str:
        return f"RawValue(origin={self.origin!r}, place={self.place!r}, folder={self.folder!r})"  # no secrets


def config_file_path(config_path: Path | None, environ: Mapping[str, str], home: Path) -> Path:
    """Return the path of the settings file: `config_path`, otherwise `SWAPCLI_CONFIG`, otherwise the one in the user's
    folder."""
    from pathlib import Path

    return config_path if config_path is not None else Path(user_folders.config_file(environ, str(home)))


def data_folder(environ: Mapping[str, str], home: Path) -> Path:
    """Return the program's data folder, by the XDG specification."""
    from pathlib import Path

    return Path(user_folders.data_folder(environ, str(home)))


def home_folder() -> Path:
    """Return the home folder of the user, or `NO_HOME`."""
    from pathlib import Path

    return Path(user_folders.home_folder())


def home_problem(environ: Mapping[str, str], home: Path) -> str | None:
    """Return a sentence that explains why HOME does not name a home folder, or None if HOME is not the problem."""
    return user_folders.home_problem(environ, str(home))


def node_url(place: str, text: str) -> Secret:
    """Parse a node's URL that was given at `place`. Raises `ConfigError`, which does not repeat the URL."""
    try:
        return NODE_URL.parse(text)
    except ValueError:
        raise ConfigError(f"{place}: expected {NODE_URL.expected}") from None


def read_text(path: Path) -> str:
    """Read a settings file. Raises `OSError`, `UnicodeDecodeError`, and `ConfigError` if it is too large."""
    with path.open("rb") as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise ConfigError(f"{path}: larger than {MAX_BYTES} bytes")
    return to_plain_utf8(content).decode()


def from_flags(flags: Mapping[str, object]) -> dict[str, RawValue]:
    """Return the flags that were given (are not None), by setting key."""
    given: dict[str, RawValue] = {}
    for key, value in flags.items():
        row = row_of(key) or _refuse_unknown("settings: key", key, TABLE)  # a command's options are known
        if value is None:
            continue
        if not row.on_command_line:
            raise ConfigError(
                f"{key} cannot be given on the command line, where other users can read it",
                hint=f"set {row.variable} or {key}_file",
                details={"key": key},
            )
        given[key] = value if isinstance(value, RawValue) else RawValue(value, FLAG_ORIGIN, row.flag)
    return given


def flag(spelled: str, value: object) -> RawValue | None:
    """Return the value of a flag whose name differs from its setting's name, or None if it was not given."""
    return None if value is None else RawValue(value, FLAG_ORIGIN, spelled)


def from_environment(environ: Mapping[str, str], names_of: Callable[[str], tuple[str, ...]]) -> dict[str, RawValue]:
    """Return the values of `SWAPCLI_*` variables. An empty variable counts as not set, and an unknown one is rejected.

    `names_of` returns the known names in a group of `NAMED_TABLES`.
    """
    by_variable = {row.variable: key for key, row in TABLE.items()}
    given: dict[str, RawValue] = {}
    for name in sorted(environ):
        if not name.startswith(ENVIRONMENT_PREFIX) or name == CONFIG_VARIABLE:
            continue
        key = by_variable.get(name) or _member_key(name, names_of)
        if key is None:
            _refuse_unknown("environment variable", name, [*by_variable, CONFIG_VARIABLE])
        if text := variable(environ, name):
            given[key] = RawValue(text, f"environment {name}", name)
    return given


def from_file(path: Path, read: Callable[[Path], str], *, required: bool) -> dict[str, RawValue]:
    """Return the values in a settings file. For networks and aggregators, a value is the whole mapping under the name.

    A file that does not exist has no values, and is an error if it is `required`.
    """
    try:
        text = read(path)
    except (FileNotFoundError, NotADirectoryError):
        if not required:
            return {}
        raise ConfigError(f"{path}: no such file", hint="swapcli config init writes one") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: byte {error.start} is not UTF-8") from None
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    from swapcli.quoting.config.yaml_parser import parse_yaml

    return dict(_FileReader(path, text).entries(without_line_ends(parse_yaml(text, str(path)))))


def without_line_ends(value: object) -> object:
    """Return a YAML value without trailing line ends in its texts. YAML blocks (`|`, `>`) end with one."""
    if isinstance(value, str):
        return value.rstrip("\r\n")
    if isinstance(value, list):
        return [without_line_ends(each) for each in value]
    return {key: without_line_ends(each) for key, each in value.items()} if isinstance(value, dict) else value


def peek_user_setting(key: str, config_path: str | None) -> object:
    """Return the raw value of a key for the user of this process. See `peek`."""
    from pathlib import Path

    return peek(key, os.environ, None if config_path is None else Path(config_path), home_folder())


def peek(
    key: str, environ: Mapping[str, str], config_path: Path | None, home: Path, read: Callable[[Path], str] = read_text
) -> object:
    """Return the raw value of a top-level key from the environment, otherwise from the file, otherwise None.

    Other errors in the two sources are ignored, because this function helps to report errors before settings are loaded
    or after loading failed.
    """
    if text := variable(environ, variable_of(key)):
        return text
    from swapcli.quoting.config.yaml_parser import parse_yaml

    path = config_file_path(config_path, environ, home)
    try:
        document = parse_yaml(read(path), str(path))
    except (OSError, ValueError, ConfigError):
        return None
    return document.get(key) if isinstance(document, dict) else None


def row_of(key: str) -> Setting | None:
    """Return the table row of a key, including keys such as `networks.NAME.x`, or None if it is not a setting."""
    group, *rest = key.split(".")
    return NAMED_TABLES[group].get(rest[1]) if group in NAMED_TABLES and len(rest) == 2 else TABLE.get(key)


def expanded(path: Path, home: Path) -> Path:
    """Return `path` with a leading `~` replaced by `home`."""
    return home.joinpath(*path.parts[1:]) if path.parts[:1] == ("~",) else path


class _FileReader:
    """A reader that flattens a settings file's mapping to dotted keys."""

    def __init__(self, path: Path, text: str) -> None:
        self._path = path
        self._source = SourceText(str(path), text)

    def entries(self, document: object) -> Iterator[tuple[str, RawValue]]:
        if document is not None and not isinstance(document, dict):
            raise ConfigError(f"{self._path}: expected a mapping of settings")
        for key, value in (document or {}).items():
            if key in NAMED_TABLES:
                yield from self._members(key, self._mapping(key, value))
            elif key in _GROUPS:
                for name, member in self._mapping(key, value).items():
                    yield from self._leaf(f"{key}.{name}", member)
            elif "." in key and key in TABLE:
                group, _, name = key.partition(".")
                self._refuse(key, f"nest it in the file, as in {group}: {{{name}: ...}}")
            else:
                yield from self._leaf(key, value)

    def _leaf(self, key: str, value: object) -> Iterator[tuple[str, RawValue]]:
        if key not in TABLE:
            group, nested, _ = key.partition(".")
            siblings = [known for known in TABLE if known.startswith(f"{group}.")]
            place = RawValue(None, "", f"{self._path}: {key}", None, self._source).lined_place.removesuffix(f" {key}")
            _refuse_unknown(f"{place} key", key, siblings if nested else [*TABLE, *_GROUPS, *NAMED_TABLES])
        elif value is not None:
            yield key, self._given(key, value)

    def _members(self, group: str, members_of_group: Mapping[str, object]) -> Iterator[tuple[str, RawValue]]:
        """Yield each network as `networks.NAME`, each aggregator likewise, and those members of both that are
        settings."""
        seen: set[str] = set()
        for name, described in members_of_group.items():
            key = f"{group}.{name.lower()}"
            if not re.fullmatch(_MEMBER_NAME, name.lower()):
                self._refuse(group, f"{describe(name)} is not a name: use letters, digits, - and _")
            if key in seen:
                self._refuse(key, "the same name in upper and in lower case")
            seen.add(key)
            members = self._mapping(key, described)
            yield key, self._given(key, {member: value for member, value in members.items() if value is not None})
            for member in NAMED_TABLES[group]:
                if members.get(member) is not None:
                    yield f"{key}.{member}", self._given(f"{key}.{member}", members[member])

    def _mapping(self, key: str, value: object) -> dict[str, object]:
        if value is None:
            return {}
        if not isinstance(value, dict):
            self._refuse(key, f"expected a mapping, not {describe(value)}")
        return value

    def _refuse(self, key: str, problem: str) -> NoReturn:
        place = RawValue(None, "", f"{self._path}: {key}", None, self._source).lined_place
        raise ConfigError(f"{place}: {problem}", details={"key": key})

    def _given(self, key: str, value: object) -> RawValue:
        return RawValue(value, f"file {self._path}", f"{self._path}: {key}", self._path.parent, self._source)


def _member_key(variable: str, names_of: Callable[[str], tuple[str, ...]]) -> str | None:
    """Return the key of a variable that sets a member of a named group, such as a network; None for other variables.

    For example, SWAPCLI_NETWORKS_BASE_RPC_URL sets `networks.base.rpc_url`. A variable has `_` where a name has `-`, so
    the name is looked up in the known ones; an unknown name is taken from the variable, in lower case.
    """
    for group, table in NAMED_TABLES.items():
        prefix = f"{variable_of(group)}_"
        if not variable.startswith(prefix):
            continue
        name_and_member = variable.removeprefix(prefix)
        for member in table:
            spelled_name = name_and_member.removesuffix(f"_{member.upper()}")
            if spelled_name in ("", name_and_member):  # no name, or another member
                continue
            known = (name for name in names_of(group) if name.upper().replace("-", "_") == spelled_name)
            return f"{group}.{next(known, spelled_name.lower())}.{member}"
    return None


def _refuse_unknown(what: str, name: str, known: Iterable[str]) -> NoReturn:
    from swapcli.core.encoding.closest import closest_names, did_you_mean
    from swapcli.quoting.config.setting_synonyms import explain_synonym

    start = ENVIRONMENT_PREFIX if name.startswith(ENVIRONMENT_PREFIX) else ""
    candidates = [each.removeprefix(start) for each in known]
    closest = [start + each for each in closest_names(name.removeprefix(start), candidates, limit=1)]
    raise ConfigError(
        f"{what} {describe(name)}: no such setting",
        hint=explain_synonym(name) or did_you_mean(closest) or "swapcli config show lists all settings",
        details={"key": name, "closest": closest},
    )
