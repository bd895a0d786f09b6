"""Workload specs: operations, keys, sizes, arrival and preloaded data.

The worker reads the JSON form of these models (`cpp/rocktune/workload/workload_spec.h`). Tests of both sides
read `tests/golden/workload_specs.json`.
"""

from typing import Self

from pydantic import Field, model_validator

from rocktune.spec_file import Amount, Count, Positive, Share, Spec, Switch
from rocktune.workload.arrival import MIN_DURATION_S, ArrivalSpec
from rocktune.workload.distributions import KeyChooserSpec, SizeSpec

MIX_TOLERANCE = 1e-6
"""Allowed difference between a mix's sum and 1, so that shares such as three times 0.333333 are accepted."""
MAX_VALUE_BYTES = 16 << 20
"""Maximum size of a value; the worker refuses larger ones too."""


class MixSpec(Spec):
    """The shares of the operation kinds, which sum to 1.

    Attributes:
        get: lookups of keys that the key chooser draws.
        get_absent: lookups of keys that do not exist.
        put: writes of keys of the key space, which overwrite existing ones.
        insert: writes of new keys, which extend the key space.
        delete: deletions.
        scan: scans from a key onwards.
        read_modify_write: lookups, each followed by a write of the same key.
    """

    get: Share = 0.0
    get_absent: Share = 0.0
    put: Share = 0.0
    insert: Share = 0.0
    delete: Share = 0.0
    scan: Share = 0.0
    read_modify_write: Share = 0.0

    @model_validator(mode="after")
    def _sums_to_one(self) -> Self:
        """Checks the sum of the shares."""
        total = sum(self.model_dump().values())
        if abs(total - 1) > MIX_TOLERANCE:
            raise ValueError(f"the shares sum to {total:.6g}; they must sum to 1")
        return self

    @property
    def write_share(self) -> float:
        """The share of operations that write a value: puts, inserts and read-modify-writes."""
        return self.put + self.insert + self.read_modify_write


class SessionSpec(Spec):
    """A session: a part of a workload with its own mix and arrival.

    Attributes:
        seconds: length in seconds, at least MIN_DURATION_S. 0 means for ever, which is allowed only for the
            last session.
        mix: the shares of the operations.
        arrival: when the operations start.
    """

    seconds: Amount = 0.0
    mix: MixSpec
    arrival: ArrivalSpec = ArrivalSpec()

    @model_validator(mode="after")
    def _is_long_enough(self) -> Self:
        """Checks the length."""
        if 0 < self.seconds < MIN_DURATION_S:
            raise ValueError(
                f"seconds: {self.seconds:g} is neither 0 (for ever) nor at least {MIN_DURATION_S}"
            )
        return self

    def scaled(self, scale: int) -> "SessionSpec":
        """Returns the session of a 1/S model: its times are divided by S.

        Its length stays at least MIN_DURATION_S.
        """
        seconds = max(self.seconds / scale, MIN_DURATION_S) if self.seconds else 0.0
        return self.model_copy(update={"seconds": seconds, "arrival": self.arrival.scaled(scale)})


class PreloadSpec(Spec):
    """The data in the store at age 0.

    Attributes:
        keys: number of preloaded keys, 0 .. keys - 1; 0 for an empty store.
        random_order: whether keys are loaded in random order, which fills all levels, not in ascending order.
    """

    keys: Count = 0
    random_order: Switch = False


class WorkloadSpec(Spec):
    """A workload: operations, keys, sizes, sessions and preloaded data.

    Attributes:
        name: name of the workload for users.
        keys: size of the key space at the start, which has the keys 0 .. keys - 1. `insert` adds keys.
        key_bytes: bytes of a key, from 8 to 1,024.
        value: distribution of the values' sizes in bytes.
        value_compressed_fraction: ratio of a value's compressed size to its size, in (0, 1].
        threads: number of threads that issue operations.
        key_chooser: distribution of the keys.
        scan_length: distribution of the number of entries of a scan.
        sessions: the sessions, at least one. The first begins again after the last.
        preload: the data in the store at age 0.
        wal: whether the write-ahead log is on.
        sync: whether each write is synced; needs `wal`.
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
        """Checks the fields that limit each other."""
        if self.preload.keys > self.keys:
            raise ValueError(f"preload.keys: {self.preload.keys} exceeds keys, {self.keys}")
        if self.key_chooser.ranges > self.keys:
            raise ValueError(f"key_chooser.ranges: {self.key_chooser.ranges} exceeds keys, {self.keys}")
        if self.value.max_size > MAX_VALUE_BYTES:
            raise ValueError(f"value: {self.value.max_size} bytes exceed the maximum, {MAX_VALUE_BYTES}")
        if any(session.seconds == 0 for session in self.sessions[:-1]):
            raise ValueError("sessions: only the last one may have 0 seconds, which means for ever")
        if self.sync and not self.wal:
            raise ValueError("sync: needs the write-ahead log; write wal = true")
        return self

    def scaled(self, scale: int) -> "WorkloadSpec":
        """Returns the workload of a 1/S model.

        Keys, preloaded keys, and the times of sessions and arrivals are divided by S. Sizes of entries,
        threads and rates are unchanged. There is at least one key, and at least one preloaded key unless
        nothing is preloaded.

        Args:
            scale: S, at least 1; at 1 the result equals this workload.
        """
        keys = max(1, self.keys // scale)
        # Rounded up, so that a workload with preloaded keys never becomes one without.
        preloaded = min(keys, -(-self.preload.keys // scale))
        sessions = tuple(session.scaled(scale) for session in self.sessions)
        # A model may have fewer keys than mixgraph has ranges.
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
        """The mean bytes of an entry: key and value."""
        return self.key_bytes + self.value.mean

    @property
    def write_share(self) -> float:
        """The share of operations that write a value, averaged over the sessions by their lengths.

        If the last session has no end, the others do not count.
        """
        if self.sessions[-1].seconds == 0:
            return self.sessions[-1].mix.write_share
        total = sum(session.seconds for session in self.sessions)
        return sum(session.mix.write_share * session.seconds for session in self.sessions) / total
