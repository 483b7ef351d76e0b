"""`ttnn.CONFIG`: the settings of a session."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.diagnostics.origin import type_name
from ttnn_jit.dispatch.observers import start, stop
from ttnn_jit.process.complete_file import write_complete
from ttnn_jit.specs.checks import check_kind, shown
from ttnn_jit.specs.options import config_overrides
from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.namespace.lazy_names import SETTINGS_EFFECT

if TYPE_CHECKING:
    from ttnn_jit.golden.comparison_recorder import Finding
    from ttnn_jit.golden.comparison_records import ComparisonRecord
    from ttnn_jit.golden.record_report import Report
    from ttnn_jit.ttnn.observing.comparison_mode import ComparisonMode
    from ttnn_jit.ttnn.observing.report_database import ReportLog

_CACHE_HOME = Path("~/.cache/ttnn")

_DEFAULTS: dict[str, Any] = {
    "cache_path": _CACHE_HOME,
    "model_cache_path": _CACHE_HOME / "models",
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
"""Setting -> its default."""

_REFUSED = {
    "enable_model_cache": "keep converted weights by `ttnn.as_tensor(..., cache_file_name=...)`",
}
"""Setting that cannot be turned on -> the alternative."""


class Config:
    """Settings as attributes; settings of absent features are refused.

    ``ttnn.Config(ttnn.CONFIG)`` is a copy, which test suites store and assign to ``ttnn.CONFIG`` later.
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
        vars(self)[name] = _checked_value(name, value, _DEFAULTS[name])
        if name == "enable_comparison_mode" and vars(self)[name] != before:
            _start_comparing(self) if vars(self)[name] else _stop_comparing(self)
        if name == "enable_logging" and vars(self)[name] != before:
            _start_logging(self) if vars(self)[name] else _stop_logging()

    @property
    def report_path(self) -> Path | None:
        """The folder of this session's reports; None without a `report_name`."""
        name = vars(self)["report_name"]
        return None if name is None else vars(self)["root_report_path"] / name

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"ttnn.CONFIG has no setting `{name}`", name=name, obj=self)

    def __repr__(self) -> str:
        return f"Config({', '.join(f'{name}={value}' for name, value in vars(self).items())})"


class _Comparing(NamedTuple):
    """The comparisons since the mode was last turned on.

    Attributes:
        mode: The observer.
        report: All records.
        folders: The `report_path` at the last comparison for which it was not None; it may be reset before the report
            is written.
        unwritten: Records that are in no folder yet, since `report_path` was None.
    """

    mode: ComparisonMode
    report: Report
    folders: list[Path]
    unwritten: list[ComparisonRecord]


_COMPARING: list[_Comparing] = []


def _start_comparing(config: Config) -> None:
    from ttnn_jit.golden.comparison_checks import ChecksConfig
    from ttnn_jit.golden.comparison_recorder import Recorder
    from ttnn_jit.golden.record_report import Report
    from ttnn_jit.ttnn.observing.comparison_mode import ComparisonMode, warn_or_raise

    def receive(found: Finding) -> None:
        now.report.records.append(found.record)
        now.unwritten.append(found.record)
        if config.report_path is not None:
            now.folders[:] = [config.report_path]
            _write_records(now)
        for log in _ACTIVE_LOGS:
            log.compared(found, config.comparison_mode_pcc)
        warn_or_raise(lambda: bool(config.comparison_mode_should_raise_exception), found.record)

    mode = ComparisonMode(Recorder(lambda: ChecksConfig(pcc=config.comparison_mode_pcc), receive))
    now = _Comparing(mode, Report(), [], [])
    _COMPARING[:] = [now]
    mode.begin()
    atexit.register(_write_comparisons)
    os.register_at_fork(after_in_child=now.report.records.clear)


def _stop_comparing(config: Config) -> None:
    _COMPARING[0].mode.end()
    atexit.unregister(_write_comparisons)
    if config.report_path is not None:
        _COMPARING[0].folders[:] = [config.report_path]
    _write_comparisons()


def _write_records(now: _Comparing) -> None:
    """Append the records to this process's file in the report's folder."""
    from ttnn_jit.golden.comparison_report import record_file

    for folder in now.folders:
        record_file(folder).write(now.unwritten)
        now.unwritten.clear()


def _write_comparisons() -> None:
    """Write the report of comparisons, at the end of the mode or of the process."""
    from ttnn_jit.golden.comparison_report import record_file

    for now in _COMPARING:
        _write_records(now)
        for folder in now.folders:
            record_file(folder).merge()


_ACTIVE_LOGS: list[ReportLog] = []


def _start_logging(config: Config) -> None:
    from ttnn_jit.ttnn.observing.report_database import ReportLog, ReportOptions

    log = ReportLog(
        lambda: config.report_path,
        lambda: ReportOptions(pages=config.enable_detailed_buffer_report, graph=config.enable_graph_report),
        save_config_to_json_file,
    )
    _ACTIVE_LOGS.append(log)
    start(log)


def _stop_logging() -> None:
    log = _ACTIVE_LOGS.pop()
    stop(log)
    log.close()


def comparison_records() -> list[ComparisonRecord]:
    """The records since comparison mode was last turned on."""
    return [record for now in _COMPARING for record in now.report]


def _checked_value(name: str, value: Any, default: Any) -> Any:
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
"""Type of a default -> a description of valid values, and their types."""


def _with_overrides(config: Config) -> Config:
    """`config` with the settings of ``TTNN_CONFIG_OVERRIDES``.

    Raises:
        ArgumentError: It is not a JSON object, a setting is unknown, or a value is invalid.
    """
    overrides = _parsed(config_overrides() or "{}", "TTNN_CONFIG_OVERRIDES")
    try:
        for name, value in overrides.items():
            setattr(config, name, value)
    except ArgumentError as error:
        raise ArgumentError(f"TTNN_CONFIG_OVERRIDES: {error.message}", help=error.help) from None
    return config


def _parsed(text: str, source: str | Path) -> dict[str, Any]:
    """The settings in a JSON text, which comes from `source`.

    Raises:
        ArgumentError: The text is not a JSON object.
    """
    try:
        settings = json.loads(text)
    except ValueError as error:
        raise ArgumentError(f"{source} is no JSON: {error}") from None
    if not isinstance(settings, dict):
        raise ArgumentError(f"{source} holds no JSON object of settings, but {shown(settings)}")
    return settings


def _current() -> Config:
    """The current value of ``ttnn.CONFIG``, to which a program may have assigned a copy."""
    found: Config = vars(import_module("ttnn_jit.ttnn")).get("CONFIG", CONFIG)
    return found


@host_function(observed=False, no_effect=SETTINGS_EFFECT)
@contextlib.contextmanager
def manage_config(name: str, value: Any) -> Iterator[None]:
    """Set a setting to `value` in the body of a ``with``, and restore it afterwards (ttnn.manage_config)."""
    config = _current()
    before = getattr(config, name)
    setattr(config, name, value)
    try:
        yield
    finally:
        setattr(config, name, before)


@host_function(observed=False, no_effect=SETTINGS_EFFECT)
def load_config_from_dictionary(config: Mapping[str, Any]) -> None:
    """Set every setting in `config` (ttnn.load_config_from_dictionary).

    Raises:
        ArgumentError: A setting is unknown, or a value is invalid; the settings before it are set.
    """
    current = _current()
    for name, value in config.items():
        setattr(current, name, value)


@host_function(observed=False, no_effect=SETTINGS_EFFECT)
def load_config_from_json_file(json_path: str | Path) -> None:
    """Set every setting in a JSON file (ttnn.load_config_from_json_file).

    Raises:
        ArgumentError: The file is not a JSON object; and the errors of `load_config_from_dictionary`.
        OSError: The file cannot be read.
    """
    load_config_from_dictionary(_parsed(Path(json_path).read_text(encoding="utf-8"), json_path))


@host_function(observed=False, no_effect=SETTINGS_EFFECT)
def save_config_to_json_file(json_path: str | Path) -> None:
    """Write all settings to a JSON file (ttnn.save_config_to_json_file)."""
    config = {name: str(value) if isinstance(value, Path) else value for name, value in vars(_current()).items()}
    write_complete(Path(json_path), [json.dumps(config, indent=4).encode()])


CONFIG_PATH: Path | None = None
"""The file of settings that ``TTNN_CONFIG_PATH`` names in ttnn; None, since the variable is not read."""
CONFIG_OVERRIDES: str | None = config_overrides() or None
"""The value of ``TTNN_CONFIG_OVERRIDES``, which is applied to `CONFIG`."""
CONFIG = _with_overrides(Config())  # last: setting a setting calls the functions above
"""The settings of this process."""
