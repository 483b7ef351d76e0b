"""One key of scalars for every cache: values that it distinguishes."""

from __future__ import annotations

import math
import struct

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from ttnn_jit.foreign.values import atom_key
from ttnn_jit.ops.language.parameter import FLOAT
from ttnn_jit.specs.tensor_spec import DataType, MemoryConfig


class Celsius(float):
    """A number of a user class."""


NUMBERS = st.floats() | st.sampled_from([0.0, -0.0, 1.0, math.nan, -math.nan])
SCALARS = (
    NUMBERS
    | st.integers(-2, 2)
    | st.booleans()
    | st.none()
    | st.sampled_from(["", "1", b"1", ..., DataType.FLOAT32, MemoryConfig()])
    | NUMBERS.map(Celsius)
    | NUMBERS.map(np.float64)
    | st.floats(width=32).map(np.float32)
    | st.integers(-2, 2).map(np.int32)
    | st.builds(complex, NUMBERS, NUMBERS)
    | st.builds(range, st.integers(0, 2), st.integers(0, 2), st.integers(1, 3))
)
ATOMS = SCALARS | st.tuples(SCALARS, SCALARS) | st.frozensets(st.integers(0, 2))


def bits_of(atom):
    """The full description of an atom, in another form."""
    match atom:
        case float():
            said = struct.pack("<d", atom)
        case complex():
            said = bits_of(atom.real), bits_of(atom.imag)
        case tuple():
            said = tuple(map(bits_of, atom))
        case np.generic():
            said = atom.tobytes()
        case _:
            said = repr(atom)
    return type(atom).__name__, said


@given(ATOMS, ATOMS)
@example(Celsius(0.0), Celsius(-0.0))
@example((1, 2.0), (True, 2.0))
@example(0j, -0j)
@example(range(0, 9, 10), range(0, 9, 20))
def test_keys_of_atoms_are_equal_for_equal_types_and_bits_only(first, second):
    same = bits_of(first) == bits_of(second)
    assert (atom_key(first) == atom_key(second)) is same
    assert atom_key(first) == atom_key(first)
    assert not same or hash(atom_key(first)) == hash(atom_key(second))


@given(NUMBERS)
def test_a_number_of_an_operation_has_the_key_of_that_float(number):
    assert FLOAT.key(number) == atom_key(number)
