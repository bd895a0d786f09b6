"""Values of RocksDB's options, written as other systems take them.

A writer takes an option's text as RocksDB has it and returns the other system's. It lets nothing through that
it does not know, so that no text can break out of the format that it is written into.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from rocktune.units import MIB

Writer = Callable[[str], str]

INT_MAX = (1 << 31) - 1
LONG_MAX = (1 << 63) - 1
UNSIGNED_LONG_MAX = (1 << 64) - 1


class NotExpressibleError(Exception):
    """A value that the other system cannot take; the message is the reason."""


def number_in(text: str) -> float:
    """Reads a number as RocksDB writes it (`10.000000`).

    Raises:
        NotExpressibleError: it is none.
    """
    if re.fullmatch(r"-?\d+(\.\d+)?([eE][-+]?\d+)?", text, re.ASCII) is None:
        raise NotExpressibleError("it is no number")
    return float(text)


def whole_in(text: str) -> int:
    """Reads a whole number as RocksDB writes it (`4`, `10.000000`).

    Raises:
        NotExpressibleError: it is none.
    """
    if re.fullmatch(r"-?\d+", text, re.ASCII):
        return int(text)
    if not number_in(text).is_integer():
        raise NotExpressibleError("only whole numbers there")
    return int(float(text))


def _within(value: int, low: int, high: int) -> int:
    if not low <= value <= high:
        raise NotExpressibleError(f"{low} to {high} there")
    return value


def whole(low: int = -INT_MAX, high: int = INT_MAX) -> Writer:
    """Returns a writer of whole numbers within bounds."""
    return lambda text: str(_within(whole_in(text), low, high))


def decimal(text: str) -> str:
    """Writes a number without needless digits (`10`, `0.25`)."""
    value = number_in(text)
    return str(int(value)) if value.is_integer() else repr(value)


def switch(true: str = "true", false: str = "false") -> Writer:
    """Returns a writer of switches."""
    return choice({"true": true, "1": true, "false": false, "0": false})


def choice(names: Mapping[str, str]) -> Writer:
    """Returns a writer that knows the other system's name for each of RocksDB's."""

    def write(text: str) -> str:
        if text not in names:
            raise NotExpressibleError("there is no such choice there")
        return names[text]

    return write


def size(units: Sequence[tuple[str, int]]) -> Writer:
    """Returns a writer of sizes with a unit: the largest that leaves a whole number, so that none is rounded.

    Args:
        units: name and bytes, the largest first; the last must be of one byte.
    """

    def write(text: str) -> str:
        count = _within(whole_in(text), 0, LONG_MAX)
        name, factor = next((unit for unit in units if count and count % unit[1] == 0), units[-1])
        return f"{count // factor}{name}"

    return write


def whole_mebibytes(low: int = 1, high: int = INT_MAX) -> Writer:
    """Returns a writer of sizes in MiB, rounded down to whole ones."""
    return lambda text: str(_within(whole_in(text) // MIB, low, high))


def quoted(writer: Writer) -> Writer:
    """Returns a writer that puts double quotes around another one's text."""
    return lambda text: f'"{writer(text)}"'


class Filter(NamedTuple):
    """A filter policy: its kind ("none", "bloom" or "ribbon") and bits per key."""

    kind: str
    bits_per_key: float


def filter_in(text: str) -> Filter:
    """Reads a filter policy as RocksDB writes it, such as `bloomfilter:10:false`.

    Raises:
        NotExpressibleError: it is none of RocksDB's own.
    """
    if text in ("nullptr", ""):
        return Filter("none", 0.0)
    match = re.fullmatch(r"(bloom|ribbon)filter:(\d+(?:\.\d+)?)(?::(?:true|false|-?\d+))?", text, re.ASCII)
    if match is None:
        raise NotExpressibleError("only Bloom and Ribbon filters are known")
    return Filter(match[1], float(match[2]))
