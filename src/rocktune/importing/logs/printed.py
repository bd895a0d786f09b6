"""Numbers in the forms that RocksDB prints for people."""

import re

_COUNT = re.compile(r"(-?\d+)([KMG]?)")
_COUNT_FACTORS = {"": 1, "K": 1_000, "M": 1_000_000, "G": 1_000_000_000}
_SIZE_FACTORS = {"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}
_DURATION_FACTORS = {"us": 1e-6, "ms": 1e-3, "sec": 1.0}
_MAX_DIGITS = 40


def number(text: str) -> float | None:
    """Returns a finite number; None if the text is none."""
    if len(text) > _MAX_DIGITS or not re.fullmatch(r"-?\d+(?:\.\d*)?(?:[eE][-+]?\d{1,3})?", text, re.ASCII):
        return None
    value = float(text)
    return value if abs(value) != float("inf") else None


def count(text: str) -> int | None:
    """Returns a count such as `290M`, which RocksDB cuts to whole thousands, millions or billions."""
    match = _COUNT.fullmatch(text) if text.isascii() and len(text) <= _MAX_DIGITS else None
    return int(match[1]) * _COUNT_FACTORS[match[2]] if match else None


def size_bytes(value: str, unit: str) -> float | None:
    """Returns the bytes of a size such as `36.10 MB`."""
    amount, factor = number(value), _SIZE_FACTORS.get(unit)
    return None if amount is None or factor is None else amount * factor


def duration_s(text: str) -> float | None:
    """Returns the seconds of `00:00:1.522 H:M:S`, `01:2.000 M:S`, `8.5 sec`, `12.3 ms` or `40 us`."""
    value, _, unit = text.strip().partition(" ")
    if unit in ("H:M:S", "M:S"):
        parts = [number(part) for part in value.split(":")]
        if len(parts) != len(unit.split(":")):
            return None
        seconds = 0.0
        for part in parts:
            if part is None:
                return None
            seconds = seconds * 60 + part
        return seconds
    amount, factor = number(value), _DURATION_FACTORS.get(unit)
    return None if amount is None or factor is None else amount * factor
