"""Values of RocksDB options in the notation of other systems.

A writer takes an option's text in RocksDB's notation and returns the other system's. It rejects everything it
does not know, so no text can break out of the exported format. A codec can read its own texts again.
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


class Codec:
    """A notation of values in another system, which is a writer and can read its own texts again."""

    def __init__(self, write: Writer, read: Writer) -> None:
        """Joins a writer and its reader.

        Args:
            write: returns the other system's text for RocksDB's.
            read: returns RocksDB's text for the other system's. Both raise NotExpressibleError.
        """
        self._write, self._read = write, read

    def __call__(self, text: str) -> str:
        """Returns the other system's text for RocksDB's."""
        return self._write(text)

    def read(self, text: str) -> str:
        """Returns RocksDB's text for the other system's.

        Raises:
            NotExpressibleError: the text is not in the system's notation.
        """
        return self._read(text)


def whole(low: int = -INT_MAX, high: int = INT_MAX) -> Codec:
    """Returns a codec of whole numbers that raises NotExpressibleError outside its bounds."""

    def same(text: str) -> str:
        return str(_within(whole_in(text), low, high))

    return Codec(same, same)


def _decimal(text: str) -> str:
    value = number_in(text)
    return str(int(value)) if value.is_integer() else repr(value)


decimal = Codec(_decimal, _decimal)
"""The codec of numbers without needless digits (`10`, `0.25`)."""

_SWITCHES = {"true": "true", "1": "true", "yes": "true", "on": "true",
             "false": "false", "0": "false", "no": "false", "off": "false"}  # fmt: skip


def switch(true: str = "true", false: str = "false") -> Codec:
    """Returns a codec of switches with the other system's words for true and false."""

    def read(text: str) -> str:
        if text.lower() not in _SWITCHES:
            raise NotExpressibleError(f"must be {true} or {false}")
        return _SWITCHES[text.lower()]

    # OPTIONS files have both notations of switches.
    return Codec(choice({"true": true, "1": true, "false": false, "0": false}), read)


def choice(names: Mapping[str, str]) -> Codec:
    """Returns a codec that replaces RocksDB's names by the other system's."""
    back: dict[str, str] = {}
    for ours, theirs in names.items():
        back.setdefault(theirs, ours)

    def write(text: str) -> str:
        if text not in names:
            raise NotExpressibleError("there is no such value there")
        return names[text]

    def read(text: str) -> str:
        if text not in back:
            raise NotExpressibleError(f"must be one of {', '.join(back)}")
        return back[text]

    return Codec(write, read)


def size(units: Sequence[tuple[str, int]]) -> Codec:
    """Returns a codec of sizes. It writes the largest unit that leaves a whole number; nothing is rounded.

    Args:
        units: names and bytes of the units, largest first; the last must be one byte.
    """

    def write(text: str) -> str:
        count = _within(whole_in(text), 0, LONG_MAX)
        # Zero is a multiple of every unit; it is written in the smallest.
        name, factor = next((unit for unit in units if count and count % unit[1] == 0), units[-1])
        return f"{count // factor}{name}"

    return Codec(write, _read_size)


def _read_size(text: str) -> str:
    """Returns the bytes of a size whose unit is a power of two: 64MB, 64 MiB, 64m, 67108864."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgtp]?)(?:i?b|bytes)?", text.strip().lower(), re.ASCII)
    if match is None:
        raise NotExpressibleError("is no size")
    count = float(match[1]) * 1024 ** " kmgtp".index(match[2] or " ")
    return str(int(match[1]) if match[2] == "" and "." not in match[1] else round(count))


def whole_mebibytes(low: int = 1, high: int = INT_MAX) -> Codec:
    """Returns a codec of sizes in MiB, rounded down."""
    return Codec(
        lambda text: str(_within(whole_in(text) // MIB, low, high)),
        lambda text: str(_within(whole_in(text), 0, high) * MIB),
    )


def quoted(codec: Codec) -> Codec:
    """Returns a codec that puts another one's text in double quotes."""
    return Codec(lambda text: f'"{codec(text)}"', lambda text: codec.read(text.strip('"')))


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
