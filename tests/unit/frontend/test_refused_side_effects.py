"""Side effects of a compiled function are refused, or make it opaque, so that each call has them."""

from __future__ import annotations

import itertools
import linecache

import pytest

from tests.unit.frontend.stand_in import BF16, lowered
from ttnn_jit.diagnostics.errors import CompileError

MAIN = """\
import collections, dataclasses, functools, itertools, operator, types
class L(list): pass
class D(dict): pass
@dataclasses.dataclass
class Record:
    scale: float = 2.0
    items: list = dataclasses.field(default_factory=lambda: [1.0])
LIST, DICT, SET, NEST, OBJECT = [3, 1, 2], {'a': 1}, {1, 2}, {'l': [1]}, types.SimpleNamespace(items=[1])
DEQUE, BYTES, COUNTER = collections.deque([1, 2]), bytearray(b'a'), collections.Counter('ab')
DEFAULT, ORDERED = collections.defaultdict(int), collections.OrderedDict(a=1, b=2)
LIST_S, DICT_S, USER_LIST, USER_DICT = L([3, 1]), D(a=1), collections.UserList([1]), collections.UserDict(a=1)
def world(): return repr([LIST, DICT, SET, NEST, OBJECT, DEQUE, BYTES, COUNTER, DEFAULT, ORDERED, LIST_S, DICT_S,
                          vars(LIST_S), USER_LIST, USER_DICT, vars(program), 'NEW' in globals()])
"""
CHANGES = """\
LIST.append(1) ;; list.append(LIST, 1) ;; LIST += [1] ;; operator.iadd(LIST, [1]) ;; operator.imul(LIST, 2)
operator.iadd(LIST, LIST_S)
operator.setitem(LIST, 0, 7) ;; operator.delitem(LIST, 0) ;; LIST[0] = 7 ;; del LIST[0] ;; LIST[0] += 1
LIST[0:1] = [] ;; LIST.sort() ;; list.sort(LIST)
LIST.__setitem__(0, 7) ;; LIST.__iadd__([1]) ;; LIST.__imul__(2) ;; LIST.__delitem__(0)
list.__setitem__(LIST, 0, 7) ;; LIST.__init__([9])
list.__iadd__(LIST, [1]) ;; list.__init__(LIST, [9]) ;; list(map(LIST.append, [1]))
functools.partial(LIST.append, 1)() ;; f = LIST.append; f(1)
functools.reduce(operator.iadd, [[1], [2]], LIST) ;; list(itertools.accumulate([[1]], operator.iadd, initial=LIST))
[LIST.append(k) for k in [1]] ;; [k for k in LIST if LIST.pop()] ;; any(LIST.append(k) for k in [1])
sorted([1], key=LIST.append)
operator.methodcaller('append', 1)(LIST) ;; getattr(LIST, 'append')(1) ;; list(filter(LIST.append, [1]))
a = LIST; a += [1] ;; a = [LIST]; a[0] += [1] ;; a = [LIST]; a[0].append(1) ;; a, = [LIST]; a[0] = 7
a = (LIST or []); a.extend([1])
a = max([LIST], key=len); a.reverse() ;; a = DICT.get('zz', LIST); a.clear() ;; a = [*[LIST]][0]; a *= 2
a = LIST_S; a += [1]
DICT['z'] = 1 ;; operator.setitem(DICT, 'z', 1) ;; dict.update(DICT, z=1) ;; DICT.setdefault('z', 1)
dict.setdefault(DICT, 'z', 1) ;; del DICT['a']
dict.pop(DICT, 'a') ;; DICT.popitem() ;; DICT |= {'z': 1} ;; operator.ior(DICT, {'z': 1})
a = DICT; a |= {'z': 1} ;; DICT_S['z'] = 1 ;; DICT_S.update(z=1)
SET.add(9) ;; set.add(SET, 9) ;; SET |= {9} ;; operator.ior(SET, {9}) ;; DEQUE.append(1) ;; DEQUE += [1]
operator.iadd(DEQUE, [1]) ;; DEQUE[0] = 7
DEFAULT['q'] ;; DEFAULT.__missing__('q') ;; DEFAULT.__getitem__('q') ;; operator.getitem(DEFAULT, 'q')
operator.itemgetter('q')(DEFAULT)
list(map(DEFAULT.__getitem__, ['q'])) ;; DEFAULT |= {'z': 1} ;; ORDERED.move_to_end('a') ;; ORDERED['z'] = 1
COUNTER['a'] += 1 ;; COUNTER.update('a')
LIST_S.append(1) ;; list.append(LIST_S, 1) ;; LIST_S += [1] ;; LIST_S.q = 1 ;; USER_LIST.append(1)
USER_LIST += [1] ;; USER_DICT['z'] = 1
OBJECT.items.append(1) ;; operator.iadd(OBJECT.items, [1]) ;; OBJECT.q = 1 ;; setattr(OBJECT, 'q', 1)
OBJECT.__dict__['q'] = 1 ;; vars(OBJECT)['q'] = 1
operator.setitem(OBJECT.__dict__, 'q', 1) ;; del OBJECT.items ;; NEST['l'].append(1)
operator.setitem(NEST['l'], 0, 7) ;; globals()['NEW'] = 1
BYTES.append(1) ;; BYTES += b'a' ;; operator.iadd(BYTES, b'a') ;; BYTES[0] = 7 ;; program.q = 1
setattr(program, 'q', 1)"""

ARGUMENTS = {
    "[1.0, 2.0]": (
        "a.append(1.0) ;; a[0] = 5.0 ;; a += [1.0] ;; operator.iadd(a, [1.0]) ;; "
        "a.pop() ;; del a[0] ;; list.append(a, 1.0) ;; a.reverse() ;; a *= 2"
    ),
    "{'a': 1.0}": (
        "a['z'] = 1.0 ;; a['a'] = 5.0 ;; a.pop('a') ;; "
        "a.setdefault('z', 1.0) ;; a.update(z=1.0) ;; a |= {'z': 1.0} ;; del a['a']"
    ),
    "collections.defaultdict(float, a=1.0)": (
        "a['z'] ;; operator.getitem(a, 'z') ;; a.__missing__('z') ;; [a[k] for k in 'az']"
    ),
    "Record()": (
        "a.scale = 5.0 ;; a.items.append(1.0) ;; a.items[0] = 5.0 ;; a.q = 1 ;; setattr(a, 'scale', 5.0) ;; del a.scale"
    ),
    "L([1.0])": "a.append(1.0) ;; a.q = 1 ;; a += [1.0] ;; list.append(a, 1.0)",
    "D(a=1.0)": "a['z'] = 1.0 ;; a.q = 1 ;; dict.update(a, z=1.0)",
    "collections.OrderedDict(a=1.0, b=1.0)": "a.move_to_end('a') ;; a['z'] = 1.0",
    "[[1.0], {'a': [2.0]}]": (
        "a[0].append(1.0) ;; a[1]['a'][0] = 7.0 ;; a[1]['a'] += [1.0] ;; a[0], a[1] = a[1], a[0]"
    ),
}
_numbers = itertools.count()
BOTH = pytest.mark.parametrize("graph_capture", [False, True], ids=["ast", "capture"])


def loaded(change, parameters):
    text = f"{MAIN}def program({parameters}):\n    {change}\n    return x * 2.0\n"
    file = f"<changes {next(_numbers)}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    space = {"__name__": __name__}
    exec(compile(text, file, "exec"), space)
    return space


@BOTH
@pytest.mark.parametrize("change", CHANGES.splitlines())
def test_no_object_outside_is_changed_silently(change, graph_capture):
    unsaid = [text for text in change.split(" ;; ") if is_unsaid(loaded(text, "x"), graph_capture)]
    assert unsaid == []


def is_unsaid(space, graph_capture):
    """Whether the program is compiled for good, or has a side effect when it is interpreted."""
    before = space["world"]()
    try:
        opaque = lowered(space["program"], BF16, graph_capture=graph_capture).opaque
    except CompileError:
        opaque = "refused"
    return not opaque or (not graph_capture and space["world"]() != before)


@BOTH
@pytest.mark.parametrize("made", ARGUMENTS)
def test_a_change_of_an_argument_is_refused(made, graph_capture):
    for change in ARGUMENTS[made].split(" ;; "):
        space = loaded(change, "x, a")
        argument = eval(made, space)
        before = repr(argument), repr(vars(argument) if hasattr(argument, "__dict__") else None)
        with pytest.raises(CompileError):
            lowered(space["program"], BF16, argument, graph_capture=graph_capture)
        assert before == (repr(argument), repr(vars(argument) if hasattr(argument, "__dict__") else None))


@BOTH
def test_no_tensor_is_stored_outside(graph_capture):
    """A trace would store its proxy there, which has no data."""
    for change in ("OBJECT.items = x", "setattr(OBJECT, 'q', x)", "LIST.append(x)", "DICT['a'] = x", "a.scale = x"):
        space = loaded(f"x = x + 1.0; {change}", "x, a")
        before = space["world"]()
        with pytest.raises(CompileError) as refused:
            lowered(space["program"], BF16, eval("Record()", space), graph_capture=graph_capture)
        assert space["world"]() == before
        assert (refused.value.location.line, refused.value.location.column > 5) == (MAIN.count("\n") + 2, True)


def test_an_attribute_may_be_assigned_its_own_value():
    for same in ("OBJECT.items = OBJECT.items", "a.scale, a.items = a.scale, a.items"):
        space = loaded(same, "x, a")
        before = space["world"]()
        assert not lowered(space["program"], BF16, eval("Record()", space)).opaque
        assert space["world"]() == before


def test_an_assignment_to_an_attribute_that_would_run_user_code_is_refused():
    """No assignment of another value, equal or not."""
    for made, change in [
        ("Record()", "a.items = [1.0]"),
        ("Record()", "a.items = OBJECT.items"),
        ("W()", "a.scale = a.scale"),
    ]:
        space = loaded(change, "x, a")
        exec("class W:\n    def __setattr__(self, name, value): LIST.append(value)\n", space)
        argument = eval(made, space)
        vars(argument).update(scale=2.0)
        with pytest.raises(CompileError, match="assigning to an attribute"):
            lowered(space["program"], BF16, argument)


def test_a_trace_without_source_that_changes_an_argument_names_it():
    space = loaded("a['z']", "x, a")
    linecache.cache.clear()
    with pytest.raises(CompileError, match="`program` changes its argument `a`") as refused:
        lowered(space["program"], BF16, eval("collections.defaultdict(float)", space), graph_capture=True)
    assert "make a copy of it first" in refused.value.help


def test_a_tensor_of_an_ended_trace_is_refused_at_its_use():
    space = loaded("OBJECT.items = x + 1.0", "x")
    linecache.cache.clear()
    lowered(space["program"], BF16, graph_capture=True)
    with pytest.raises(CompileError, match="`add` uses a tensor of a function that has been compiled") as refused:
        space["OBJECT"].items + 1.0
    assert refused.value.location.file == __file__
