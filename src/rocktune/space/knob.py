"""Knobs: single options with a range of values, which can be sampled, written and read."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rocktune.errors import UserError
from rocktune.space.configuration import Value
from rocktune.units import format_bytes, parse_bytes

Section = Literal["db", "cf", "table", "governor", "flsm", "workload"]
"""The sections of knobs that a user may write."""
ActsOn = Literal["live", "new_files", "all_files"]
LiveChange = Literal["set_options", "set_db_options", "object", "reopen", "migration"]


@dataclass(frozen=True)
class Condition:
    """A condition under which a knob is active: its parent is active and has one of some values.

    Attributes:
        parent: name of the parent, a knob of the same space.
        values: the parent's values with which the condition holds, at least one.
        unless: whether the condition holds with all other values instead.
    """

    parent: str
    values: tuple[Value, ...]
    unless: bool = False

    def holds(self, value: Value) -> bool:
        """Returns whether the condition holds with a value of an active parent."""
        return (value in self.values) != self.unless

    @property
    def shown(self) -> str:
        """The condition as text for people, such as "bloom_bits is 8 or 10"."""
        *others, last = map(str, self.values)
        verb = "is not" if self.unless else "is"
        return f"{self.parent} {verb} {', '.join(others)}{' or ' if others else ''}{last}"


@dataclass(frozen=True)
class Knob:
    """An option and the values that it may have: a range of numbers or a list of choices.

    Attributes:
        name: name in configurations and rules; RocksDB's name of the option unless `option` is set. That of a
            column family's own knob begins with the family's, as in "users.write_buffer_size".
        section: RocksDB's option map that holds the option, or "governor" (a setting of the compaction
            governor), "flsm" (a setting of an FLSM store) or "workload" (a field of the workload). A store
            has a governor, or is an FLSM store, if any option of that section is set. A column family's own
            knobs have sections such as "cf:users".
        unit: "bytes", "files", "levels", "runs", "buffers", "threads", "ratio", "percent", "bits", "bytes/s",
            "us", "s", "entries", or "" for switches and words.
        default: RocksDB's default in a catalogue entry, the starting value in a space.
        effect: a sentence for the report that says what the option does and what a higher value costs.
        low: smallest value; an `int` if the knob takes whole numbers.
        high: largest value, at least `low`.
        choices: the values of an ordinal or categorical knob, all of one type; `low` and `high` are then
            unused.
        step: samples are multiples of it if the range contains any. Values between them are valid too.
        log: whether samples are uniform in the logarithm.
        scaled: whether the value is a full-size quantity of bytes or time that a 1/S model divides by S.
        scaled_floor: the smallest value that division by S gives, because RocksDB accepts no smaller one.
            0 stays 0, because it means "none" or "derived from other options".
        acts_on: the data that a change affects: only the running store ("live"), files written from then on
            ("new_files"), or every file, so that a preloaded base must be rewritten ("all_files").
        live_change: the cheapest way to change the option of an open store on RocksDB 7.8.
        option: RocksDB's name of the option if it differs from `name`.
        field: name of the field that holds the value, if the option is a struct of several fields.
        template: text of the option with `{}` in place of the value; that of a field may go on with other
            fields, as in "{};enabled=true".
        pattern: regular expression whose first group is the value in the option's text. The value is the
            default if it does not match. Several knobs may share an option's text, each with its own group.
        family: the column family whose own knob it is; empty for all others.
        since: the release that introduced the option, such as "9.4"; empty if RocksDB 7.8 has it.
        overrides: options of its section that RocksDB would use instead of it. A configuration with the knob
            leaves them out.
        when: the conditions under which the knob is active, all of which must hold; empty for a knob that is
            always active.
    """

    name: str
    section: str
    unit: str
    default: Value
    effect: str
    low: int | float = 0
    high: int | float = 0
    choices: tuple[Value, ...] = ()
    step: int = 1
    log: bool = False
    scaled: bool = False
    scaled_floor: int = 1
    acts_on: ActsOn = "live"
    live_change: LiveChange = "set_options"
    option: str = ""
    field: str = ""
    template: str = "{}"
    pattern: str = "(.*)"
    family: str = ""
    since: str = ""
    overrides: tuple[str, ...] = ()
    when: tuple[Condition, ...] = ()

    @property
    def plain_name(self) -> str:
        """The name without the column family."""
        return self.name.removeprefix(f"{self.family}.") if self.family else self.name

    @property
    def option_name(self) -> str:
        """RocksDB's name of the option."""
        return self.option or self.name

    def is_active(self, values: Mapping[str, Value]) -> bool:
        """Returns whether the knob's conditions hold with the values of active knobs, by name."""
        return all(each.parent in values and each.holds(values[each.parent]) for each in self.when)

    def sample(self, count: int, rng: np.random.Generator) -> NDArray[Any]:
        """Returns `count` independently drawn values, as an array of int64, float64, bool or str."""
        if self.choices:
            return np.asarray(self.choices)[rng.integers(len(self.choices), size=count)]
        if isinstance(self.low, float) or isinstance(self.high, float):
            if self.log:
                return np.exp(rng.uniform(np.log(self.low), np.log(self.high), size=count))
            return rng.uniform(self.low, self.high, size=count)
        # -(-a // b) rounds up. The step is 1 if no multiple of `step` lies in the range.
        step = self.step if -(-self.low // self.step) <= self.high // self.step else 1
        first, last = -(-self.low // step), self.high // step
        if self.log:
            # Up to last + 1, because truncation must give the last value its whole share too.
            exponents = rng.uniform(np.log(max(first, 1)), np.log(last + 1), size=count)
            return np.asarray(np.clip(np.exp(exponents).astype(np.int64), first, last) * step)
        return rng.integers(first, last, size=count, endpoint=True) * step

    def values(self, max_count: int) -> tuple[Value, ...]:
        """Returns all values that `sample` can return, in ascending order or in the order of the choices.

        Raises:
            UserError: the knob takes real numbers, or has more than `max_count` values.
        """
        if self.choices:
            found: tuple[Value, ...] = self.choices
        elif isinstance(self.low, float) or isinstance(self.high, float):
            raise UserError(f"{self.name}: takes any real number in its range; give it choices")
        else:
            step = self.step if -(-self.low // self.step) <= self.high // self.step else 1
            # A range is sliced without being built, so one value beyond the maximum shows an excess cheaply.
            found = tuple(range(-(-self.low // step) * step, self.high + 1, step)[: max_count + 1])
        if len(found) > max_count:
            raise UserError(f"{self.name}: has more than {max_count} values; give it choices")
        return found

    def check(self, value: Value) -> None:
        """Checks that a value has the knob's type and is within its bounds or among its choices.

        Raises:
            UserError: it is not; the message names the valid values.
        """
        if self.choices:
            if value not in self.choices or type(value) is not type(self.choices[0]):
                raise UserError(f"{self.name}: {value!r} is not one of {', '.join(map(str, self.choices))}")
            return
        # Python's bool is an int, so it is refused by name.
        whole = isinstance(self.low, int) and isinstance(self.high, int)
        if isinstance(value, bool | str) or (whole and not isinstance(value, int)):
            raise UserError(f"{self.name}: {value!r} is not a {'whole number' if whole else 'number'}")
        if not self.low <= value <= self.high:
            bounds = f"{self.shown(self.low)} to {self.shown(self.high)}"
            raise UserError(f"{self.name}: {self.shown(value)} is outside {bounds}")

    def parse(self, text: str) -> Value:
        """Returns the value of a user's text (`64MiB`, `0.5`, `true`), which may be out of bounds.

        Raises:
            UserError: the text does not have this knob's type. Hexadecimal and negative sizes are refused.
        """
        return _parsed(text.strip(), self.choices[0] if self.choices else self.low, self.unit, self.name)

    def text(self, value: Value, present: str | None = None) -> str:
        """Returns the option's text with this value, in the form that RocksDB parses.

        Args:
            value: the value.
            present: the option's text so far, of which everything but this knob's value is kept; None if the
                option is not set.
        """
        written = str(value).lower() if isinstance(value, bool) else str(value)
        if self.field:
            return _with_fields(present or "", _fields(f"{self.field}={self.template.format(written)}"))
        match = None if present is None else re.fullmatch(self.pattern, present.strip())
        if present is None or match is None:
            return self.template.format(written)
        return f"{match.string[: match.start(1)]}{written}{match.string[match.end(1) :]}"

    def decides(self, text: str) -> bool:
        """Returns whether an option's text sets this knob's value: always, unless it is a field left out."""
        return not self.field or self.field in _fields(text)

    def value_in(self, text: str) -> Value:
        """Returns the value in an option's text as RocksDB writes it (`10.000000`, `bloomfilter:10:false`).

        Values out of bounds are returned unchanged. Whole numbers are returned as `int`.

        Raises:
            UserError: the text does not contain a value of this knob's type.
        """
        if self.field:
            found = _fields(text).get(self.field)
        else:
            match = re.fullmatch(self.pattern, text.strip())
            found = None if match is None else match[1]
        if found is None:
            return self.default
        # The default has the option's own type, which `low` of a knob with choices does not show.
        if isinstance(self.default, bool | str):
            return _parsed(found, self.default, self.unit, self.name)
        try:
            number = float(found)
        except ValueError:
            raise UserError(f"{self.name}: '{text}' is not a number") from None
        # int(found) first: a double would lose digits of whole numbers above 2^53.
        return int(found) if re.fullmatch(r"-?\d+", found) else int(number) if number.is_integer() else number

    def like_choice(self, value: Value) -> Value:
        """Returns the choice that equals a value, of the choices' type (0.0 for 0), or the value itself."""
        return next((choice for choice in self.choices if choice == value), value)

    def shown(self, value: Value) -> str:
        """Returns a value as text for people, sizes with their unit (`64MiB`, `16MiB/s`)."""
        if self.unit.startswith("bytes") and not isinstance(value, bool | str):
            return format_bytes(value) + self.unit.removeprefix("bytes")
        return str(value)

    def narrowed(self, **changes: Any) -> "Knob":
        """Returns a copy of this knob with some attributes changed, such as bounds, choices or default.

        A default outside the bounds becomes the nearest bound. One that is not a choice becomes the first.

        Args:
            changes: new values by attribute.

        Raises:
            UserError: the lower bound is above the upper one, or has no logarithm although samples need it.
        """
        knob = replace(self, **changes)
        if not knob.choices and not knob.low <= knob.high:
            raise UserError(f"{self.name}: low {knob.shown(knob.low)} is above high {knob.shown(knob.high)}")
        real = isinstance(knob.low, float) or isinstance(knob.high, float)
        # Samples of whole numbers begin at 1 then.
        if knob.log and not knob.choices and (knob.low < 0 or (real and knob.low == 0)):
            raise UserError(f"{self.name}: low {knob.shown(knob.low)} has no logarithm; leave log out")
        # Presets and files narrow many knobs; their defaults should not need attention each time.
        if knob.choices:
            return knob if knob.default in knob.choices else replace(knob, default=knob.choices[0])
        assert not isinstance(knob.default, str)
        return replace(knob, default=min(max(knob.default, knob.low), knob.high))


def _parsed(text: str, example: Value, unit: str, name: str) -> Value:
    """Returns the value of `text`, which must have the type of `example`.

    Raises:
        UserError: it has another type; the message begins with `name`.
    """
    if isinstance(example, str):
        return text
    if isinstance(example, bool):
        if text.lower() not in ("true", "false"):
            raise UserError(f"{name}: '{text}' is not one of true, false")
        return text.lower() == "true"
    if unit.startswith("bytes"):
        return parse_bytes(text.removesuffix("/s"), name)  # a rate's unit is "bytes/s"
    if isinstance(example, int):
        if not re.fullmatch(r"-?\d+", text):
            raise UserError(f"{name}: '{text}' is not a whole number")
        return int(text)
    if not re.fullmatch(r"-?\d+(\.\d+)?([eE][-+]?\d+)?", text):
        raise UserError(f"{name}: '{text}' is not a number")
    return float(text)


def _fields(text: str) -> dict[str, str]:
    """Returns the fields of a struct's text: `{a=1;b=2}`, or `a=1;b=2;` as RocksDB writes it."""
    assignments = (part.partition("=") for part in text.strip().strip("{}").split(";") if part.strip())
    return {name.strip(): value.strip() for name, _, value in assignments}


def _with_fields(text: str, fields: Mapping[str, str]) -> str:
    """Returns a struct's text with fields replaced or added."""
    return "{" + ";".join(f"{name}={value}" for name, value in {**_fields(text), **fields}.items()) + "}"
