"""The text of checks: an access to memory lies in a known range, and the function does not run on and on.

Every access has a record on the stack with the range in which its last access lay. While addresses stay in that range
a check is three comparisons; otherwise `@find_range` looks the address up.
"""

from __future__ import annotations

from ttnn_jit.runtime.native.run_record import Error, Word


def word(name: str, which: Word, record: str = "%run") -> str:
    """The line that defines `name` as the address of a word of the record."""
    return f"{name} = getelementptr i64, ptr {record}, i64 {int(which)}"


FAIL = f"""define internal void @fail(ptr %run, i64 %error, i64 %site, i64 %address, i64 %bytes) {{
  {word("%old", Word.ERROR)}
  %known = load i64, ptr %old
  %is_first = icmp eq i64 %known, 0
  br i1 %is_first, label %first, label %done
first:
  store i64 %error, ptr %old
  {word("%w1", Word.SITE)}
  store i64 %site, ptr %w1
  {word("%w2", Word.ADDRESS)}
  store i64 %address, ptr %w2
  {word("%w3", Word.BYTES)}
  store i64 %bytes, ptr %w3
  br label %done
done:
  ret void
}}
"""

FIND_RANGE = f"""define internal i1 @find_range(ptr %run, i64 %address, i64 %bytes, i64 %site, ptr %seen) {{
  %is_empty = icmp eq i64 %bytes, 0
  br i1 %is_empty, label %nothing, label %start
nothing:
  ret i1 true
start:
  {word("%w0", Word.RANGES)}
  %count = load i64, ptr %w0
  {word("%w1", Word.TABLE)}
  %table = load ptr, ptr %w1
  br label %next
next:
  %at = phi i64 [ 0, %start ], [ %more, %other ]
  %is_left = icmp ult i64 %at, %count
  br i1 %is_left, label %look, label %outside
look:
  %twice = mul i64 %at, 2
  %first = getelementptr i64, ptr %table, i64 %twice
  %low = load i64, ptr %first
  %second = getelementptr i64, ptr %first, i64 1
  %high = load i64, ptr %second
  %is_after = icmp uge i64 %address, %low
  %is_before = icmp ule i64 %address, %high
  %is_near = and i1 %is_after, %is_before
  %space = sub i64 %high, %address
  %has_space = icmp uge i64 %space, %bytes
  %is_inside = and i1 %is_near, %has_space
  br i1 %is_inside, label %inside, label %other
other:
  %more = add i64 %at, 1
  br label %next
inside:
  store i64 %low, ptr %seen
  %s1 = getelementptr i64, ptr %seen, i64 1
  %last = sub i64 %high, %bytes
  store i64 %last, ptr %s1
  {word("%w2", Word.GENERATION)}
  %generation = load i64, ptr %w2
  %s2 = getelementptr i64, ptr %seen, i64 2
  store i64 %generation, ptr %s2
  ret i1 true
outside:
  call void @fail(ptr %run, i64 {int(Error.OUT_OF_RANGE)}, i64 %site, i64 %address, i64 %bytes)
  ret i1 false
}}
"""

SEEN_WORDS = 3
"""The words of an access's record: the first byte of the range, the last byte at which an access may begin, the
generation."""

TAKE_STEP = f"""define internal i1 @take_step(ptr %run, i64 %site) alwaysinline {{
  {word("%w", Word.STEPS)}
  %left = load i64, ptr %w
  %fewer = sub i64 %left, 1
  store i64 %fewer, ptr %w
  %is_left = icmp sgt i64 %fewer, 0
  br i1 %is_left, label %goes_on, label %stops
goes_on:
  ret i1 true
stops:
  call void @fail(ptr %run, i64 {int(Error.TOO_LONG)}, i64 %site, i64 0, i64 0)
  ret i1 false
}}
"""

DEFINITIONS = FAIL + FIND_RANGE + TAKE_STEP
