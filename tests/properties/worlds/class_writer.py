"""Writes classes of a world: a base, a few members, sometimes a parent."""

from __future__ import annotations

from itertools import count

from tests.properties.worlds.classes import BASES, Base
from tests.properties.worlds.members import MEMBERS, Member
from tests.properties.worlds.reader import Reader
from tests.properties.worlds.shapes import Klass

_CALLED_ON_SUPER = ("{e}.meth", "{e}.prop", "{e}.kw", "{e}.cm")


class ClassWriter(Reader):
    """A `Reader` that writes classes."""

    names: count[int]

    def class_text(self, name: str, kind: str, parent: Klass | None, *, helper: bool) -> tuple[str, Klass]:
        """A class definition, and its description."""
        base = BASES[kind]
        full = f"wh.{name}" if helper else name
        makes = tuple(make.replace("{C}", full) for make in base.makes)
        made = Klass(full, kind, makes, base.own, subclassable=base.subclassable)
        own_start = parent is None or self.draw.random() < 0.4
        body = [self._fill(line, name, made, helper=helper) for line in base.body] if own_start else []
        before = ""
        for member in self._members(base):
            i = str(next(self.names))
            before += self._fill(member.before.replace("{i}", i), name, made, helper=helper)
            lines = member.lines.replace("{i}", i)
            body += self._fill(lines, name, made, parent=parent, helper=helper).splitlines()
            for reading in member.readings:
                (made.readings if "{e}" in reading else made.class_readings).append(reading.replace("{i}", i))
        made.readings += [*(parent.readings if parent else ()), *base.readings]
        made.class_readings += base.class_readings
        head = self._fill(self._some_lines(base.head), name, made, helper=helper)
        if parent:
            head = head.replace(f"class {name}:", f"class {name}({parent.name}):")
        return before + head + "\n" + "".join(f"    {line}\n" for line in body or ["pass"]), made

    def _members(self, base: Base) -> list[Member]:
        fits = [member for member in MEMBERS if base.members and member.word not in base.unfit]
        fits = [member for member in fits if (member.word == "_missing_") <= ("enum.Enum" in base.head)]
        fits = [member for member in fits if (member.word == "__missing__") <= ("(dict)" in base.head)]
        return self.draw.sample(fits, self.draw.choice([0, 1, 1, 2, 3])) if fits else []

    def _some_lines(self, head: str) -> str:
        """A few methods of a metaclass."""
        first, *methods, last = head.split("\n") if "\n" in head else ("", head)
        if not first.startswith("class Meta"):
            return head
        kept = {*self.draw.sample(methods, 3)} - {"    @property"}
        return "\n".join([first, "    level = 2.0", *(line for line in methods if line in kept), last])

    def _fill(self, text: str, name: str, made: Klass, *, parent: Klass | None = None, helper: bool = False) -> str:
        while "{B}" in text:
            text = text.replace("{B}", self._computed(made, parent, helper=helper), 1)
        while "{B0}" in text:
            text = text.replace("{B0}", self.some_number(0, helper=helper), 1)
        while "{n}" in text:
            text = text.replace("{n}", self.literal(), 1)
        return text.replace("{C}", name).replace("{{", "{").replace("}}", "}")

    def _computed(self, made: Klass, parent: Klass | None, *, helper: bool) -> str:
        """The result expression of a method."""
        other = self.some_number(1, helper=helper)
        ways = [made.own, f"{made.own} * {other}", f"{made.own} + {self.literal()}", other]
        if parent is not None:
            on_super = [text for text in parent.readings if text.startswith(_CALLED_ON_SUPER)]
            ways += [text.replace("{e}", "super()") for text in on_super] * 2
        return f"({self.draw.choice(ways)})"
