"""Templates on disk: programs whose notes hold a template."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Any

from ttnn_jit.compiler.hidden_symbols import is_number, with_forms
from ttnn_jit.compiler.request import Compilation, Request
from ttnn_jit.compiler.stored_programs import StoredPrograms, StoredTemplate
from ttnn_jit.compiler.template import (
    CompiledTemplate,
    Template,
    is_eligible,
    sizes_of,
    without_extents,
)
from ttnn_jit.diagnostics.errors import InternalError
from ttnn_jit.foreign.values import NoStableIdentityError, is_a
from ttnn_jit.guards.path_json import path_from_json, path_to_json
from ttnn_jit.guards.reads import NumberMark, Path
from ttnn_jit.guards.tensor_mark import TensorMark
from ttnn_jit.runtime.libraries import LibraryMark
from ttnn_jit.runtime.programs.program import Program
from ttnn_jit.specs.spec_forms import form_of, sizes_in
from ttnn_jit.specs.tensor_spec import TensorSpec

TEMPLATE = "template"
"""The note of a stored program that is the example of a template: the JSON values of the template."""


def stored_form(template: CompiledTemplate) -> Program:
    """The program of one size whose notes hold the template.

    Raises:
        NoStableIdentityError: Another process could not find a hidden input.
    """
    program = template.program
    hidden = [*map(path_to_json, template.hidden)]
    notes = {**program.notes, TEMPLATE: {**template.template.to_json(), "hidden": hidden}}
    return Program(program.plan, program.objects, notes=notes, built_for=program.built_for)


def keep_template(made: CompiledTemplate, request: Request, stored: StoredPrograms) -> str | None:
    """Store a template of a request; the digest of its entry, None if it is not stored."""
    if not stored.are_on_disk:
        return None
    try:
        example = stored_form(made)
    except NoStableIdentityError:
        return None
    return stored.keep_template(without_extents(request), made.reads, example, made.hidden)


def read_template(
    request: Request, stored: StoredPrograms, known: Container[str] = ()
) -> tuple[CompiledTemplate, Compilation, str] | None:
    """A template on disk that serves a request, the compilation that it makes, and the digest of its entry.

    Templates whose digest is `known` are not read. None if no other serves the request.
    """
    if not is_eligible(request):
        return None
    for found in stored.templates(without_extents(request), known):
        compiled = template_of(found, request)
        try:
            compilation = (
                None if compiled is None else compiled.compilation_for(request, _hidden_inputs(compiled, found))
            )
        except InternalError:
            continue  # it is damaged
        if compiled is not None and compilation is not None:
            return compiled, compilation, found.digest
    return None


def _hidden_inputs(compiled: CompiledTemplate, found: StoredTemplate) -> list[Any]:
    """The marks of the hidden inputs of a call, and its open numbers."""
    values = (read.value for read in found.compilation.reads)
    return [
        value for value, read in zip(values, compiled.reads, strict=True) if is_a(read.value, TensorMark, NumberMark)
    ]


def template_of(found: StoredTemplate, request: Request) -> CompiledTemplate | None:
    """The stored template, for calls that differ from a request in sizes alone; None if it is damaged."""
    program, inputs = found.compilation.program, request.inputs
    example, count = program.plan, len(inputs)
    forms = [*map(form_of, example.inputs[:count])]
    if forms != [*map(form_of, inputs)]:
        return None
    try:
        fields = program.notes[TEMPLATE]
        hidden = tuple(map(path_from_json, fields["hidden"]))
        if not _fits(example.inputs[count:], found, hidden):
            return None
        ranks = [*map(len, sizes_of(request))]
        template = Template.from_json(fields, example, [*ranks, *_ranks(found, hidden)], len(ranks))
    except (LookupError, TypeError, ValueError, AttributeError):
        return None
    notes = {name: note for name, note in program.notes.items() if name != TEMPLATE}
    own = Program(example, program.objects, notes=notes, built_for=program.built_for)
    rest = found.compilation
    return CompiledTemplate(template, own, with_forms(rest.reads, hidden), rest.structure, rest.warnings, hidden)


def _fits(specs: Sequence[TensorSpec], found: StoredTemplate, hidden: Container[Path]) -> bool:
    """Whether the hidden inputs of a call have the specs of the example, or its forms where they are open."""
    marked = [read for read in found.compilation.reads if type(read.value) is LibraryMark]
    if len(marked) != len(specs):
        return False
    return all(
        form_of(read.value.spec) is form_of(spec) if read.path in hidden else read.value.spec == spec
        for read, spec in zip(marked, specs, strict=True)
    )


def _ranks(found: StoredTemplate, hidden: Iterable[Path]) -> Iterator[int]:
    """The numbers of sizes of the hidden inputs and numbers that are open."""
    values = {read.path: read.value for read in found.compilation.reads}
    for path in hidden:
        value = values[path]
        yield 1 if is_number(value) else len(sizes_in(value.spec))
