"""Templates on disk: programs whose notes hold a template."""

from __future__ import annotations

from collections.abc import Container

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
from ttnn_jit.runtime.programs.program import Program
from ttnn_jit.specs.spec_forms import form_of

TEMPLATE = "template"
"""The note of a stored program that is the example of a template: the JSON values of the template."""


def stored_form(template: CompiledTemplate) -> Program:
    """The program of one size whose notes hold the template."""
    program = template.program
    notes = {**program.notes, TEMPLATE: template.template.to_json()}
    return Program(program.plan, program.objects, notes=notes, built_for=program.built_for)


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
            compilation = None if compiled is None else compiled.compilation_for(request, ())
        except InternalError:
            continue  # it is damaged
        if compiled is not None and compilation is not None:
            return compiled, compilation, found.digest
    return None


def template_of(found: StoredTemplate, request: Request) -> CompiledTemplate | None:
    """The stored template, for calls that differ from a request in sizes alone; None if it is damaged."""
    program, inputs = found.compilation.program, request.inputs
    example, count = program.plan, len(inputs)
    forms = [*map(form_of, example.inputs[:count])]
    if forms != [*map(form_of, inputs)]:
        return None
    if example.inputs[count:] != found.hidden:
        return None
    try:
        ranks = [*map(len, sizes_of(request))]
        template = Template.from_json(program.notes[TEMPLATE], example, ranks)
    except (LookupError, TypeError, ValueError, AttributeError):
        return None
    notes = {name: note for name, note in program.notes.items() if name != TEMPLATE}
    own = Program(example, program.objects, notes=notes, built_for=program.built_for)
    rest = found.compilation
    return CompiledTemplate(template, own, rest.reads, rest.structure, rest.warnings)
