"""tt-populate-argument-types: says which arguments of functions are inputs, parameters and constants."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp
from xdsl.dialects.func import FuncOp

from ttnn_jit.diagnostics.errors import ArgumentError, CompileError
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.upstream.rewriting.made_attributes import parsed
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.transforms.texts.text_pass import TextPass, functions_of

_KINDS = ("default", "input", "parameter", "constant")
ARGUMENT_TYPE = "ttcore.argument_type"


@dataclass(frozen=True)
class TTPopulateArgumentTypes(TextPass):
    """Sets `ttcore.argument_type` of arguments.

    Attributes:
        argument_types: ``forward=input,parameter;main=input``.
    """

    name = "tt-populate-argument-types"

    argument_types: str = ""

    def __post_init__(self) -> None:
        """Checks the syntax."""
        super().__post_init__()
        _parsed(self.argument_types)

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:
        """Sets the types of the arguments of a module's functions."""
        functions = {each.sym_name.data: each for each in functions_of(module)}
        for name, kinds in _parsed(self.argument_types).items():
            function = functions.get(name)
            if function is None:
                raise CompileError(
                    f'Function: "{name}" was provided in the argument types map, however it was not found in module!',
                    location=location_of(module),
                )
            count = len(function.body.block.args)
            if count != len(kinds):
                raise CompileError(
                    f'Did not provide the correct number of argument types for function: "{name}". Expected: {count} '
                    f"arguments, got: {len(kinds)} arguments",
                    location=location_of(function),
                )
            for index, kind in enumerate(kinds):
                set_argument_attribute(function, index, ARGUMENT_TYPE, kind)
            rewriter.changes += 1


def _parsed(text: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for entry in filter(None, text.split(";")):
        name, equals, listed = entry.partition("=")
        kinds = listed.removesuffix(",").split(",")
        wrong = next((kind for kind in kinds if kind not in _KINDS), None)
        if not equals or wrong is not None:
            raise ArgumentError(
                f"`argument-types={text}`: " + (f"Invalid argument type: {wrong}" if equals else "no `=`"),
                help="write function=type1,type2;function=type1,type2 with input, parameter, constant",
            )
        found[name] = kinds
    return found


def set_argument_attribute(function: FuncOp, index: int, name: str, kind: str) -> None:
    """Sets an attribute of one argument."""
    count = len(function.body.block.args)
    given = [*(function.arg_attrs or [DictionaryAttr({})] * count)]
    given[index] = DictionaryAttr({**given[index].data, name: parsed(f"#ttcore.argument_type<{kind}>")})
    function.arg_attrs = ArrayAttr(given)


def argument_kind(function: FuncOp, index: int) -> str:
    """What an argument is: input, parameter, constant; "" if it is not said."""
    given = function.arg_attrs
    if given is None:
        return ""
    attribute = given.data[index].data.get(ARGUMENT_TYPE)
    return next((kind for kind in _KINDS if f"<{kind}>" in str(attribute)), "")
