"""Workload specs: operations, keys, sizes, arrival and preloaded data.

The worker reads the JSON form of these models (`cpp/rocktune/workload/workload_spec.h`). Tests of both sides
read `tests/golden/workload_specs.json`.
"""

from collections.abc import Iterator
from typing import Any, ClassVar, Self

from pydantic import Field, model_validator

from rocktune.errors import unknown_name
from rocktune.spec_file import Positive, SparseSpec, Switch
from rocktune.workload.arrival import ArrivalSpec
from rocktune.workload.distributions import KeyChooserSpec, SizeSpec
from rocktune.workload.loads import (
    CompressedFraction,
    FamilyLoadSpec,
    FamilySpec,
    KeyBytes,
    Load,
    MixSpec,
    PreloadSpec,
    require_fitting_keys,
    require_possible,
    require_whole,
    require_width,
    scaled_keys,
)
from rocktune.workload.sessions import SessionSpec
from rocktune.workload.trace import TraceSpec

DEFAULT_FAMILY = "default"
"""Name of the column family that each RocksDB database has."""


class WorkloadSpec(SparseSpec):
    """A workload: operations, keys, sizes, sessions and preloaded data.

    Attributes:
        name: name of the workload for users.
        keys: size of the key space at the start, which has the keys 0 .. keys - 1. `insert` adds keys. With
            families the sum of their keys.
        key_bytes: bytes of a key, from 8 to 1,024.
        value: distribution of the values' sizes in bytes.
        value_compressed_fraction: ratio of a value's compressed size to its size, in (0, 1].
        threads: number of threads that issue operations.
        key_chooser: distribution of the keys.
        scan_length: distribution of the number of entries of a scan.
        delete_range_keys: distribution of the number of keys that a `delete_range` deletes; must be given if
            there are any. The last range of the key space ends with it.
        families: the column families, if there are others than the default one. A family's operations in a
            session are the session's for this family, else the family's, else the session's for all, else the
            workload's.
        sessions: the sessions, at least one. The first begins again after the last.
        preload: the data in the store at age 0; with families that of all together.
        trace: the trace whose operations are replayed. Mixes, key choosers and sizes then only describe it.
        wal: whether the write-ahead log is on.
        sync: whether each write is synced; needs `wal`.
    """

    sparse_fields: ClassVar[frozenset[str]] = frozenset({"families", "trace", "delete_range_keys"})

    name: str = Field(strict=True, min_length=1)
    keys: Positive
    key_bytes: KeyBytes = 16
    value: SizeSpec = SizeSpec(low=1024)
    value_compressed_fraction: CompressedFraction = 0.5
    threads: int = Field(default=16, strict=True, ge=1, le=1024)
    key_chooser: KeyChooserSpec = KeyChooserSpec()
    scan_length: SizeSpec = SizeSpec(low=100)
    delete_range_keys: SizeSpec | None = None
    families: tuple[FamilySpec, ...] = ()
    sessions: tuple[SessionSpec, ...] = Field(min_length=1)
    preload: PreloadSpec = PreloadSpec()
    trace: TraceSpec | None = None
    wal: Switch = True
    sync: Switch = False

    @model_validator(mode="before")
    @classmethod
    def _sums_families(cls, document: Any) -> Any:
        """Sets `keys` and `preload` to the sums over the families if they are absent."""
        families = document.get("families") if isinstance(document, dict) else None
        if not isinstance(families, list | tuple) or not families:
            return document
        keys = sum(_count(family, "keys") for family in families)
        preloads = [family.get("preload") for family in families if isinstance(family, dict)]
        preloaded = sum(_count(preload, "keys") for preload in preloads)
        randomly = any(isinstance(each, dict) and each.get("random_order") is True for each in preloads)
        # A family's mistake counts as few keys here, and its own check names it.
        sums = {"keys": max(1, keys), "preload": {"keys": preloaded, "random_order": randomly}}
        return sums | document

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        """Checks the fields that limit each other."""
        require_possible(self.value)
        if any(session.seconds == 0 for session in self.sessions[:-1]):
            raise ValueError("sessions: only the last one may have 0 seconds, which means for ever")
        if self.sync and not self.wal:
            raise ValueError("sync: needs the write-ahead log; write wal = true")
        if self.trace is not None and (len(self.sessions) > 1 or self.sessions[0].seconds > 0):
            raise ValueError("sessions: a trace has one session of 0 seconds, which means for ever")
        if self.trace is None and any(session.arrival.kind == "recorded" for session in self.sessions):
            raise ValueError("arrival: kind 'recorded' needs a trace; choose another kind")
        self._check_families()
        require_fitting_keys(self.keys, self.preload, None if self.families else self.key_chooser)
        for number, session in enumerate(self.sessions, 1):
            self._check_session(number, session)
        return self

    def _check_families(self) -> None:
        """Raises a ValueError if the families do not fit together or do not sum to the workload."""
        names = [family.name for family in self.families]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"families: '{name}' is named twice; give each family a name of its own")
        if self.families:
            for field, total, parts in (
                ("keys", self.keys, [family.keys for family in self.families]),
                ("preload.keys", self.preload.keys, [family.preload.keys for family in self.families]),
            ):
                if total != sum(parts):
                    raise ValueError(
                        f"{field}: {total} is not the sum of the families' keys, {sum(parts)}; leave it out"
                    )
        stated = [family.share is not None for family in self.families]
        if any(stated) and not all(stated):
            raise ValueError("families: give each one a share, or none of them for equal shares")

    def _check_session(self, number: int, session: SessionSpec) -> None:
        """Raises a ValueError if a session is incomplete or names a family that the workload lacks."""
        known = [family.name for family in self.families]
        for load in session.families:
            if load.name not in known:
                raise ValueError(f"sessions[{number}]: {unknown_name('column family', load.name, known)}")
        for family in self.families or (None,):
            if self._first("mix", session, family) is None:
                raise ValueError(f"sessions[{number}].mix: missing; write the shares of operations")
            chooser = self._first("key_chooser", session, family) or self.key_chooser
            require_fitting_keys((family or self).keys, PreloadSpec(), chooser)
        for each in self.loads(session):
            require_width(each.mix, each.delete_range_keys)
        require_whole(
            (load.share for load in self.loads(session)), f"sessions[{number}]: the families' shares"
        )

    def _first(self, field: str, session: SessionSpec, family: FamilySpec | None) -> Any:
        """Returns a field of a family's operations unless only the workload states it, which gives None."""
        for each in (_own_load(session, family), family, session):
            stated = getattr(each, field, None)
            if stated is not None:
                return stated
        return None

    def loads(self, session: SessionSpec) -> tuple[Load, ...]:
        """Returns the operations of a session on each family, in the families' order.

        A workload without families has one load.
        """
        return tuple(self._load(session, family) for family in self.families or (None,))

    def _load(self, session: SessionSpec, family: FamilySpec | None) -> Load:
        own = _own_load(session, family)
        share = 1 / max(1, len(self.families))
        for each in (family, own):
            share = share if each is None or each.share is None else each.share
        return Load(
            share=share,
            mix=self._first("mix", session, family),
            key_chooser=self._first("key_chooser", session, family) or self.key_chooser,
            value=self._first("value", session, family) or self.value,
            scan_length=self._first("scan_length", session, family) or self.scan_length,
            delete_range_keys=self._first("delete_range_keys", session, family) or self.delete_range_keys,
        )

    @property
    def deletes(self) -> bool:
        """Whether the workload deletes entries, one by one or in ranges."""
        return any(
            load.mix.delete > 0 or load.mix.delete_range > 0
            for session in self.sessions
            for load in self.loads(session)
        )

    def mix_of(self, session: SessionSpec) -> MixSpec:
        """Returns the shares of the operation kinds in a session, over all families."""
        return MixSpec.mean((load.share, load.mix) for load in self.loads(session))

    def scaled(self, scale: int) -> "WorkloadSpec":
        """Returns the workload of a 1/S model.

        Keys, preloaded keys, and the times of sessions and arrivals are divided by S; of a trace, a sample
        of 1/S is replayed. Sizes of entries, threads and rates are unchanged. There is at least one key, and
        at least one preloaded key unless nothing is preloaded; that holds for each family.

        Args:
            scale: S, at least 1; at 1 the result equals this workload.
        """
        sessions = tuple(session.scaled(scale) for session in self.sessions)
        keys, preload, chooser = scaled_keys(self.keys, self.preload, self.key_chooser, scale)
        families = tuple(family.scaled(scale) for family in self.families)
        if families:
            keys = sum(family.keys for family in families)
            preloaded = sum(family.preload.keys for family in families)
            preload = self.preload.model_copy(update={"keys": preloaded})
            chooser = self.key_chooser
        return self.model_copy(
            update={
                "keys": keys,
                "preload": preload,
                "sessions": sessions,
                "families": families,
                "key_chooser": chooser,
                "trace": self.trace and self.trace.scaled(scale),
            }
        )

    def with_all_keys(self) -> "WorkloadSpec":
        """Returns the workload on a store that holds all keys at age 0, as a store in steady state does.

        Keys that the workload preloads keep their order; where it preloads only some, all are preloaded in
        random order.
        """

        def full(part: Any) -> dict[str, PreloadSpec]:
            whole = part.preload.keys == part.keys
            return {"preload": part.preload if whole else PreloadSpec(keys=part.keys, random_order=True)}

        families = tuple(family.model_copy(update=full(family)) for family in self.families)
        randomly = any(family.preload.random_order for family in families)
        preload = PreloadSpec(keys=self.keys, random_order=randomly) if families else full(self)["preload"]
        return self.model_copy(update={"families": families, "preload": preload})

    def closed(self) -> "WorkloadSpec":
        """Returns the workload with all sessions in a closed loop, which finds what a store sustains."""
        return self._arriving(ArrivalSpec())

    def offered(self, operations_s: float) -> "WorkloadSpec":
        """Returns the workload with all sessions at a fixed rate, the sum over all threads."""
        return self._arriving(ArrivalSpec(kind="fixed_rate", operations_s=operations_s))

    def _arriving(self, arrival: ArrivalSpec) -> "WorkloadSpec":
        """Returns the workload with an arrival for all sessions."""
        sessions = tuple(session.model_copy(update={"arrival": arrival}) for session in self.sessions)
        return self.model_copy(update={"sessions": sessions})

    @property
    def family_names(self) -> tuple[str, ...]:
        """The names of the column families; that of the default one for a workload without families."""
        return tuple(family.name for family in self.families) or (DEFAULT_FAMILY,)

    def entry_bytes_of(self, family: FamilySpec | None) -> float:
        """Returns the mean bytes of a family's entry: key and value; None for a workload without families."""
        key_bytes = (family and family.key_bytes) or self.key_bytes
        value = (family and family.value) or self.value
        return key_bytes + value.mean

    @property
    def entry_bytes(self) -> float:
        """The mean bytes of an entry: key and value; a mean over all keys if there are families."""
        if not self.families:
            return self.entry_bytes_of(None)
        return sum(self.entry_bytes_of(family) * family.keys for family in self.families) / self.keys

    def weighted_sessions(self) -> Iterator[tuple[float, SessionSpec]]:
        """Yields the share of time of each session, and the session.

        If the last session has no end, the others do not count.
        """
        if self.sessions[-1].seconds == 0:
            yield 1.0, self.sessions[-1]
            return
        total = sum(session.seconds for session in self.sessions)
        for session in self.sessions:
            yield session.seconds / total, session

    @property
    def write_share(self) -> float:
        """The share of operations that write a value, averaged over the sessions by their lengths."""
        return sum(weight * self.mix_of(session).write_share for weight, session in self.weighted_sessions())


def _count(document: Any, field: str) -> int:
    """Returns the whole number in a field of a document; 0 if there is none."""
    value = document.get(field) if isinstance(document, dict) else None
    return value if type(value) is int and value > 0 else 0


def _own_load(session: SessionSpec, family: FamilySpec | None) -> FamilyLoadSpec | None:
    """Returns what a session says of a family; None if it says nothing."""
    if family is None:
        return None
    return next((load for load in session.families if load.name == family.name), None)
