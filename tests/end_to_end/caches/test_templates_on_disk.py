"""Templates on disk: one entry serves all sizes in other processes, and a damaged one is never run out of bounds."""

from __future__ import annotations

import json
import random
import signal
import sys
import textwrap
from pathlib import Path

import pytest
import torch

import ttnn_jit
from tests import programs
from tests.damage import damaged_json
from tests.end_to_end.caches.test_resealed_programs import run_between_guards
from tests.processes import run_python
from tests.sampling import drawn
from ttnn_jit import ttnn
from ttnn_jit.cache.disk import PROGRAM, TEMPLATES, store_of
from ttnn_jit.compiler import stored_programs
from ttnn_jit.compiler.stored_templates import TEMPLATE, template_of
from ttnn_jit.diagnostics.errors import InternalError, ProgramFormatError
from ttnn_jit.runtime.plans import program_format
from ttnn_jit.runtime.programs.program import Program
from ttnn_jit.specs.options import Environment
from ttnn_jit.tools.cli import main

ROOT = Path(__file__).parents[3]
SCALE = 2.0


def scaled(x, row):
    row = row if x.shape[0] < 10_000 else row + 0.0  # which needs a second template
    return ttnn.exp(x + row) * SCALE, ttnn.sum(x, dim=-1)


def reference(x, row):
    return torch.exp(x + row) * SCALE, x.sum(dim=-1)


def arguments(rows):
    return torch.randn(rows, 9), torch.randn(9)


def counted(call, *given):
    """How many programs a call compiles, and how many it reads from disk."""
    return changes(call, *given, names=("compiles", "disk_hits"))


COUNTS = ("compiles", "disk_hits", "template_hits")


def changes(call, *given, names=COUNTS):
    """The changes of counts of `cache_info` by a call."""
    before = ttnn_jit.cache_info()
    call(*given)
    after = ttnn_jit.cache_info()
    return tuple(getattr(after, name) - getattr(before, name) for name in names)


def runs_correctly(function, rows):
    given = arguments(rows)
    for found, expected in zip(function(*given), reference(*given), strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)


def as_in_another_process(function):
    function.clear()
    stored_programs.IN_MEMORY.clear()


@pytest.fixture
def stored():
    """A jitted function with a program and a template on disk, the names of these, and the store."""
    function, store = ttnn_jit.jit()(scaled), store_of(Environment.read())
    for rows in (40, 41):
        runs_correctly(function, rows)
    program, template = store.names(PROGRAM)
    as_in_another_process(function)
    return function, store, program, template


def test_a_template_on_disk_serves_every_size_that_it_served(stored):
    function, store, *_ = stored
    assert len(store.names(TEMPLATES)) == 1
    found = [changes(runs_correctly, function, rows) for rows in (41, 42, 40)]
    assert found == [(0, 1, 0), (0, 0, 1), (0, 0, 1)]


def test_the_first_size_is_read_by_its_own_key(stored):
    function, *_ = stored
    assert changes(runs_correctly, function, 40) == (0, 1, 0)


@pytest.mark.usefixtures("stored")
def test_a_function_for_fixed_sizes_reads_no_template():
    fixed = ttnn_jit.jit(dynamic=False)(scaled)
    assert counted(runs_correctly, fixed, 41) == (1, 0)


def test_a_template_whose_reads_have_changed_is_not_used(stored, monkeypatch):
    function, store, *_ = stored
    monkeypatch.setattr(sys.modules[__name__], "SCALE", 3.0)
    assert counted(runs_correctly, function, 41) == (1, 0)
    assert counted(runs_correctly, function, 42) == (1, 0)
    assert len(store.names(PROGRAM)) == 4  # a program and a template for each scale
    as_in_another_process(function)
    assert counted(runs_correctly, function, 42) == (0, 1)
    monkeypatch.setattr(sys.modules[__name__], "SCALE", 2.0)
    assert counted(runs_correctly, function, 42) == (0, 1)


def test_a_size_that_a_template_serves_is_no_miss(stored):
    function, store, _, template = stored
    assert ttnn_jit.explain_miss(function, *arguments(40)) == "nothing differs: this call is a hit"
    assert ttnn_jit.explain_miss(function, *arguments(77)) == (
        "nothing differs but sizes: a template on disk serves this call"
    )
    store.set(template, b"")
    assert "argument x" in ttnn_jit.explain_miss(function, *arguments(77))


def test_several_templates_of_one_function_are_found(stored):
    function, *_ = stored
    found = [changes(runs_correctly, function, rows, names=("templates",)) for rows in (50, 51, 100_000, 100_001)]
    assert found == [(0,), (0,), (1,), (0,)]
    as_in_another_process(function)
    found = [changes(runs_correctly, function, rows) for rows in (45, 200_000, 300_000)]
    assert found == [(0, 1, 0), (0, 1, 0), (0, 0, 1)]


def test_a_template_without_the_disk_is_not_stored():
    function = ttnn_jit.jit(enable_cache=False)(scaled)
    found = [changes(runs_correctly, function, rows, names=("templates",)) for rows in (40, 41)]
    assert found == [(0,), (1,)]
    assert store_of(Environment.read()).names("") == []


def test_a_read_only_folder_serves_templates(stored, monkeypatch):
    function, store, *_ = stored
    store.close()
    monkeypatch.setattr(store, "_cache", None)
    folder = store.directory
    folder.chmod(0o555)
    (folder / "cache.db").chmod(0o444)
    try:
        assert counted(runs_correctly, function, 43) == (0, 1)
    finally:
        folder.chmod(0o755)
        (folder / "cache.db").chmod(0o644)


def test_a_tensor_that_the_function_reads_may_not_change_its_spec(monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "WEIGHT", torch.randn(9, 5), raising=False)
    function = ttnn_jit.jit()(lambda x: ttnn.matmul(x, WEIGHT))  # noqa: F821 - it is set above

    def check(rows):
        x = torch.randn(rows, 9)
        torch.testing.assert_close(function(x), x @ WEIGHT, rtol=1e-4, atol=1e-4)  # noqa: F821

    check(40), check(41)
    as_in_another_process(function)
    assert counted(check, 42) == (0, 1)
    monkeypatch.setattr(sys.modules[__name__], "WEIGHT", torch.randn(9, 6))
    as_in_another_process(function)
    assert counted(check, 42) == (1, 0)


# --- Damage ---------------------------------------------------------------------------------------------------------


def without_template(header):
    del header["notes"][TEMPLATE]


def with_template(name, change):
    def damage(header):
        header["notes"][TEMPLATE][name] = change(header["notes"][TEMPLATE][name])

    return damage


def with_places(name, change):
    return with_template("places", lambda places: places | {name: change(places[name])})


def with_atom(formulas, atom):
    return {**formulas, "atoms": [*formulas["atoms"], atom]}


DAMAGES = {
    "no template": without_template,
    "a template of another kind": lambda header: header["notes"].update({TEMPLATE: 3}),
    "another size": lambda header: header["plan"].update(name=3),
    "symbols of other ranks": with_template("symbols", lambda symbols: {**symbols, "numbers": symbols["numbers"][:1]}),
    "no symbols": with_template(
        "symbols", lambda _: {"numbers": [[None] * 2, [None], [], []], "fixed": [[40, 9], [9], [], []]}
    ),
    "symbols of another kind": with_template(
        "symbols", lambda symbols: {**symbols, "numbers": [[0.0, None], [None], [], []]}
    ),
    "an atom too many": with_template("formulas", lambda own: {**own, "atoms": [None, *own["atoms"]]}),
    "an atom that is nothing": with_template("formulas", lambda own: with_atom(own, [])),
    "an atom of itself": with_template("formulas", lambda own: with_atom(own, [[[1, len(own["atoms"])]], [[2]]])),
    "a float without an operand": with_template("formulas", lambda own: with_atom(own, ["mul", [[1, 0]]])),
    "the bits of a float's bits": with_template("formulas", lambda own: with_atom(own, ["double", "0"])),
    "an integer of a float": with_template(
        "formulas", lambda own: with_atom(with_atom(own, ["sqrt", [[1, 0]]]), ["sqrt", [[1, len(own["atoms"])]]])
    ),
    "a guard of another kind": with_template("formulas", lambda own: {**own, "guards": [[[[1, 0]], 2.0, None, []]]}),
    "numbers of unknown atoms": with_places("numbers", lambda numbers: [[[1, 7]], *numbers[1:]]),
    "fractions of atoms": with_places("numbers", lambda numbers: [[[0.5, 0]], *numbers[1:]]),
    "places of unknown numbers": with_places("launches", lambda each: [[[99, *own[0][1:]], *own[1:]] for own in each]),
    "places of fewer launches": with_places("launches", lambda each: each[1:]),
    "places of other lengths": with_places("specs", lambda each: [[[0]], *each[1:]]),
    "places of constants": with_places("constants", lambda _: [0]),
    "larger loops": with_places("numbers", lambda numbers: [[*own, [1]] if own else own for own in numbers]),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_template_is_compiled_anew(damage, stored):
    function, store, _, template = stored
    header, blobs = program_format.unpack(store.get(template))
    assert header["notes"][TEMPLATE]["symbols"]["numbers"] == [
        [0, None],
        [None],
        [],
        [],
    ]  # behind the tensors, ints and floats
    DAMAGES[damage](header)
    store.set(template, program_format.pack(header, blobs))
    assert counted(runs_correctly, function, 42) == (1, 0)
    assert counted(runs_correctly, function, 43)[0] <= 1
    assert counted(runs_correctly, function, 44) == (0, 0)


def test_a_program_in_place_of_a_template_is_not_used(stored):
    function, store, program, template = stored
    store.set(template, store.get(program))
    assert counted(runs_correctly, function, 42) == (1, 0)


def test_a_template_of_another_function_is_not_used(stored):
    function, store, _, template = stored
    other = ttnn_jit.jit()(programs.cosh)
    for rows in (40, 41):
        other(torch.randn(rows, 9).bfloat16())
    own = store.get(template)
    (theirs,) = {*store.names(PROGRAM)[2:]} - {template} - {store.names(PROGRAM)[2]}
    store.set(template, store.get(theirs))
    assert store.get(template) != own
    assert counted(runs_correctly, function, 42) == (1, 0)


def test_a_template_that_fails_at_a_later_size_is_forgotten_and_compiled_anew(stored):
    function, store, _, template = stored
    header, blobs = program_format.unpack(store.get(template))
    places = header["notes"][TEMPLATE]["places"]
    # Right for 42 rows: n * n - 41 * n is n there, and more for more rows.
    places["numbers"] = [[[-41, 0], [1, 0, 0]] if own == [[1, 0]] else own for own in places["numbers"]]
    store.set(template, program_format.pack(header, blobs))
    assert counted(runs_correctly, function, 42) == (0, 1)
    assert counted(runs_correctly, function, 43) == (1, 0)


def test_the_command_lists_and_verifies_a_template(stored, capsys):
    stored[1].close()
    for command, expected in {"list": "([41, 9], f32", "verify": "", "info": "2 programs"}.items():
        assert main(["cache", command]) == 0
        assert expected in capsys.readouterr().out


def damage_and_run(seed, number):
    """Runs in its own process, because an access beyond an operand kills it."""
    draw = random.Random(seed)
    function = ttnn_jit.jit()(scaled)
    store = store_of(Environment.read())
    for rows in (40, 41):
        function(*arguments(rows))
    (template,) = store.names(PROGRAM)[1:]
    data = store.get(template)
    accepted = ran = 0
    for _ in range(number):
        header, blobs = program_format.unpack(data)
        own = header["notes"][TEMPLATE]
        for _ in range(draw.randint(1, 3)):
            name = draw.choice(["symbols", "formulas", "places", "places"])
            own[name] = damaged_json(draw, own[name])
        request = function.request(*arguments(41))
        try:
            program = Program.from_bytes(program_format.pack(header, blobs))
        except ProgramFormatError:
            continue
        compilation = stored_programs._compilation(program, (), {})
        found = stored_programs.StoredTemplate(compilation, (), "")
        compiled = template_of(found, request)
        accepted += compiled is not None
        for rows in (41, 2, 7, 500) if compiled is not None else ():
            try:
                served = compiled.compilation_for(function.request(*arguments(rows)))
            except InternalError:
                continue
            if served is not None:
                run_between_guards(served.program)
                ran += 1
    sys.stdout.write(json.dumps([accepted, ran]))


@pytest.mark.process
@pytest.mark.slow
def test_accepted_templates_access_nothing_outside_their_operands(tmp_path):
    name = "tests.end_to_end.caches.test_templates_on_disk"
    number = drawn(1600)
    script = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import {name} as t; t.damage_and_run(0, {number})"
    done = run_python("-W", "error", "-c", script, cwd=tmp_path, check=True)
    accepted, ran = json.loads(done.stdout)
    assert accepted > number / 16  # otherwise nothing was tested
    assert ran > number / 16


# --- Processes ------------------------------------------------------------------------------------------------------

SCRIPT = """
    import sys
    import torch
    import ttnn_jit
    from ttnn_jit import ttnn

    @ttnn_jit.jit()
    def model(x, weight):
        return ttnn.softmax(ttnn.matmul(x, weight), dim=-1)

    weight = torch.randn(16, 8)
    for rows in map(int, sys.argv[1:]):
        x = torch.randn(rows, 16)
        torch.testing.assert_close(model(x, weight), (x @ weight).softmax(-1), rtol=1e-4, atol=1e-4)
        print(f"ran {rows}", flush=True)
    info = ttnn_jit.cache_info()
    print(info.compiles, info.disk_hits, info.template_hits, "xdsl" in sys.modules)
"""


def run_script(path, *rows):
    return run_python(path, *rows, check=True).stdout.splitlines()[-1]


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "model.py"
    path.write_text(textwrap.dedent(SCRIPT))
    return path


@pytest.mark.process
def test_a_second_process_compiles_nothing_for_other_sizes_and_never_imports_xdsl(script):
    assert run_script(script, 40, 41, 42) == "2 0 1 True"
    assert run_script(script, 43, 44, 40) == "0 1 2 False"


@pytest.mark.process
@pytest.mark.slow
def test_processes_that_are_killed_leave_whole_templates(script):
    text = script.read_text()
    killed = script.with_name("killed.py")  # by the kernel, wherever it is, some time after the second size
    for seconds in (0.0005, 0.002, 0.008):
        ends = f"if rows == 41:\n        signal.setitimer(signal.ITIMER_REAL, {seconds})"
        killed.write_text("import signal\n" + text.replace('print(f"ran {rows}", flush=True)', ends))
        assert run_python(killed, *range(40, 4000)).returncode == -signal.SIGALRM
    assert run_script(script, 43, 44, 45) == "0 1 2 False"


CACHE, STEP = torch.randn(4, 9), 0.5


def attending(x):
    return ttnn.softmax(ttnn.matmul(x, ttnn.transpose(CACHE, 0, 1)), dim=-1) * STEP


def of_cache(x):
    return torch.softmax(x @ CACHE.T, dim=-1) * STEP


class Attention:
    """Keys that grow, in an object."""

    def __init__(self):
        self.keys, self.rate = torch.randn(4, 9), 1.5

    def forward(self, x):
        return ttnn.matmul(x, ttnn.transpose(self.keys, 0, 1)) * self.rate


def test_a_template_of_a_global_that_grows_serves_another_process(monkeypatch):
    function, x = ttnn_jit.jit()(attending), torch.randn(3, 9)

    def called(rows, step):
        monkeypatch.setattr(sys.modules[__name__], "CACHE", torch.randn(rows, 9))
        monkeypatch.setattr(sys.modules[__name__], "STEP", step)
        torch.testing.assert_close(function(x), of_cache(x), rtol=1e-4, atol=1e-4)

    first = [changes(called, rows, 0.1 * rows, names=("compiles", "templates")) for rows in (5, 6, 7)]
    assert first == [(1, 0), (1, 1), (0, 0)]
    as_in_another_process(function)
    again = [changes(called, rows, 0.1 * rows) for rows in (9, 12, 5, 30)]
    assert again == [(0, 1, 0), *[(0, 0, 1)] * 3]
    as_in_another_process(function)
    monkeypatch.setattr(sys.modules[__name__], "CACHE", torch.randn(7, 9).bfloat16())
    assert changes(function, x) == (1, 0, 0)  # of another form


def test_a_template_of_attributes_that_change_serves_another_process():
    kind, x = type("Attention", (Attention,), {"forward": ttnn_jit.jit()(Attention.forward)}), torch.randn(3, 9)
    layer = kind()

    def called(rows, rate):
        layer.keys, layer.rate = torch.randn(rows, 9), rate
        torch.testing.assert_close(layer.forward(x), x @ layer.keys.T * rate, rtol=1e-4, atol=1e-4)

    for rows in (5, 6, 7):
        called(rows, 0.25 * rows)
    as_in_another_process(vars(kind)["forward"])
    layer = kind()
    assert [changes(called, rows, 0.3 * rows) for rows in (9, 12, 31)] == [(0, 1, 0), (0, 0, 1), (0, 0, 1)]


GROWING = """
import torch, ttnn_jit
from ttnn_jit import ttnn

CACHE = None

@ttnn_jit.jit()
def attend(x):
    return ttnn.softmax(ttnn.matmul(x, ttnn.transpose(CACHE, 0, 1)), dim=-1)

for rows in {rows}:
    CACHE, x = torch.randn(rows, 8), torch.randn(2, 8)
    torch.testing.assert_close(attend(x), torch.softmax(x @ CACHE.T, dim=-1), rtol=1e-4, atol=1e-4)
print(ttnn_jit.cache_info().compiles)
"""


@pytest.mark.process
def test_a_cache_that_grows_compiles_nothing_in_a_second_process(tmp_path):
    file = tmp_path / "growing.py"
    counts = []
    for rows in ((4, 5, 6), (7, 8, 30)):
        file.write_text(GROWING.format(rows=rows))
        counts.append(int(run_python(str(file), check=True).stdout))
    assert counts == [2, 0]
