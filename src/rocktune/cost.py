"""The cost of operations: device bytes, CPU, memory and storage, each times the user's price."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field, model_validator

from rocktune.measurement import Measurement
from rocktune.spec_file import Amount, Spec, read_toml, validated

COST = "cost"
"""The figure: cost of a million operations, in the currency of the prices."""
GB = 1e9
HOURS_PER_MONTH = 730.0
"""Hours of a month, as providers of storage count it: 365 days of 24 hours in 12 months."""
_MILLION = 1e6


class Prices(Spec):
    """The user's prices, all in one currency; what has no price costs nothing. 1 GB is 10^9 bytes.

    Attributes:
        currency: name of the currency or unit, for tables.
        per_gb_written: price of a GB written to the device, such as its wear.
        per_gb_read: price of a GB read from the device.
        per_cpu_hour: price of an hour of one processor.
        per_gb_hour_of_memory: price of a GB of memory for an hour.
        per_gb_month_of_storage: price of a GB of the store on the device for a month.
    """

    currency: Annotated[str, Field(strict=True, min_length=1, max_length=12)]
    per_gb_written: Amount = 0.0
    per_gb_read: Amount = 0.0
    per_cpu_hour: Amount = 0.0
    per_gb_hour_of_memory: Amount = 0.0
    per_gb_month_of_storage: Amount = 0.0

    @model_validator(mode="after")
    def _require_a_price(self) -> "Prices":
        if not any(value for name, value in self if name != "currency"):
            raise ValueError("all prices are 0; give at least one, such as per_gb_written = 0.0001")
        return self


def load_prices(path: Path) -> Prices:
    """Returns the prices in a TOML file.

    Raises:
        UserError: the file cannot be read or parsed, or a field is unknown or invalid.
    """
    return validated(Prices, read_toml(path), str(path))


def _of_writes(measured: Measurement, prices: Prices, _scale: int) -> float:
    """Returns the cost of the bytes that flushes, compactions and the log wrote, debt included."""
    flushed = ("flush", "compaction_write")
    written = measured.amount("device_bytes", "wal") + sum(_with_debt(measured, cause) for cause in flushed)
    return prices.per_gb_written * written / GB


def _of_reads(measured: Measurement, prices: Prices, _scale: int) -> float:
    """Returns the cost of the bytes that user reads and compactions read, debt included."""
    read = measured.amount("device_bytes", "user_read") + _with_debt(measured, "compaction_read")
    return prices.per_gb_read * read / GB


def _of_cpu(measured: Measurement, prices: Prices, _scale: int) -> float:
    """Returns the cost of the processor time of the run."""
    return prices.per_cpu_hour * measured.amount("cpu_s") / 3600


def _of_memory(measured: Measurement, prices: Prices, scale: int) -> float:
    """Returns the cost of memtables, block cache and table readers at full size for the window's time."""
    # Not the process's resident memory: it has the load generator in it, which S does not divide.
    kinds = ("memtables", "block_cache", "table_readers")
    held_gb = scale * sum(measured.amount("memory_bytes", kind) for kind in kinds) / GB
    return prices.per_gb_hour_of_memory * held_gb * _hours(measured)


def _of_storage(measured: Measurement, prices: Prices, scale: int) -> float:
    """Returns the cost of the store on the device at full size for the window's time."""
    stored_gb = scale * measured.amount("db_bytes") / GB
    return prices.per_gb_month_of_storage * stored_gb * _hours(measured) / HOURS_PER_MONTH


def _hours(measured: Measurement) -> float:
    """Returns the hours that the window's operations take, with the debt paid if it is known."""
    charged_s = measured.charged_s
    return (measured.seconds if math.isnan(charged_s) else charged_s) / 3600


def _with_debt(measured: Measurement, cause: str) -> float:
    """Returns the bytes of a cause, multiplied as its share of the compaction debt requires.

    A window that moves less than steady state would owes the difference. More is not paid back.
    """
    counted = measured.amount("device_bytes", cause)
    owed, moved = measured.amount("debt", "owed_bytes"), measured.amount("debt", "moved_bytes")
    # Nothing moved, so nothing says how the debt divides into reads and writes.
    if math.isnan(owed) or not moved > 0:
        return counted
    return counted * max(1.0, owed / moved)


_PARTS = {
    "cost_of_writes": ("per_gb_written", _of_writes),
    "cost_of_reads": ("per_gb_read", _of_reads),
    "cost_of_cpu": ("per_cpu_hour", _of_cpu),
    "cost_of_memory": ("per_gb_hour_of_memory", _of_memory),
    "cost_of_storage": ("per_gb_month_of_storage", _of_storage),
}
COST_PARTS = tuple(_PARTS)
"""The figures that add up to `COST`, in the same unit."""


@dataclass(frozen=True)
class Pricing:
    """The prices of a study and the size of its model.

    Attributes:
        prices: the user's prices.
        scale: S of the measured model. Bytes on the device and CPU time per operation are those of full
            size; memory and the store are multiplied by S.
    """

    prices: Prices
    scale: int

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts that have a price, in the order of `COST_PARTS`."""
        return tuple(name for name, (price, _) in _PARTS.items() if getattr(self.prices, price))

    def figure(self, measured: Measurement, name: str) -> float:
        """Returns the cost of a million operations at full size, or a part of it.

        Args:
            measured: the window.
            name: `COST` or a name of `COST_PARTS`.

        Returns:
            The cost in the prices' currency; NaN if a counter that has a price was not measured, or if there
            were no operations.
        """
        operations = measured.operations()
        if not operations:
            return math.nan
        return math.fsum(self._spent(measured, name)) * _MILLION / operations

    def _spent(self, measured: Measurement, name: str) -> Iterator[float]:
        """Yields the cost of the window by part; what has no price need not be measured."""
        for part in self.parts:
            if name in (COST, part):
                yield _PARTS[part][1](measured, self.prices, self.scale)
