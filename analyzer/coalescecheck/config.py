"""Settings from files: ``[tool.coalescecheck]`` in pyproject.toml, ``.coalescecheck.toml``, or
``[coalescecheck]`` in setup.cfg.

In: paths, and what the command line says.  Out: ``Options``, for the run and for each file.  The
command line wins; lists of facts, macros, folders and template arguments are joined.  A file
that makes no sense is a ``UsageError`` that names it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from coalescecheck.compile_commands.flags import Build
from coalescecheck.errors import SourceError, UsageError
from coalescecheck.files import absolute, read_at_most
from coalescecheck.options import Options, Told, make_options

OWN_FILE, PYPROJECT, SETUP = ".coalescecheck.toml", "pyproject.toml", "setup.cfg"
NAME = "coalescecheck"
PER_PATH = "per-path"
MAX_BYTES = 1 << 20

# The key in a file: the option's name in ``make_options``, and the kind of value it takes.
KEYS = {
    "block": ("block", "dimension"),
    "grid": ("grid", "dimension"),
    "param": ("params", "pairs"),
    "assume": ("assume", "list"),
    "template": ("templates", "pairs"),
    "define": ("defines", "list"),
    "include": ("include_dirs", "paths"),
    "arch": ("arch", "text"),
    "kernel": ("kernels", "list"),
    "format": ("format", "text"),
    "fail-on": ("fail_on", "text"),
    "select": ("select", "list"),
    "ignore": ("ignore", "list"),
    "verify": ("verify", "flag"),
    "strict": ("strict", "flag"),
    "baseline": ("baseline", "path"),
    "exclude": ("exclude", "list"),
}
WHOLE_RUN = ("arch", "kernel", "format", "fail-on", "strict", "baseline", "exclude", "verify")
LAUNCH = ("block", "grid", "params")  # a comment in the source is stronger than these
JOINED = ("assume", "templates", "defines", "include_dirs")

Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Config:
    """One configuration file: values by option name, for the run and for patterns of paths.

    Patterns are those of a ``.gitignore`` in the file's folder.
    """

    path: str
    values: Values
    per_path: tuple[tuple[str, Values], ...] = ()

    @property
    def folder(self) -> Path:
        return absolute(self.path).parent


@dataclass(frozen=True, slots=True)
class Settings:
    """A configuration file, if there is one, and what the caller said explicitly; and how files,
    by their real path, are compiled.  What the caller says is strongest, the build weakest."""

    config: Config | None
    given: Values
    builds: Mapping[str, Build] = field(default_factory=dict)

    @property
    def options(self) -> Options:
        """The options of the run."""
        return self._resolved([] if self.config is None else [self.config.values])

    def at(self, path: str) -> Options:
        """The options of one file."""
        build = self.builds.get(os.path.realpath(path)) if self.builds else None
        layers = [] if self.config is None else [self.config.values]
        if self.config is not None:
            per_path = self.config.per_path
            layers += [values for glob, values in per_path if _matches(self.config, glob, path)]
        return self._resolved(layers, build)

    def _resolved(self, layers: Sequence[Values], build: Build | None = None) -> Options:
        merged: dict[str, Any] = {}
        for layer in layers:
            for name, value in layer.items():
                joined = name in JOINED or name == "params"
                merged[name] = [*merged.get(name, ()), *value] if joined else value
        told = {name: merged.pop(name) for name in LAUNCH if name in merged}
        for name, value in self.given.items():
            merged[name] = [*merged[name], *value] if name in JOINED and name in merged else value
        if build is not None:
            merged = _over(build, merged)
        if self.config is None:
            return make_options(**merged)
        try:
            options = make_options(**merged)
            parsed = make_options(**told)
        except UsageError as error:
            make_options(**self.given)  # it may be the command line that is wrong
            raise UsageError(f"{error} ({self.config.path})") from None
        sizes = (parsed.block, parsed.grid, parsed.params)
        launch = Told(*sizes, self.config.path, parsed.ranges)
        return replace(options, config=launch, root=str(self.config.folder))


def _over(build: Build, stronger: Values) -> dict[str, Any]:
    """``stronger`` settings over a build: the last definition and the first folder count."""
    weaker = {} if build.arch is None else {"arch": build.arch}
    return {
        **weaker,
        **stronger,
        "defines": [*build.defines, *stronger.get("defines", ())],
        "undefines": build.undefines,
        "include_dirs": [*stronger.get("include_dirs", ()), *build.include_dirs],
        "pre_includes": build.pre_includes,
    }


def _matches(config: Config, glob: str, path: str) -> bool:
    from pathspec import GitIgnoreSpec  # only where there are patterns

    whole = absolute(path)
    if not whole.is_relative_to(config.folder):
        return False
    name = whole.relative_to(config.folder).as_posix()
    try:
        return GitIgnoreSpec.from_lines([glob]).match_file(name)
    except ValueError:
        raise UsageError(f"{config.path}: {glob!r} is no pattern of paths") from None


# --- finding ----------------------------------------------------------------------------------


def find(paths: Sequence[str]) -> Config | None:
    """The nearest configuration at or above the folder that all ``paths`` lie in."""
    places = [os.path.abspath(path) for path in paths]
    folders = [place if os.path.isdir(place) else os.path.dirname(place) for place in places]
    try:
        start = Path(os.path.commonpath(folders)) if folders else Path.cwd()
    except ValueError:  # nothing in common
        return None
    for folder in (start, *start.parents):
        for name in (OWN_FILE, PYPROJECT, SETUP):
            path = folder / name
            if os.path.isfile(path):
                config = _read(_shown(path), required=name == OWN_FILE)
                if config is not None:
                    return config
    return None


def _shown(path: Path) -> str:
    """From the current folder where that is shorter to read."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def load(path: str) -> Config:
    """The configuration in the file at ``path``, which must have one."""
    config = _read(path, required=True)
    if config is None:
        raise UsageError(f"{path}: there is no [{_section(path)}] in it")
    return config


def _section(path: str) -> str:
    return f"tool.{NAME}" if Path(path).name == PYPROJECT else NAME


# --- reading ----------------------------------------------------------------------------------


def _read(path: str, required: bool) -> Config | None:
    data = _bytes(path)
    if not required and NAME.encode() not in data:
        return None  # not ours, whatever it is
    text = _text(path, data)
    if Path(path).suffix == ".cfg":
        return _from_ini(path, text)
    return _from_toml(path, text)


def _bytes(path: str) -> bytes:
    try:
        return read_at_most(path, MAX_BYTES)
    except SourceError as error:
        raise UsageError(str(error)) from None


def _text(path: str, data: bytes) -> str:
    if len(data) > MAX_BYTES:
        raise UsageError(f"{path}: too large for a configuration file")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"{path}: is no UTF-8 text") from None


def _from_toml(path: str, text: str) -> Config | None:
    import tomllib  # most runs read one kind of file, or none

    try:
        document: Any = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: is no TOML: {error}") from None
    except RecursionError:
        raise UsageError(f"{path}: is nested too deeply") from None
    if Path(path).name == PYPROJECT:
        tools = document.get("tool")
        document = tools.get(NAME) if isinstance(tools, dict) else None
        if document is None:
            return None
    if not isinstance(document, dict):
        raise UsageError(f"{path}: [{_section(path)}] is no table")
    patterns = document.pop(PER_PATH, {})
    if not isinstance(patterns, dict):
        raise UsageError(f"{path}: {PER_PATH} is no table of patterns")
    return _config(path, document, patterns)


def _from_ini(path: str, text: str) -> Config | None:
    import configparser

    parser = configparser.ConfigParser(interpolation=None, delimiters=("=",), strict=True)
    parser.optionxform = str.strip  # type: ignore[assignment,method-assign]
    try:
        parser.read_string(text, path)
    except configparser.Error as error:
        raise UsageError(f"{path}: {' '.join(str(error).split())}") from None
    heading = f"{NAME}:"
    patterns = {
        name.removeprefix(heading): dict(parser[name])
        for name in parser.sections()
        if name.startswith(heading)
    }
    if not parser.has_section(NAME) and not patterns:
        return None
    own = dict(parser[NAME]) if parser.has_section(NAME) else {}
    return _config(path, own, patterns)


def _config(path: str, own: Values, patterns: Mapping[str, Any]) -> Config:
    per_path = []
    for glob, table in patterns.items():
        if not isinstance(table, dict):
            raise UsageError(f"{path}: {PER_PATH}.{glob!r} is no table")
        for key in WHOLE_RUN:
            if key in table:
                raise UsageError(f"{path}: {key} is for the whole run, not for {glob!r}")
        per_path.append((glob, _values(path, table)))
    return Config(path, _values(path, own), tuple(per_path))


def _values(path: str, table: Values) -> dict[str, Any]:
    result = {}
    for key, value in table.items():
        if key not in KEYS:
            from difflib import get_close_matches

            close = get_close_matches(key, KEYS, 1)
            hint = f"; did you mean {close[0]}?" if close else f"; there are {', '.join(KEYS)}"
            raise UsageError(f"{path}: nothing is called {key!r}{hint}")
        name, kind = KEYS[key]
        result[name] = _value(path, key, kind, value)
    return result


# --- values -----------------------------------------------------------------------------------


def _value(path: str, key: str, kind: str, value: Any) -> Any:
    folder = absolute(path).parent
    match kind, value:
        case "text", str():
            return value
        case "path", str():
            return str(folder / value)
        case "flag", bool():
            return value
        case "flag", str() if value.lower() in ("true", "false"):
            return value.lower() == "true"
        case "dimension", int() if not isinstance(value, bool):
            return value
        case "dimension", str():
            return value
        case "dimension", list() if all(type(each) is int for each in value):
            return value
        case "pairs", dict() if all(type(v) in (int, str, bool) for v in value.values()):
            return [f"{name}={_written(each)}" for name, each in value.items()]
        case "pairs" | "list" | "paths", str():
            return _listed(value, folder, kind)
        case "pairs" | "list" | "paths", list() if all(isinstance(each, str) for each in value):
            return _listed(value, folder, kind)
    raise UsageError(f"{path}: {key} must be {_EXPECTED[kind]}, not {value!r}")


_EXPECTED = {
    "text": "text",
    "path": "the path of a file",
    "flag": "true or false",
    "dimension": "a size such as 256, '32x8' or [32, 8]",
    "pairs": "names with values",
    "list": "a list of texts",
    "paths": "a list of folders",
}


def _written(value: int | str | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _listed(value: str | list[str], folder: Path, kind: str) -> list[str]:
    """One text is one value per line or comma, as setup.cfg has no lists."""
    parts = re.split(r"[,\n]", value) if isinstance(value, str) else value
    items = [part.strip() for part in parts if part.strip()]
    return [str(folder / item) for item in items] if kind == "paths" else items
