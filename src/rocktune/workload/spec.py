"""What a workload is: which operations, on which keys, of which sizes, when, and on what preloaded data.

The JSON form of these models is the worker's (`cpp/rocktune/workload/workload_spec.h`); both sides read
`tests/golden/workload_specs.json`.
"""

from typing import Self

from pydantic import Field, model_validator

from rocktune.spec_file import Amount, Count, Positive, Share, Spec, Switch
from rocktune.workload.arrival import SHORTEST_S, ArrivalSpec
from rocktune.workload.distributions import KeyChooserSpec, SizeSpec

MIX_TOLERANCE = 1e-6
MAX_VALUE_BYTES = 16 << 20


class MixSpec(Spec):
    """Shares of the operation kinds; they sum to 1."""

    get: Share = 0.0
    get_absent: Share = 0.0
    put: Share = 0.0
    insert: Share = 0.0
    delete: Share = 0.0
    scan: Share = 0.0
    read_modify_write: Share = 0.0

    @model_validator(mode="after")
    def _sums_to_one(self) -> Self:
        total = sum(self.model_dump().values())
        if abs(total - 1) > MIX_TOLERANCE:
            raise ValueError(f"the shares sum to {total:.6g}; they must sum to 1")
        return self

    @property
    def write_share(self) -> float:
        """Share of operations that write a value: puts, inserts and read-modify-writes."""
        return self.put + self.insert + self.read_modify_write


class SessionSpec(Spec):
    """A stretch of time with a mix and an arrival of its own.

    Attributes:
        seconds: its length, at least SHORTEST_S; 0 for ever, which only the last session may have.
        mix: shares of operations.
        arrival: when they start.
    """

    seconds: Amount = 0.0
    mix: MixSpec
    arrival: ArrivalSpec = ArrivalSpec()

    @model_validator(mode="after")
    def _is_long_enough(self) -> Self:
        if 0 < self.seconds < SHORTEST_S:
            raise ValueError(f"seconds: {self.seconds:g} is neither 0 (for ever) nor at least {SHORTEST_S}")
        return self

    def scaled(self, scale: int) -> "SessionSpec":
        """Returns the session with its times divided by `scale`; it stays at least SHORTEST_S long."""
        seconds = max(self.seconds / scale, SHORTEST_S) if self.seconds else 0.0
        return self.model_copy(update={"seconds": seconds, "arrival": self.arrival.scaled(scale)})


class PreloadSpec(Spec):
    """What the store holds at age 0.

    Attributes:
        keys: the keys 0 .. keys - 1 are there; 0 for an empty store.
        random_order: written in random order, which leaves the levels filled, instead of ascending.
    """

    keys: Count = 0
    random_order: Switch = False


class WorkloadSpec(Spec):
    """A workload.

    Attributes:
        name: what people call it.
        keys: key space at the start: the keys 0 .. keys - 1; `insert` adds to it.
        key_bytes: at least 8.
        value: bytes of a value.
        value_compressed_fraction: compressed size over size of the values, in (0, 1].
        threads: threads that issue operations.
        key_chooser: which keys.
        scan_length: entries of a scan.
        sessions: at least one; after the last the first begins again.
        preload: what the store holds at age 0.
        wal: write-ahead log on.
        sync: each write is synced.
    """

    name: str = Field(strict=True, min_length=1)
    keys: Positive
    key_bytes: int = Field(default=16, strict=True, ge=8, le=1024)
    value: SizeSpec = SizeSpec(low=1024)
    value_compressed_fraction: Amount = Field(default=0.5, gt=0, le=1)
    threads: int = Field(default=16, strict=True, ge=1, le=1024)
    key_chooser: KeyChooserSpec = KeyChooserSpec()
    scan_length: SizeSpec = SizeSpec(low=100)
    sessions: tuple[SessionSpec, ...] = Field(min_length=1)
    preload: PreloadSpec = PreloadSpec()
    wal: Switch = True
    sync: Switch = False

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.preload.keys > self.keys:
            raise ValueError(f"preload.keys: {self.preload.keys} exceeds keys, {self.keys}")
        if self.key_chooser.ranges > self.keys:
            raise ValueError(f"key_chooser.ranges: {self.key_chooser.ranges} exceeds keys, {self.keys}")
        if self.value.largest > MAX_VALUE_BYTES:
            raise ValueError(f"value: {self.value.largest} bytes exceed the largest, {MAX_VALUE_BYTES}")
        if any(session.seconds == 0 for session in self.sessions[:-1]):
            raise ValueError("sessions: only the last one may have 0 seconds, which means for ever")
        if self.sync and not self.wal:
            raise ValueError("sync: needs wal = true")
        return self

    def scaled(self, scale: int) -> "WorkloadSpec":
        """Returns the workload of the 1/scale model.

        Keys, preloaded keys, and the times of sessions and arrivals are divided; entry sizes, threads and
        rates are not. At least one key stays, and one preloaded key where there were some.

        Args:
            scale: S, at least 1; 1 returns an equal workload.
        """
        keys = max(1, self.keys // scale)
        preloaded = min(keys, -(-self.preload.keys // scale))
        sessions = tuple(session.scaled(scale) for session in self.sessions)
        ranges = min(self.key_chooser.ranges, keys)
        return self.model_copy(
            update={
                "keys": keys,
                "preload": self.preload.model_copy(update={"keys": preloaded}),
                "sessions": sessions,
                "key_chooser": self.key_chooser.model_copy(update={"ranges": ranges}),
            }
        )

    @property
    def entry_bytes(self) -> float:
        """Mean bytes of an entry, key and value."""
        return self.key_bytes + self.value.mean

    @property
    def write_share(self) -> float:
        """Share of operations that write a value, averaged over the sessions by their seconds.

        A last session that goes on for ever outweighs all others.
        """
        if self.sessions[-1].seconds == 0:
            return self.sessions[-1].mix.write_share
        total = sum(session.seconds for session in self.sessions)
        return sum(session.mix.write_share * session.seconds for session in self.sessions) / total
