"""Names of ttnn: supported, refused with a reason, or missing; and names that nobody has."""

from __future__ import annotations

import importlib.util
import re
import string
from operator import attrgetter

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from tests.unit.frontend.stand_in import BF16, lowered
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import UnsupportedFunction
from ttnn_jit.ops import ABSENT, ALIASES, OVERLOADS
from ttnn_jit.ops.public_names import NAMES_OF_SUBMODULES, PUBLIC_NAMES, names_within_one_edit
from ttnn_jit.tools import names
from ttnn_jit.tools.cli import main

ALPHABET = string.ascii_letters + string.digits + "_"
OWN = {
    "BlackholeComputeKernelConfig", "MemoryView", "ShardMode", "_ttnn", "all", "any", "argmin", "eye", "flip",
    "floor_divide", "get_maximal_block_sharding_grid", "log_softmax", "nan_to_num", "norm", "recip", "slice_write",
    "unique",
}  # fmt: skip
"""Names that only this package has, or that are not public in ttnn."""

MISSING = sorted(PUBLIC_NAMES - set(ttnn.__all__))
CALLED = sorted({"moe", "softcap", "bias_gelu_", "DumpDeviceProfiler", *ABSENT})


@pytest.fixture(scope="module")
def calls(tmp_path_factory):
    """A module of functions, by the name of ttnn that each calls."""
    path = tmp_path_factory.mktemp("names") / "calls.py"
    called = (f"def {name}(x):\n    return ttnn.{name}(x)\n" for name in (*CALLED, *ALIASES))
    path.write_text("from ttnn_jit import ttnn\n" + "".join(called))
    spec = importlib.util.spec_from_file_location("calls", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def slips(name):
    """Every name at a Damerau-Levenshtein distance of 1."""
    cuts = [(name[:i], name[i:]) for i in range(len(name) + 1)]
    shorter = {a + b[1:] for a, b in cuts if b}
    other = {a + c + b[1:] for a, b in cuts if b for c in ALPHABET}
    longer = {a + c + b for a, b in cuts for c in ALPHABET}
    swapped = {a + b[1] + b[0] + b[2:] for a, b in cuts if len(b) > 1}
    return (shorter | other | longer | swapped) - {name}


@given(a=st.text("abc_", max_size=6), b=st.text("abc_", max_size=6))
@example(a="ab", b="ba")
@example(a="abb", b="bab")
@example(a="", b="a")
def test_names_within_a_slip_are_those_at_damerau_levenshtein_distance_one(a, b):
    assert (names_within_one_edit(a, [b]) == [b]) == (b in slips(a))


def test_every_public_name_is_known_as_ttnns_or_as_our_own():
    assert set(ttnn.__all__) - PUBLIC_NAMES == OWN
    assert set(ABSENT) <= PUBLIC_NAMES - set(ttnn.__all__)


@pytest.mark.parametrize("name", MISSING)
def test_a_name_of_ttnn_that_is_missing_has_a_reason_and_no_guess(name):
    assert not hasattr(ttnn, name)
    with pytest.raises(AttributeError) as raised:
        getattr(ttnn, name)
    reason = ABSENT.get(name, f"`ttnn.{name}` is a name of ttnn that is not here yet")
    assert str(raised.value) == f"module 'ttnn_jit.ttnn' has no attribute {name!r}: {reason}"


@pytest.mark.parametrize("name", CALLED)
@pytest.mark.parametrize("graph_capture", [False, True])
def test_a_call_of_a_missing_name_in_a_jitted_function_has_the_same_message(calls, name, graph_capture):
    with pytest.raises((UnsupportedFunction, AttributeError)) as raised:
        lowered(vars(calls)[name], BF16, graph_capture=graph_capture)
    reason = ABSENT.get(name, f"`ttnn.{name}` is a name of ttnn that is not here yet")
    assert reason in str(raised.value)
    assert "did you mean" not in str(raised.value)


@pytest.mark.parametrize("alias", ALIASES)
def test_an_alias_in_a_jitted_function_names_the_operation(calls, alias):
    with pytest.raises(UnsupportedFunction, match=f"did you mean `{ALIASES[alias]}`"):
        lowered(vars(calls)[alias], BF16)


@given(data=st.data())
def test_a_name_one_slip_away_is_suggested_and_one_further_away_is_not(data):
    name = data.draw(st.sampled_from(sorted(name for name in OVERLOADS if "." not in name)))
    slip = data.draw(st.sampled_from(sorted(slips(name))))
    assume(not hasattr(ttnn, slip) and slip not in PUBLIC_NAMES)
    with pytest.raises(AttributeError, match=f"did you mean .*`{name}`"):
        getattr(ttnn, slip)
    far = f"{name}qqzz"
    with pytest.raises(AttributeError) as raised:
        getattr(ttnn, far)
    assert str(raised.value) == f"module 'ttnn_jit.ttnn' has no attribute {far!r}"


HOMES = ("cluster", "core", "device", "dot_access", "experimental", "graph", "kv_cache", "model_preprocessing",
         "operations", "operations.moreh", "tracer", "transformer", "types")  # fmt: skip


@pytest.mark.parametrize("home", HOMES)
def test_an_error_about_a_missing_name_of_a_submodule_suggests_one_or_says_where_it_is_or_that_it_is_missing(home):
    module = attrgetter(home)(ttnn)
    last = module.__all__[-1]
    with pytest.raises(AttributeError, match=rf"'ttnn_jit.ttnn.{home}' has no attribute .*did you mean .*`{last}`"):
        getattr(module, f"{last}qq"[:-1])
    with pytest.raises(AttributeError) as raised:
        _ = module.qqzz
    assert str(raised.value) == f"module 'ttnn_jit.ttnn.{home}' has no attribute 'qqzz'"
    if not hasattr(module, "softmax"):
        with pytest.raises(AttributeError, match=r"has no attribute 'softmax': it is `ttnn\.softmax`"):
            _ = module.softmax
    if not hasattr(module, "moe"):
        with pytest.raises(AttributeError, match=r"'moe': `ttnn\.moe` is a name of ttnn that is not here yet"):
            _ = module.moe


@pytest.mark.parametrize("home", NAMES_OF_SUBMODULES)
def test_every_name_of_a_submodule_of_ttnn_is_supported_or_listed_as_missing(home):
    module = attrgetter(home)(ttnn)
    for name in NAMES_OF_SUBMODULES[home]:
        if not hasattr(module, name) and not hasattr(ttnn, name):
            with pytest.raises(AttributeError, match=rf"`ttnn\.{home}\.{name}` is a name of ttnn that is not here yet"):
                getattr(module, name)


@pytest.mark.parametrize("name", ["jit", "tile_op"])
def test_a_decorator_of_ours_that_is_looked_up_in_ttnn_is_named_in_the_error(name):
    with pytest.raises(AttributeError, match=f"the decorator is `ttnn_jit.{name}`"):
        getattr(ttnn, name)


def test_the_table_counts_every_public_name_once():
    counts = names.counts()
    assert sum(counts.values()) == len(PUBLIC_NAMES)
    assert counts["not here yet"] == len(set(MISSING) - set(ABSENT))
    assert counts["refused, with a reason"] == len(ABSENT)
    text = names.table()
    assert all(f"`{name}`" in text for name in set(MISSING) - set(ABSENT))
    assert all(f"| {count} | {status} |" in text for status, count in counts.items())


def test_every_name_has_a_row_and_the_command_finds_it():
    named = {name.partition("(")[0] for name, _, _ in names.all_rows()}
    here = {*PUBLIC_NAMES, *names.host_functions(), *OVERLOADS, *ALIASES}
    missing = {f"{home}.{name}" for home, listed in NAMES_OF_SUBMODULES.items() for name in listed}
    assert {f"ttnn.{name}" for name in here | missing} - named == set()
    assert names.rows_text("ttnn.CONV2D") == names.rows_text("conv2d")


def test_the_command_says_that_no_name_of_ttnn_contains_a_text(capsys):
    assert main(["names", "all_gather", "moe"]) == 0
    shown = capsys.readouterr().out
    assert "ttnn.all_gather\n    honoured: " in shown
    assert "in the order of devices" in shown
    assert "ttnn.moe\n    not here yet\n" in shown
    assert main(["names", "conv9d"]) == 1
    assert capsys.readouterr().err == "error: no name of ttnn contains 'conv9d'\n"


def test_no_row_of_the_table_cites_its_own_name_as_source():
    rows = re.findall(r"^\| `ttnn\.([\w.]+)` \|.*\(ttnn\.\1\)", names.table(), re.MULTILINE)
    assert rows == []
