"""Small worlds for the kinds of guards that random worlds seldom need."""

from __future__ import annotations

from tests.properties.worlds.attack import Case, Step
from tests.properties.worlds.mutations import Mutation
from tests.properties.worlds.world import Statement, World

_PLAIN = "class C:\n    scale = 2.0"
_COMPUTING = f"{_PLAIN}\n    def __getattr__(self, name): return 2.0"
_WITH_TABLE = """\
class C(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self._buffers['k'] = 2.0"""
_OTHER_CONSTANT = "program.__code__ = program.__code__.replace(co_consts=(None, 3.0))"


def _case(main: str, statement: str, change: str, *, mode: str = "function", taken: str = "I", calls: int = 2) -> Case:
    world = World((), (main, "I = C()", "G = 2.0"), (Statement(f"r0 = {statement}", ()),), mode, taken)
    return Case(world, (Step(calls=calls), Step(Mutation("main", change))), None)


DIRECTED = {
    "type": _case(_PLAIN, "x * len(str(type(I)))", "I.__class__ = Other"),
    "member": _case(_PLAIN, "x * (3.0 if I else 5.0)", "C.__bool__ = lambda self: False"),
    "own": _case(_COMPUTING, "x * I.q", "I.q = 3.0"),
    "native item": _case("C = lambda: {'k': 2.0}", "x * I.get('q', 3.0)", "I['q'] = 5.0"),
    "defaults of its own": _case("C = lambda: 2.0", "x * a", "program.__defaults__ = (3.0,)", mode="default", calls=4),
    "class of a tensor": _case("C = lambda: {'k': torch.ones(1)}", "x * (3.0 if 'k' in I else 5.0)", "I.pop('k')"),
    "class of a container": _case(_WITH_TABLE, "x * I.k", "vars(I)['_buffers'] = collections.defaultdict(lambda: 5.0)"),
    "tensors as objects": _case(_PLAIN, "x * (3.0 if x is a else 5.0)", "G = 3.0", mode="tensors", taken="G == 2.0"),
    "function of a method": _case(_PLAIN, "x * 2.0", _OTHER_CONSTANT, mode="method", calls=4),
}
"""Kind of guard -> a case that fails without it."""
