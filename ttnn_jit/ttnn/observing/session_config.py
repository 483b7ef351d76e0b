"""`ttnn.CONFIG`: settings of a session, as programs read and write them."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.diagnostics.origin import type_name
from ttnn_jit.dispatch.observers import start, stop
from ttnn_jit.specs.checks import check_kind, shown
from ttnn_jit.specs.options import config_overrides
from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.namespace.lazy_names import SETTINGS_KEPT

if TYPE_CHECKING:
    from ttnn_jit.golden.comparison_records import ComparisonRecord
    from ttnn_jit.ttnn.observing.comparison_mode import Comparison, ComparisonMode
    from ttnn_jit.ttnn.observing.report_database import ReportLog

_HOME = Path("~/.cache/ttnn")

_DEFAULTS: dict[str, Any] = {
    "cache_path": _HOME,
    "model_cache_path": _HOME / "models",
    "tmp_dir": Path("/tmp/ttnn"),
    "enable_model_cache": False,
    "enable_fast_runtime_mode": True,
    "throw_exception_on_fallback": False,
    "enable_logging": False,
    "enable_graph_report": False,
    "enable_detailed_buffer_report": False,
    "enable_detailed_tensor_report": False,
    "enable_comparison_mode": False,
    "comparison_mode_should_raise_exception": False,
    "comparison_mode_pcc": 0.9999,
    "root_report_path": Path("generated/ttnn/reports"),
    "report_name": None,
}
"""Setting -> what it is at first."""

_REFUSED = {
    "enable_model_cache": "keep converted weights by `ttnn.as_tensor(..., cache_file_name=...)`",
}
"""Setting that cannot be turned on -> what there is instead."""


class Config:
    """Settings by name, which are attributes; those that ask for what is not here are refused.

    ``ttnn.Config(ttnn.CONFIG)`` is a copy, which suites keep and assign to ``ttnn.CONFIG`` again.
    """

    def __init__(self, other: Config | None = None) -> None:
        if other is not None:
            check_kind(other, Config, "the argument of Config")
        vars(self).update(_DEFAULTS if other is None else vars(other))

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in _DEFAULTS:
            raise ArgumentError(
                f"ttnn.CONFIG has no setting `{name}`", help=f"it has {', '.join(f'`{key}`' for key in _DEFAULTS)}"
            )
        if name in _REFUSED and value:
            raise ArgumentError(f"ttnn.CONFIG.{name} is not supported", help=_REFUSED[name])
        before = vars(self)[name]
        vars(self)[name] = _of_kind(name, value, _DEFAULTS[name])
        if name == "enable_comparison_mode" and vars(self)[name] != before:
            _compare(self) if vars(self)[name] else _compare_no_more(self)
        if name == "enable_logging" and vars(self)[name] != before:
            _log(self) if vars(self)[name] else _log_no_more()

    @property
    def report_path(self) -> Path | None:
        """Where the reports of this session would be; None without a `report_name`."""
        name = vars(self)["report_name"]
        return None if name is None else vars(self)["root_report_path"] / name

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"ttnn.CONFIG has no setting `{name}`", name=name, obj=self)

    def __repr__(self) -> str:
        return f"Config({', '.join(f'{name}={value}' for name, value in vars(self).items())})"


_COMPARING: list[ComparisonMode] = []

_COMPARED_FOR: list[Path] = []
"""What `report_path` was when something was compared last, and a report had a name: it may have lost it since."""

_UNWRITTEN: list[ComparisonRecord] = []
"""Records that no report has yet, for it had no name."""


def _compare(config: Config) -> None:
    from ttnn_jit.ttnn.observing.comparison_mode import ComparisonMode, complain

    def tell(found: Comparison) -> None:
        _UNWRITTEN.append(found.record)
        if config.report_path is not None:
            _COMPARED_FOR[:] = [config.report_path]
            _write_records()
        for log in _LOGGING:
            log.compared(found)

    mode = ComparisonMode(
        lambda: config.comparison_mode_pcc,
        tell,
        lambda record: complain(lambda: bool(config.comparison_mode_should_raise_exception), record),
    )
    _COMPARING[:] = [mode]
    _COMPARED_FOR.clear()
    _UNWRITTEN.clear()
    start(mode)
    atexit.register(_write_comparisons)
    os.register_at_fork(after_in_child=mode.records.clear)


def _compare_no_more(config: Config) -> None:
    stop(_COMPARING[0])
    atexit.unregister(_write_comparisons)
    if config.report_path is not None:
        _COMPARED_FOR[:] = [config.report_path]
    _write_comparisons()


def _write_records() -> None:
    """Records to this process's file in the report's folder."""
    from ttnn_jit.golden.comparison_report import record_file

    for folder in _COMPARED_FOR:
        record_file(folder).write(_UNWRITTEN)
        _UNWRITTEN.clear()


def _write_comparisons() -> None:
    """The report of comparisons, when the mode ends, or the process in it."""
    from ttnn_jit.golden.comparison_report import record_file

    _write_records()
    for folder in _COMPARED_FOR:
        record_file(folder).merge()


_LOGGING: list[ReportLog] = []


def _log(config: Config) -> None:
    from ttnn_jit.ttnn.observing.report_database import Detail, ReportLog

    log = ReportLog(
        lambda: config.report_path,
        lambda: Detail(pages=config.enable_detailed_buffer_report, graph=config.enable_graph_report),
        save_config_to_json_file,
    )
    _LOGGING.append(log)
    start(log)


def _log_no_more() -> None:
    log = _LOGGING.pop()
    stop(log)
    log.close()


def comparison_records() -> list[ComparisonRecord]:
    """What comparison mode found since it was turned on last."""
    return [record for mode in _COMPARING for record in mode.records]


def _of_kind(name: str, value: Any, default: Any) -> Any:
    wanted, kinds = next(rule for kind, rule in _KINDS.items() if isinstance(default, kind))
    if not isinstance(value, kinds):
        raise ArgumentError(f"ttnn.CONFIG.{name} must be {wanted}, got {type_name(value)}")
    return Path(str(value)) if isinstance(default, Path) else value


_KINDS: dict[type, tuple[str, tuple[type, ...]]] = {
    Path: ("a path", (str, Path)),
    bool: ("True or False", (bool,)),
    float: ("a number", (float, int)),
    type(None): ("a name or None", (str, Path, type(None))),
}
"""Kind of a default -> what a value must be."""


def _overridden(config: Config) -> Config:
    """`config`, and what ``TTNN_CONFIG_OVERRIDES`` says of it.

    Raises:
        ArgumentError: It is no JSON object, or one of a setting that there is not, or with a value that it refuses.
    """
    overrides = _parsed(config_overrides() or "{}", "TTNN_CONFIG_OVERRIDES")
    try:
        for name, value in overrides.items():
            setattr(config, name, value)
    except ArgumentError as error:
        raise ArgumentError(f"TTNN_CONFIG_OVERRIDES: {error.message}", help=error.help) from None
    return config


def _parsed(text: str, source: str | Path) -> dict[str, Any]:
    """The settings by name that a text of `source` holds.

    Raises:
        ArgumentError: It is no JSON object.
    """
    try:
        settings = json.loads(text)
    except ValueError as error:
        raise ArgumentError(f"{source} is no JSON: {error}") from None
    if not isinstance(settings, dict):
        raise ArgumentError(f"{source} holds no JSON object of settings, but {shown(settings)}")
    return settings


def _current() -> Config:
    """What ``ttnn.CONFIG`` is now: a program may have assigned a copy to it."""
    found: Config = vars(import_module("ttnn_jit.ttnn")).get("CONFIG", CONFIG)
    return found


@host_function(observed=False, no_effect=SETTINGS_KEPT)
@contextlib.contextmanager
def manage_config(name: str, value: Any) -> Iterator[None]:
    """A setting that is `value` in the body of a ``with`` (ttnn.manage_config), and as it was afterwards."""
    config = _current()
    before = getattr(config, name)
    setattr(config, name, value)
    try:
        yield
    finally:
        setattr(config, name, before)


@host_function(observed=False, no_effect=SETTINGS_KEPT)
def load_config_from_dictionary(config: Mapping[str, Any]) -> None:
    """Set every setting that `config` names (ttnn.load_config_from_dictionary).

    Raises:
        ArgumentError: One that there is not, or a value that it refuses; those before it are set.
    """
    current = _current()
    for name, value in config.items():
        setattr(current, name, value)


@host_function(observed=False, no_effect=SETTINGS_KEPT)
def load_config_from_json_file(json_path: str | Path) -> None:
    """Set every setting that a file names (ttnn.load_config_from_json_file).

    Raises:
        ArgumentError: The file is no JSON object; and as `load_config_from_dictionary`.
        OSError: It cannot be read.
    """
    load_config_from_dictionary(_parsed(Path(json_path).read_text(encoding="utf-8"), json_path))


@host_function(observed=False, no_effect=SETTINGS_KEPT)
def save_config_to_json_file(json_path: str | Path) -> None:
    """Write every setting to a file (ttnn.save_config_to_json_file)."""
    config = {name: str(value) if isinstance(value, Path) else value for name, value in vars(_current()).items()}
    Path(json_path).write_text(json.dumps(config, indent=4), encoding="utf-8")


CONFIG_PATH: Path | None = None
"""The file of settings that ``TTNN_CONFIG_PATH`` would name, which is not read."""
CONFIG_OVERRIDES: str | None = config_overrides() or None
"""What ``TTNN_CONFIG_OVERRIDES`` says; the settings follow it already."""
CONFIG = _overridden(Config())  # last: a setting that turns something on calls what stands above
"""The settings of this process."""
