"""What the bound copies of a function share, loaded when a copy compiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ttnn_jit.process.cached_property import cached_property

if TYPE_CHECKING:
    from ttnn_jit.compiler.siblings import Siblings


class SharedPrograms:
    """The programs that the bound copies of a function share.

    Attributes:
        are_used: A copy has looked for a program.
    """

    def __init__(self) -> None:
        self.are_used = False

    @cached_property
    def siblings(self) -> Siblings:
        """The programs."""
        from ttnn_jit.compiler.siblings import Siblings

        return Siblings()

    def clear(self) -> None:
        """Forget every program."""
        vars(self).pop("siblings", None)
