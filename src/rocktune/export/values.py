"""Values of RocksDB options in the notation of other systems.

A writer takes an option's text in RocksDB's notation and returns the other system's. It rejects everything it
does not know, so no text can break out of the exported format.
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
    """A value that the other system does not accept; the message is the reason."""


def number_in(text: str) -> float:
    """Returns the number in RocksDB's notation (`10.000000`).

    Raises:
        NotExpressibleError: the text is not a number.
    """
    # Python's float() would also accept "nan", "1_000" and spaces, which other systems read differently.
    if re.fullmatch(r"-?\d+(\.\d+)?([eE][-+]?\d+)?", text, re.ASCII) is None:
        raise NotExpressibleError("not a number")
    return float(text)


def whole_in(text: str) -> int:
    """Returns the whole number in RocksDB's notation (`4`, `10.000000`).

    Raises:
        NotExpressibleError: the text is not a whole number.
    """
    # Not through float, which is exact only up to 2^53; RocksDB has sizes up to 2^64.
    if re.fullmatch(r"-?\d+", text, re.ASCII):
        return int(text)
    if not number_in(text).is_integer():
        raise NotExpressibleError("must be a whole number there")
    return int(float(text))


def _within(value: int, low: int, high: int) -> int:
    """Returns a value, or raises NotExpressibleError outside its bounds."""
    if not low <= value <= high:
        raise NotExpressibleError(f"must be from {low} to {high} there")
    return value


def whole(low: int = -INT_MAX, high: int = INT_MAX) -> Writer:
    """Returns a writer of whole numbers that raises NotExpressibleError outside its bounds."""
    return lambda text: str(_within(whole_in(text), low, high))


def decimal(text: str) -> str:
    """Returns a number without needless digits (`10`, `0.25`)."""
    value = number_in(text)
    return str(int(value)) if value.is_integer() else repr(value)


def switch(true: str = "true", false: str = "false") -> Writer:
    """Returns a writer of switches with the other system's words for true and false."""
    # OPTIONS files have both notations of switches.
    return choice({"true": true, "1": true, "false": false, "0": false})


def choice(names: Mapping[str, str]) -> Writer:
    """Returns a writer that replaces RocksDB's names by the other system's."""

    def write(text: str) -> str:
        if text not in names:
            raise NotExpressibleError("there is no such value there")
        return names[text]

    return write


def size(units: Sequence[tuple[str, int]]) -> Writer:
    """Returns a writer of sizes in the largest unit that leaves a whole number, so nothing is rounded.

    Args:
        units: names and bytes of the units, largest first; the last must be one byte.
    """

    def write(text: str) -> str:
        count = _within(whole_in(text), 0, LONG_MAX)
        # Zero is a multiple of every unit; it is written in the smallest.
        name, factor = next((unit for unit in units if count and count % unit[1] == 0), units[-1])
        return f"{count // factor}{name}"

    return write


def whole_mebibytes(low: int = 1, high: int = INT_MAX) -> Writer:
    """Returns a writer of sizes in MiB, rounded down."""
    return lambda text: str(_within(whole_in(text) // MIB, low, high))


def quoted(writer: Writer) -> Writer:
    """Returns a writer that puts another writer's text in double quotes."""
    return lambda text: f'"{writer(text)}"'


class Filter(NamedTuple):
    """A filter policy: its kind ("none", "bloom" or "ribbon") and its bits per key."""

    kind: str
    bits_per_key: float


def filter_in(text: str) -> Filter:
    """Returns the filter policy in RocksDB's notation, such as `bloomfilter:10:false`.

    Raises:
        NotExpressibleError: it is none of RocksDB's own filter policies.
    """
    if text in ("nullptr", ""):
        return Filter("none", 0.0)
    match = re.fullmatch(r"(bloom|ribbon)filter:(\d+(?:\.\d+)?)(?::(?:true|false|-?\d+))?", text, re.ASCII)
    if match is None:
        raise NotExpressibleError("only Bloom and Ribbon filters are known")
    return Filter(match[1], float(match[2]))
