"""A knob: one RocksDB option that may be tuned, its range, and how to write and read it."""

import re
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rocktune.errors import UserError
from rocktune.space.configuration import Value
from rocktune.units import format_bytes, parse_bytes

Section = Literal["db", "cf", "table", "governor", "flsm", "workload"]
ActsOn = Literal["live", "new_files", "all_files"]
LiveChange = Literal["set_options", "set_db_options", "object", "reopen", "migration"]


@dataclass(frozen=True)
class Knob:
    """One option and the values that it may take: a range of numbers, or a list of choices.

    Attributes:
        name: how configurations and rules call it; RocksDB's name unless `option` says otherwise.
        section: which of RocksDB's option maps holds it; "governor" for a setting of the compaction governor,
            which a store has when any is set; "flsm" for one of an FLSM store, which the store then is;
            "workload" for a field of the workload.
        unit: "bytes", "files", "levels", "runs", "buffers", "threads", "ratio", "bits", "bytes/s" or "" (a
            switch).
        default: in a catalogue entry RocksDB's own, in a space the one to start from.
        effect: one sentence for the report: what the option does and what turning it up costs.
        low: smallest value; of a whole-number knob an `int`.
        high: largest value, at least `low`.
        choices: the values of an ordinal or categorical knob, all of one type; then there is no range.
        step: samples are multiples of it, where the range holds any; values between are valid all the same.
        log: samples are uniform in the logarithm.
        scaled: a full-size quantity, of bytes or time, that is divided by S when the store is.
        scaled_floor: the least that RocksDB takes, where dividing stops; 0 is never changed, for it always
            means "none" or "derive it from the others".
        acts_on: what data has to be rewritten before a store shows the knob's effect: none ("live"), none
            but newly written files differ ("new_files"), every file of a preloaded base ("all_files").
        live_change: the lightest way to change it on an open store, on RocksDB 7.8.
        option: RocksDB's name.
        template: the option's text around the value.
        pattern: finds the value in the option's text; without a match the value is the default.
    """

    name: str
    section: Section
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
    template: str = "{}"
    pattern: str = "(.*)"

    @property
    def option_name(self) -> str:
        """RocksDB's name of the option."""
        return self.option or self.name

    def sample(self, count: int, rng: np.random.Generator) -> NDArray[Any]:
        """Draws values, each independent of the others.

        Returns:
            `count` values: int64, float64, bool or str.
        """
        if self.choices:
            return np.asarray(self.choices)[rng.integers(len(self.choices), size=count)]
        if isinstance(self.low, float) or isinstance(self.high, float):
            if self.log:
                return np.exp(rng.uniform(np.log(self.low), np.log(self.high), size=count))
            return rng.uniform(self.low, self.high, size=count)
        step = self.step if -(-self.low // self.step) <= self.high // self.step else 1
        first, last = -(-self.low // step), self.high // step
        if self.log:
            exponents = rng.uniform(np.log(max(first, 1)), np.log(last + 1), size=count)
            return np.asarray(np.clip(np.exp(exponents).astype(np.int64), first, last) * step)
        return rng.integers(first, last, size=count, endpoint=True) * step

    def values(self, at_most: int) -> tuple[Value, ...]:
        """Returns every value that `sample` can give, from small to large or in the order of the choices.

        Raises:
            UserError: it is a real number's knob, or has more than `at_most` values.
        """
        if self.choices:
            found: tuple[Value, ...] = self.choices
        elif isinstance(self.low, float) or isinstance(self.high, float):
            raise UserError(f"{self.name}: has no end of values")
        else:
            step = self.step if -(-self.low // self.step) <= self.high // self.step else 1
            found = tuple(range(-(-self.low // step) * step, self.high + 1, step)[: at_most + 1])
        if len(found) > at_most:
            raise UserError(f"{self.name}: has more than {at_most} values")
        return found

    def check(self, value: Value) -> None:
        """Accepts a value of the right type within the bounds.

        Raises:
            UserError: it is neither.
        """
        if self.choices:
            if value not in self.choices or type(value) is not type(self.choices[0]):
                raise UserError(f"{self.name}: {value!r} is none of {', '.join(map(str, self.choices))}")
            return
        whole = isinstance(self.low, int) and isinstance(self.high, int)
        if isinstance(value, bool | str) or (whole and not isinstance(value, int)):
            raise UserError(f"{self.name}: {value!r} is not a {'whole number' if whole else 'number'}")
        if not self.low <= value <= self.high:
            bounds = f"{self.shown(self.low)} to {self.shown(self.high)}"
            raise UserError(f"{self.name}: {self.shown(value)} is outside {bounds}")

    def parse(self, text: str) -> Value:
        """Reads a value as people write it (`64MiB`, `0.5`, `true`); `check` judges it.

        Raises:
            UserError: the text is no value of this knob's type; hexadecimal and negative sizes are not.
        """
        return _parsed(text.strip(), self.choices[0] if self.choices else self.low, self.unit, self.name)

    def text(self, value: Value) -> str:
        """Writes the option's text as RocksDB's parsers take it."""
        written = str(value).lower() if isinstance(value, bool) else str(value)
        return self.template.format(written)

    def value_in(self, text: str) -> Value:
        """Reads the value out of an option's text as RocksDB writes it (`10.000000`, `bloomfilter:10:false`).

        Values outside the bounds are kept as they are; whole numbers come back as `int`.

        Raises:
            UserError: the text holds no value of this knob's type.
        """
        match = re.fullmatch(self.pattern, text.strip())
        if match is None:
            return self.default
        found = match[1]
        if isinstance(self.default, bool | str):
            return _parsed(found, self.default, self.unit, self.name)
        try:
            number = float(found)
        except ValueError:
            raise UserError(f"{self.name}: '{text}' is not a number") from None
        return int(found) if re.fullmatch(r"-?\d+", found) else int(number) if number.is_integer() else number

    def shown(self, value: Value) -> str:
        """Writes a value for people, sizes with their unit."""
        if self.unit.startswith("bytes") and not isinstance(value, bool | str):
            return format_bytes(value) + self.unit.removeprefix("bytes")
        return str(value)

    def narrowed(self, **changes: Any) -> "Knob":
        """Returns this knob with other bounds, choices or default; a default outside them is moved inside.

        Raises:
            UserError: the lower bound is above the upper one.
        """
        knob = replace(self, **changes)
        if not knob.choices and not knob.low <= knob.high:
            raise UserError(f"{self.name}: low {knob.shown(knob.low)} is above high {knob.shown(knob.high)}")
        if knob.choices:
            return knob if knob.default in knob.choices else replace(knob, default=knob.choices[0])
        assert not isinstance(knob.default, str)
        return replace(knob, default=min(max(knob.default, knob.low), knob.high))


def _parsed(text: str, example: Value, unit: str, name: str) -> Value:
    """Reads `text` as the type of `example`."""
    if isinstance(example, str):
        return text
    if isinstance(example, bool):
        if text.lower() not in ("true", "false"):
            raise UserError(f"{name}: '{text}' is not one of true, false")
        return text.lower() == "true"
    if unit.startswith("bytes"):
        return parse_bytes(text.removesuffix("/s"), name)
    if isinstance(example, int):
        if not re.fullmatch(r"-?\d+", text):
            raise UserError(f"{name}: '{text}' is not a whole number")
        return int(text)
    if not re.fullmatch(r"-?\d+(\.\d+)?([eE][-+]?\d+)?", text):
        raise UserError(f"{name}: '{text}' is not a number")
    return float(text)
