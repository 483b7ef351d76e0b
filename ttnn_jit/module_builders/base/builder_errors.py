"""The errors of builders, which users tell apart by the names of their classes."""

from __future__ import annotations


class TTBuilderCompileException(Exception):  # noqa: N818 - upstream's name
    """A module was not built, or not compiled."""


class TTBuilderRuntimeException(Exception):  # noqa: N818 - upstream's name
    """A program did not run."""


class TTBuilderGoldenException(Exception):  # noqa: N818 - upstream's name
    """A result is not its golden."""
