"""Programs that must not compile. Below the offending line: the carets, the message, and the help.

Messages stand here to the letter and carets to the column. A function called with `AST only` in its docstring is
legal, or stopped elsewhere, when it is traced.
"""
# fmt: off
# ruff: noqa

from __future__ import annotations

import math
import random
from typing import Any

import numpy
import torch

from tests.unit.frontend.stand_in import BF16, StandInJit, ttnn

WEIGHTS = numpy.ones((32, 32), numpy.float32)

SCALES = [0.5, 2.0]
COUNT = 0

# --- Operations -----------------------------------------------------------------------------------------------------

def an_alias_that_only_eager_ttnn_has(x):
    """AST only: a trace sees the whole call."""
    return ttnn.mul(x, 0.5)
#          ^^^^^^^^ Function mul not supported
#          help: did you mean `multiply`?


def a_misspelt_operation(x):
    y = ttnn.abss(x)
#       ^^^^^^^^^ Function abss not supported
#       help: did you mean `abs`?
    return y


def bits_of_floats(x):
    return ttnn.bitwise_and(x, 3)
#          ^^^^^^^^^^^^^^^^^^^^^^ `bitwise_and` does not take BFLOAT16 tensors
#          help: it takes INT32, UINT16, UINT32, UINT8


def a_function_of_the_host_api(x):
    """AST only: a trace sees the whole call."""
    return ttnn.from_torch(x)
#          ^^^^^^^^^^^^^^^ Function from_torch not supported
#          help: `ttnn.from_torch` runs on the host: call it before or after the jitted function


def a_function_of_another_library(x):
    """AST only: traced, numpy fails in its own way."""
    return numpy.exp(x)
#          ^^^^^^^^^ Function exp not supported
#          help: the operation is `ttnn.exp`


def a_function_of_math(x):
    """AST only: traced, math asks for a float."""
    return x * math.exp(x)
#              ^^^^^^^^ Function exp not supported
#              help: the operation is `ttnn.exp`


def a_function_of_torch(x):
    """AST only: a trace sees the whole call."""
    return torch.mul(x, x)
#          ^^^^^^^^^ Function mul not supported
#          help: the operation is `ttnn.multiply`


def a_reduction_of_torch(x):
    """AST only: a trace sees the whole call."""
    return torch.sum(x)
#          ^^^^^^^^^ Function sum not supported
#          help: the operation is `ttnn.sum`


def an_operation_that_is_not_here(x):
    return ttnn.get_all_programs_perf_data(x)
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ Function get_all_programs_perf_data not supported
#          help: there is no device profiler; time the calls


def a_method_of_torch(x):
    return x.reshape(4)
#          ^^^^^^^^^ a tensor has no attribute `reshape` while a function is compiled
#          help: it has `shape`, `dtype`, `layout`, `memory_config`; the operation is written `ttnn.reshape(...)`


def too_many_arguments(x):
    return ttnn.exp(x, x)
#          ^^^^^^^^^^^^^^ `exp` takes at most 1 arguments, got 2
#          help: the call is written `ttnn.exp(input_tensor)`


def an_argument_that_the_operation_lacks(x):
    return ttnn.add(x, x, alpha=2)
#          ^^^^^^^^^^^^^^^^^^^^^^^ `add` has no argument `alpha`


def a_string_among_the_operands(x):
    return ttnn.add(x, "1")
#          ^^^^^^^^^^^^^^^^ `input_tensor_b` of `add` must be a tensor or a number, got str


def a_number_as_a_matrix(x):
    return x @ 2.0
#          ^^^^^^^ `input_tensor_b` of `matmul` must be a tensor, got float


def matrices_that_do_not_fit(x):
    return x @ ttnn.reshape(x, (16, 64))
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ `matmul` of shapes [32, 32] and [16, 64]: the dimensions to contract have 32 and 16 elements


def a_division_that_tensors_lack(x):
    return 2.0 // x
#          ^^^^^^^^ the operator `//` is not supported on tensors
#          help: write `ttnn.floor_divide(x, y)`


def a_remainder_in_place(x):
    x %= 2
#   ^^^^^^ the operator `%` is not supported on tensors
#          help: write `ttnn.remainder(x, y)`, or `ttnn.fmod(x, y)` for the sign of x
    return x


def a_list_added_to_a_tensor(x):
    return x + [1]
#          ^^^^^^^ `+` needs tensors or numbers, got list


def a_tensor_made_inside(x):
    return ttnn.add(x, WEIGHTS.T)
#          ^^^^^^^^^^^^^^^^^^^^^^ `add` got a ndarray that no name, attribute or item leads to
#          help: a tensor is no constant of the program: make it before the call, and keep it where the call can find it


def shapes_that_do_not_fit(x, y=BF16.with_(shape=(32, 64))):
    return ttnn.exp(x) + y
#          ^^^^^^^^^^^^^^^ `add` got shapes that do not broadcast: [32, 32] and [32, 64]
#          help: extents must be equal or 1, counted from the last dimension


def a_deallocated_tensor(x):
    y = ttnn.exp(x)
    ttnn.deallocate(y)
    return ttnn.neg(y)
#          ^^^^^^^^^^^ `neg` uses a tensor that was deallocated at LOCATION


# --- What needs a tensor's values -----------------------------------------------------------------------------------

def a_branch_on_a_tensor(x):
    if x > 0:
#      ^^^^^ a branch cannot depend on a tensor: its value is not known before the call
#      help: choose element by element with `ttnn.where(condition, a, b)`; repeat with `for _ in range(n)` where n is a Python int; branch on a compile-time value such as `x.shape`
        return x
    return ttnn.neg(x)


def a_loop_on_a_tensor(x):
    while ttnn.lt(x, 1.0):
#         ^^^^^^^^^^^^^^^ a branch cannot depend on a tensor: its value is not known before the call
        x = x * 2
    return x


def a_conditional_expression_on_a_tensor(x):
    return x if x else -x
#               ^ a branch cannot depend on a tensor: its value is not known before the call


def an_assertion_on_a_tensor(x):
    """AST only: pytest rewrites assertions."""
    assert x > 0
#          ^^^^^ a branch cannot depend on a tensor: its value is not known before the call
    return x


def a_tensor_as_a_number(x):
    return x * float(x)
#              ^^^^^^^^ `float()` of a tensor is not supported: its value is not known before the call


def a_loop_over_a_tensor(x):
    for row in x:
#              ^ iterating over a tensor is not supported: its value is not known before the call
        x = row
    return x


def an_element_that_is_not_there(x):
    return x[99]
#          ^^^^^ there is no element 99 along a dimension of extent 32


def elements_backwards(x):
    return x[::-1]
#          ^^^^^^^ the steps of a slice are at least 1, got -1


def a_slice_beyond_a_tensor(x):
    return ttnn.slice(x, (0, 0), (33, 1))
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ `slice`: a slice from [0, 0] to [33, 1] leaves a tensor of shape [32, 32]
#          help: begins and ends lie within each extent, or count from its end; `x[...]` takes what there is


def an_element_named_by_a_tensor(x):
    return x[x]
#          ^^^^ a tensor is no index of a tensor
#          help: index by whole numbers, slices, None and ...


def a_shape_of_more_elements(x):
    return ttnn.reshape(x, (3, -1))
#          ^^^^^^^^^^^^^^^^^^^^^^^^ `reshape`: a tensor of shape [32, 32] has 1024 elements, which [3, -1] does not hold
#          help: the product of the extents must be the number of elements; one of them may be -1


def a_dimension_that_is_not_there(x):
    return ttnn.permute(x, (0, 2))
#          ^^^^^^^^^^^^^^^^^^^^^^^ `permute`: there is no dimension 2 in a tensor of rank 2
#          help: it has -2 to 1


def writing_into_a_tensor(x):
    x[0] = ttnn.reshape(x, (1024,))
#   ^^^^ a tensor of shape [1024] does not broadcast to a part of [32]
    return x


def a_method_of_torchs_that_writes_in_place(x):
    return x.add_(1)
#          ^^^^^^ a tensor has no attribute `add_` while a function is compiled
#          help: it has `shape`, `dtype`, `layout`, `memory_config`; the operation is written `ttnn.add(...)`


def an_attribute_that_is_nothing_of_ttnns(x):
    return x.qqqq
#          ^^^^^^ a tensor has no attribute `qqqq` while a function is compiled
#          help: it has `shape`, `dtype`, `layout`, `memory_config`


def numbers_of_a_tensor_in_a_string(x):
    name = f"{x:.2f}"
#          ~~~~~~ formatting the numbers of a tensor is not supported: its value is not known before the call
    return x


def an_attribute_that_tensors_lack(x):
    return x.exp()
#          ^^^^^ a tensor has no attribute `exp` while a function is compiled
#          help: it has `shape`, `dtype`, `layout`, `memory_config`; the operation is written `ttnn.exp(...)`


def a_conversion_of_torchs(x):
    return ttnn.exp(x.float())
#                   ^^^^^^^ a tensor has no attribute `float` while a function is compiled
#                   help: write `ttnn.typecast(x, ttnn.float32)`


# --- Returning ------------------------------------------------------------------------------------------------------

def a_missing_return(in0):
#~~~~~~~~~~~~~~~~~~~ `a_missing_return` returns nothing
#                    help: end it with `return add_2_0`
    """AST only: a trace knows no more than the line."""
    add_1_0 = ttnn.add(in0, in0)
    add_2_0 = ttnn.add(add_1_0, in0)


def a_number_returned(x):
#~~~~~~~~~~~~~~~~~~~~ `a_number_returned` returns 3, which is no tensor
    """AST only: a trace knows no more than the line."""
    return x, 3


def a_generator(x):
    """AST only: a trace knows no more than the line."""
    yield ttnn.exp(x)
#   ^^^^^^^^^^^^^^^^^ `a_generator` is a generator, which cannot be compiled
#   help: collect results in a list and return it


def the_class_above(x):
    """AST only: a trace runs it, and knows more of what goes wrong."""
    return super().forward(x)
#          ^^^^^^^ RuntimeError: super(): no arguments
#          help: name the class: `Base.method(self, x)`


async def a_coroutine(x):
#~~~~~~~~~~~~~~~~~~~~~~~~ `a_coroutine` is an `async def`, which cannot be compiled: its call makes a coroutine
#                         help: write it with `def`; your own coroutines may call what `jit` returns
    return ttnn.exp(x)


async def an_async_generator(x):
#~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~ `an_async_generator` is an `async def`, which cannot be compiled: its call makes a coroutine
    yield ttnn.exp(x)


# --- Functions ------------------------------------------------------------------------------------------------------

def power(x, n):
    return x if n == 1 else x * power(x, n - 1)
#                               ^^^^^^^^^^^^^^^ `power` calls itself more than 24 calls deep
#                               help: does it ever return? Write long repetitions as loops over compile-time values


def recursion(x):
    """AST only: a trace follows it to its end. AT power"""
    return power(x, 100)


def a_helper_called_wrongly(x):
    return power(x)
#          ^^^^^^^^ TypeError: power() missing 1 required argument: 'n'


a_helper_called_wrongly.ast_only = True


def a_helper_that_fails(x):
    return 1 / x.shape.index(7)
#              ^^^^^^^^^^^^^^^^ ValueError: tuple.index(x): x not in tuple


def a_debugger(x):
    """AST only: traced, it stops once."""
    y = ttnn.exp(x)
    breakpoint()
#   ^^^^^^^^^^ Function breakpoint not supported
#   help: `breakpoint` would run once, when the function is compiled, and not at each call
    return y


def a_random_number(x):
    """AST only: traced, the number stays what it was."""
    return x * random.random()
#              ^^^^^^^^^^^^^ Function random not supported
#              help: `random.random` would be called once, when the function is compiled: call it before, and pass its value or tensor as an argument


class Settings:
    pass


def an_object_made_inside(x):
    """AST only: traced, it is made."""
    settings = Settings()
#              ^^^^^^^^ Function Settings not supported
#              help: make the object outside the function and pass it in, or use tuples, lists and dicts
    return x


# --- Statements outside the language --------------------------------------------------------------------------------

def groups_of_exceptions(x):
    """AST only: traced, it works."""
    try:
#   ^ `except*` cannot be compiled
#   help: write `except`, or call the jitted function inside `try`
        return ttnn.exp(x)
    except* ValueError:
        x = ttnn.neg(x)
    return x


def a_context(x):
    """AST only: traced, it works."""
    with open("file"):
#   ^ `with` cannot be compiled
        return x


def a_global_assigned(x):
    """AST only: a trace stops at the assignment."""
    global COUNT
#   ^^^^^^^^^^^^ `global` cannot be compiled: a compiled function changes nothing outside itself
#   help: return the value
    COUNT = COUNT + 1
    return x


def an_import(x):
    import no_such_library as library
#   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ ModuleNotFoundError: No module named 'no_such_library'
    return x * library.scale


def a_yield_inside_an_expression(x):
    """AST only: a trace runs it."""
    def parts():
        sent = 2.0 * (yield x)
#                     ^^^^^^^ `yield` inside an expression cannot be compiled
#                     help: give it a name: `sent = yield x`
        yield sent
    return list(parts())


def a_global_list_changed(x):
    """AST only: a trace finds out at the end."""
    SCALES.append(1.0)
#   ^^^^^^^^^^^^^^^^^^ `append` would change a list from outside the function
#   help: make a copy of it first, or return the new value
    return x


def a_global_list_written(x):
    """AST only: a trace finds out at the end."""
    SCALES[0] = 3.0
#   ^^^^^^^^^ this list comes from outside the function, which a compiled function cannot change
    return x


def an_attribute_assigned(x):
    """AST only: a trace cannot see it."""
    ttnn.flag = True
#   ^^^^^^^^^ assigning to an attribute cannot be compiled: it would change the world outside the program
    return x


def an_attribute_added_to(x):
    """AST only: a trace cannot see it."""
    ttnn.flag += 1
#   ^^^^^^^^^ assigning to an attribute cannot be compiled: it would change the world outside the program
    return x


def a_name_deleted_twice(x):
    """AST only: Python has its own words."""
    y = x
    del y
    del y
#       ^ `y` has no value here
    return x


def a_loop_without_end(x):
    """AST only: a trace has no end either."""
    n = 0
    while n < 10:
#         ^^^^^^ the loops of this function make more than 65536 iterations, and each is unrolled
        x
    return x


# --- Values ---------------------------------------------------------------------------------------------------------

def an_undefined_name(x):
    return x * undefined
#              ^^^^^^^^^ the name `undefined` is not defined


an_undefined_name.ast_only = True


def a_name_without_a_value(x):
    """AST only: Python has its own words."""
    if x.shape[0] > 99:
        y = x
    return y
#          ^ `y` has no value here: it is assigned on another path


def a_division_by_zero(x):
    return x * (1 / 0)
#               ^^^^^ ZeroDivisionError: division by zero


def a_failed_assertion(x):
    """AST only: pytest rewrites assertions."""
    assert x.shape[0] == 64, f"rows: {x.shape[0]}"
#   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ assertion failed: rows: 32
    return x


def an_exception_raised(x):
    raise ValueError(f"unsupported rank {len(x.shape)}")
#   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ ValueError: unsupported rank 2


def values_that_do_not_unpack(x):
    """AST only: Python has its own words."""
    a, b = x.shape[0], 1, 2
#   ^^^^ ValueError: cannot unpack 3 values into 2 names
    return x


def characters_wider_than_bytes(größe):
    ä = "größer"; return ttnn.expp(größe)
#                        ^^^^^^^^^ Function expp not supported
