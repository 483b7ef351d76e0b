"""`process.dataclass` against Python's own, on random classes."""

import copy
import dataclasses
import inspect
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ttnn_jit
from ttnn_jit.process.dataclass import dataclass, is_frozen, replace

FLAGS = ("frozen", "eq", "repr", "slots", "kw_only")
VALUES = st.lists(st.sampled_from([0, -0.0, 1, True, float("nan"), "text", (), []]), max_size=4)


@st.composite
def declarations(draw):
    """Fields, those without a default first, the arguments of the decorator, and whether there is a `__post_init__`."""
    kinds = draw(st.lists(st.fixed_dictionaries({"repr": st.booleans(), "compare": st.booleans()}), max_size=3))
    for position in range(draw(st.integers(0, len(kinds))), len(kinds)):
        kinds[position] |= draw(st.sampled_from([{"default": position}, {"default_factory": list}]))
    flags = draw(st.fixed_dictionaries({}, optional=dict.fromkeys(FLAGS, st.booleans())))
    return {f"f{k}": kind for k, kind in enumerate(kinds)}, flags, draw(st.booleans())


def declared(decorator, kinds, flags, checked):
    def check(self):
        if "text" in (getattr(self, name) for name in kinds):
            raise OverflowError

    members = {name: dataclasses.field(**kind) for name, kind in kinds.items()}
    members |= {"__annotations__": dict.fromkeys(kinds, "object"), "__module__": __name__, "__doc__": "One."}
    return decorator(**flags)(type("Declared", (), members | ({"__post_init__": check} if checked else {})))


def changed(instance):
    before = instance.f0  # a class without fields has no such methods
    instance.f0 = (5, before)
    return instance.f0


def without_f0(instance):
    assert instance.f0 is not None, "a class without fields is asked nothing more"
    del instance.f0
    return hasattr(instance, "f0")


QUESTIONS = {
    "how it is shown": lambda one, _: repr(one).replace(hex(id(one)), "itself"),
    "whether two are equal": lambda one, other: (one == other, one != other, one == one, one == "text"),
    "whether they have one hash": lambda one, other: hash(one) == hash(other),
    "that it may be changed": lambda one, _: changed(one),
    "that it may lose a field": lambda one, _: without_f0(one),
    "how it is copied": lambda one, _: dataclasses.asdict(copy.copy(one)),
    "how it is copied with all it holds": lambda one, _: dataclasses.asdict(copy.deepcopy(one)),
    "how one is made of it": lambda one, _: dataclasses.asdict(dataclasses.replace(one, f0=7)),
    "whether it has further attributes": lambda one, _: hasattr(one, "__dict__"),
}


def outcome(action):
    """The outcome, or the kind of error."""
    try:
        return repr(action())
    except Exception as error:  # noqa: BLE001 - whatever Python's own raises
        return type(error)


@settings(deadline=None)
@given(declarations(), st.lists(VALUES, min_size=2, max_size=2), st.booleans())
def test_a_dataclass_behaves_like_pythons(declaration, given_values, named):
    ours, pythons = (declared(decorator, *declaration) for decorator in (dataclass, dataclasses.dataclass))
    assert str(inspect.signature(ours)) == str(inspect.signature(pythons))
    assert getattr(ours, "__match_args__", ()) == pythons.__match_args__

    def made(cls, values):
        names = [f"f{k}" for k in range(len(values))]
        return cls(**dict(zip(names, values, strict=True))) if named else cls(*values)

    for question, ask in QUESTIONS.items():
        ours_does, pythons_does = (
            outcome(lambda cls=cls, ask=ask: ask(*(made(cls, values) for values in given_values)))
            for cls in (ours, pythons)
        )
        assert ours_does == pythons_does, question


@settings(deadline=None)
@given(declarations(), VALUES, st.sets(st.sampled_from(["f0", "f1", "f2", "other"])))
def test_an_instance_with_other_fields_is_as_pythons(declaration, values, names):
    cls = declared(dataclass, *declaration)
    try:
        one = cls(**{f"f{k}": value for k, value in enumerate(values)})
    except (TypeError, OverflowError):
        return
    changes = dict.fromkeys(sorted(names), 7)
    assert outcome(lambda: replace(one, **changes)) == outcome(lambda: dataclasses.replace(one, **changes))


def test_a_dataclass_keeps_its_own_methods():
    @dataclass(frozen=True)
    class Modulo:
        number: int

        def __eq__(self, other):
            return isinstance(other, Modulo) and self.number % 7 == other.number % 7

        def __hash__(self):
            return self.number % 7

        def __repr__(self):
            return f"{self.number} mod 7"

    assert Modulo(8) == Modulo(1)
    assert len({Modulo(8), Modulo(1)}) == 1
    assert repr(Modulo(8)) == "8 mod 7"


def test_a_subclass_has_the_fields_of_its_base_first():
    @dataclass(frozen=True, kw_only=True)
    class Base:
        name: str = "base"

    @dataclass(frozen=True, kw_only=True)
    class Derived(Base):
        size: int

    assert repr(Derived(size=3)).endswith("Derived(name='base', size=3)")
    assert Derived(size=3, name="other") != Derived(size=3)


def test_a_dataclass_declares_whether_its_own_instances_are_frozen():
    @dataclass(frozen=True)
    class Frozen:
        number: int

    @dataclass
    class Changing:
        number: int

    class Plain(Frozen):
        pass

    assert [is_frozen(cls) for cls in (Frozen, Changing, Plain, int)] == [True, False, False, False]


def test_a_frozen_dataclass_of_pythons_cannot_be_a_base():
    @dataclasses.dataclass(frozen=True)
    class Pythons:
        number: int

    with pytest.raises(TypeError, match="frozen"):

        @dataclass(frozen=True)
        class Derived(Pythons):
            pass


def test_the_package_uses_this_decorator_except_for_passes_which_use_xdsls():
    package = Path(ttnn_jit.__file__).parent
    files = {*package.rglob("*.py"), *(package / "cache").rglob("*.py"), *(package / "kernels").rglob("*.py")}
    texts = {str(path.relative_to(package)): path.read_text(encoding="utf-8") for path in files}
    pythons = {
        name for name, text in texts.items() if re.search(r"^from dataclasses import .*\bdataclass\b", text, re.M)
    }
    passes = {
        name
        for name, text in texts.items()
        if re.search(r"\((Module|Function|Kernel|Text)Pass\):|\((TextPipeline|CommonOptions)\):", text)
    }
    assert pythons - {"process/dataclass.py"} == passes


def test_the_constructor_is_compiled_at_its_first_use():
    @dataclass(frozen=True)
    class Point:
        x: int
        y: int = 2

    assert not inspect.isfunction(vars(Point)["__init__"])
    assert str(inspect.signature(Point)).startswith("(x")
    assert inspect.isfunction(vars(Point)["__init__"])
    assert Point(1) == Point(x=1, y=2)


def test_a_subclass_may_use_its_bases_constructor_first():
    @dataclass
    class Base:
        x: int

    @dataclass
    class Derived(Base):
        y: int

        def __init__(self, y):
            super().__init__(3)
            self.y = y

    assert Derived(4) == Derived(4)
    assert (Derived(4).x, Base(5).x) == (3, 5)
