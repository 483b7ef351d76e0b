"""What the commands of ttrt share: options, log, artifacts, results, and the stages of a call."""

from __future__ import annotations

import argparse
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.process.complete_file import check_writable
from ttnn_jit.tools.ttrt.artifact_folders import Artifacts
from ttnn_jit.tools.ttrt.found_files import FileManager
from ttnn_jit.tools.ttrt.option_declarations import CommandDeclaration
from ttnn_jit.tools.ttrt.option_parsing import add_command, one_line, value_of
from ttnn_jit.tools.ttrt.result_files import (
    ERROR,
    PASS,
    SKIP,
    TEST_ERROR,
    Results,
    WrongResultError,
    written_files,
)
from ttnn_jit.tools.ttrt.ttrt_logger import Logger


class SkippedError(Exception):
    """A binary is not run: it is of another version or system."""


class _RegisteredOptions:
    """The options of a command by their names, made anew at each access: users change the dictionary."""

    def __get__(self, _: object, owner: type[Command]) -> dict[str, Mapping[str, Any]]:
        return {
            each.name: _Registered(type=each.kind, default=each.default, choices=each.choices, help=each.meaning)
            for each in owner.declaration.options
        }


class _Registered(dict[str, Any]):
    """The entry of an option in `Command.registered_args`; as an argument it stands for the default."""


class Command:
    """A command of ttrt. A call of it runs all its stages and returns the exit status and the results.

    Every call begins anew: nothing of an earlier call is left.

    Args:
        args: Values of options by their names, with or without dashes, or a namespace of argparse; others have their
            defaults.
        logger: The log; by default one by ``--log-file``.
        artifacts: The folder of artifacts; by default that of ``--artifact-dir``.
        logging: The older name of `logger`.

    Raises:
        ArgumentError: There is no such option, it takes no such value, or it is refused.
        OSError: The file of the log cannot be written.
    """

    declaration: ClassVar[CommandDeclaration]
    registered_args = _RegisteredOptions()

    def __init__(
        self,
        args: Mapping[str, Any] | argparse.Namespace | None = None,
        logger: Logger | None = None,
        artifacts: Artifacts | None = None,
        logging: Logger | None = None,
    ) -> None:
        if self.declaration.refusal:
            raise ArgumentError(f"`ttrt {self.declaration.name}` is not there: {self.declaration.refusal}")
        self._values = _values_of(self.declaration, args)
        self.given = _names_given(self.declaration, args)
        self.logger = logger or logging or Logger(self["--log-file"])
        self.log = self.logger.get_logger()
        self.file_manager = FileManager(self.logger)
        self.artifacts = artifacts or Artifacts(self.logger, artifacts_folder_path=self["--artifact-dir"])
        self.results = Results()
        for option in self.declaration.options:
            if option.name in self.given and option.without_effect:
                self.log.warning("%s has no effect here: %s", option.name, option.without_effect)

    @classmethod
    def initialize_api(cls) -> None:
        """Nothing: options are declared when the class is."""

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __setitem__(self, name: str, value: Any) -> None:
        option = self.declaration.option(name)
        if option is None:
            raise _unknown(self.declaration, name)
        self._values[option.name] = value_of(option, value)

    def __call__(self) -> tuple[int, list[dict[str, Any]]]:
        """Runs all stages; returns the exit status and the results."""
        self.results = Results()
        self.preprocess()
        self.check_constraints()
        self.execute()
        self.postprocess()
        return self.results.get_result_code(), self.results.get_results()

    def preprocess(self) -> None:
        """Removes and makes the folder of artifacts, as options say.

        Raises:
            OSError: A file that `postprocess` writes could not be written.
        """
        if self["--clean-artifacts"]:
            self.artifacts.clean_artifacts()
        if self["--save-artifacts"]:
            self.artifacts.create_artifacts()
        for path in self.written_files():
            check_writable(path)

    def check_constraints(self) -> None:
        """Finds and loads files, and records those that are not used."""

    def execute(self) -> None:
        """Does what the command is for."""

    def postprocess(self) -> None:
        """Writes the results."""
        self.results.save_results(self["--result-file"])
        self.log.info("results are in %s", self["--result-file"])

    def written_files(self) -> list[Path]:
        """The files that `postprocess` writes."""
        return written_files(self["--result-file"])

    def shown(self) -> str:
        """What the command line prints after a call; empty for nothing."""
        return ""

    def record(self, result: str, exception: str = "", **fields: Any) -> None:
        """Adds a record to the results."""
        file = {"file_path": fields.pop("file_path")} if "file_path" in fields else {}
        self.results.add_result(
            {
                **file,
                "result": result,
                "exception": exception,
                "log_file": self.logger.file_name,
                "artifacts": self.artifacts.artifacts_folder_path,
                **fields,
            }
        )

    @contextmanager
    def recorded(self, file_path: str, **fields: Any) -> Iterator[dict[str, Any]]:
        """A block that works on one file: its failure is a record, and other files go on.

        Yields:
            More fields of the record, to which the block adds.
        """
        more: dict[str, Any] = {}
        result, reason = PASS, ""
        try:
            yield more
        except SkippedError as error:
            result, reason = SKIP, str(error)
        except WrongResultError as error:
            result, reason = TEST_ERROR, str(error)
        except Exception as error:  # noqa: BLE001 - a folder's other files are still worked on, and the status says it
            result, reason = ERROR, one_line(error)
            self.log.debug("%s", traceback.format_exc())
        self.record(result, reason, file_path=file_path, **fields, **more)
        if result == PASS:
            self.log.info("PASS: %s", file_path)
        else:
            self.log.error("%s: %s", result, reason if reason.startswith(file_path) else f"{file_path}: {reason}")

    def files_of(self, find: Any, path: str) -> list[str]:
        """The files that a function finds below a path; a record says why there are none."""
        try:
            return list(find(path))
        except ArgumentError as error:
            self.log.error("%s", one_line(error))
            self.record(ERROR, one_line(error), file_path=path)
            return []

    @classmethod
    def generate_subparser(cls, subparsers: Any) -> argparse.ArgumentParser:
        """Gives subparsers the command; returns its parser."""
        parser = add_command(subparsers, cls.declaration)
        parser.set_defaults(api=cls)
        return parser


def _names_given(declaration: CommandDeclaration, args: Any) -> frozenset[str]:
    found = ((declaration.option(name), value) for name, value in _arguments(args).items())
    return frozenset(option.name for option, value in found if option is not None)


def _arguments(args: Any) -> dict[str, Any]:
    """The values that were given by their names."""
    given = vars(args) if isinstance(args, argparse.Namespace) else (args or {})
    return {name: value for name, value in given.items() if value is not None and not isinstance(value, _Registered)}


def _values_of(declaration: CommandDeclaration, args: Any) -> dict[str, Any]:
    values = {option.name: option.default for option in declaration.options}
    for name, given in _arguments(args).items():
        option = declaration.option(name)
        if option is None:
            if isinstance(args, argparse.Namespace):
                continue  # what the parser itself added
            raise _unknown(declaration, name)
        value = value_of(option, given)
        if option.refusal and value != option.default:
            raise ArgumentError(f"{option.name} is refused: {option.refusal}")
        values[option.name] = value
    return values


def _unknown(declaration: CommandDeclaration, name: str) -> ArgumentError:
    known = ", ".join(each.name for each in declaration.options)
    return ArgumentError(f"`ttrt {declaration.name}` has no option {name!r}", help=f"it has {known}")
