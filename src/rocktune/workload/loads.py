"""The operations and the data of a workload's column families."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self, TypeVar

from pydantic import Field, model_validator

from rocktune.spec_file import Count, Positive, Share, SparseSpec, Spec, Switch
from rocktune.workload.distributions import KeyChooserSpec, SizeSpec

MIX_TOLERANCE = 1e-6
"""Allowed difference between a mix's sum and 1, so that shares such as three times 0.333333 are accepted."""
MAX_VALUE_BYTES = 16 << 20
"""Maximum size of a value; the worker refuses larger ones too."""
KeyBytes = Annotated[int, Field(strict=True, ge=8, le=1024)]
"""Bytes of a key."""
CompressedFraction = Annotated[float, Field(strict=True, gt=0, le=1)]
"""Ratio of a value's compressed size to its size."""
FamilyName = Annotated[str, Field(strict=True, min_length=1)]
"""Name of a column family."""


def require_whole(shares: Iterable[float], what: str) -> None:
    """Raises a ValueError, which calls the shares `what`, unless they sum to 1 within MIX_TOLERANCE."""
    total = sum(shares)
    if abs(total - 1) > MIX_TOLERANCE:
        raise ValueError(f"{what} sum to {total:.6g}; they must sum to 1")


class MixSpec(SparseSpec):
    """The shares of the operation kinds, which sum to 1.

    Attributes:
        get: lookups of keys that the key chooser draws.
        get_absent: lookups of keys that do not exist.
        put: writes of keys of the key space, which overwrite existing ones.
        insert: writes of new keys, which extend the key space.
        delete: deletions.
        scan: scans from a key onwards.
        read_modify_write: lookups, each followed by a write of the same key.
        delete_range: deletions of successive keys by one range tombstone, from a key that the key chooser
            draws; `delete_range_keys` is their number.
    """

    sparse_fields: ClassVar[frozenset[str]] = frozenset({"delete_range"})
    absent_values: ClassVar[tuple[Any, ...]] = (0.0,)

    get: Share = 0.0
    get_absent: Share = 0.0
    put: Share = 0.0
    insert: Share = 0.0
    delete: Share = 0.0
    scan: Share = 0.0
    read_modify_write: Share = 0.0
    delete_range: Share = 0.0

    @model_validator(mode="after")
    def _sums_to_one(self) -> Self:
        """Checks the sum of the shares."""
        require_whole(self.model_dump().values(), "the shares")
        return self

    @classmethod
    def mean(cls, parts: Iterable[tuple[float, "MixSpec"]]) -> "MixSpec":
        """Returns the mean of several mixes.

        Args:
            parts: weights and mixes; the weights' sum is above 0.
        """
        weighted = [(weight, mix) for weight, mix in parts if weight > 0]
        if len(weighted) == 1:
            return weighted[0][1]
        total = sum(weight for weight, _ in weighted)
        shares = {
            kind: sum(weight * float(getattr(mix, kind)) for weight, mix in weighted) / total
            for kind in cls.model_fields
        }
        return cls(**shares)

    @property
    def write_share(self) -> float:
        """The share of operations that write a value: puts, inserts and read-modify-writes."""
        return self.put + self.insert + self.read_modify_write


class PreloadSpec(Spec):
    """The data in the store at age 0.

    Attributes:
        keys: number of preloaded keys, 0 .. keys - 1; 0 for an empty store.
        random_order: whether keys are loaded in random order, which fills all levels, not in ascending order.
    """

    keys: Count = 0
    random_order: Switch = False


class LoadSpec(SparseSpec):
    """The operations of a session or of a column family, as far as it states them itself.

    Attributes:
        mix: the shares of the operations.
        key_chooser: distribution of the keys.
        value: distribution of the values' sizes in bytes.
        scan_length: distribution of the number of entries of a scan.
        delete_range_keys: distribution of the number of keys of a deleted range.
    """

    sparse_fields: ClassVar[frozenset[str]] = frozenset(
        {"mix", "key_chooser", "value", "scan_length", "delete_range_keys"}
    )

    mix: MixSpec | None = None
    key_chooser: KeyChooserSpec | None = None
    value: SizeSpec | None = None
    scan_length: SizeSpec | None = None
    delete_range_keys: SizeSpec | None = None

    @model_validator(mode="after")
    def _has_possible_values(self) -> Self:
        if self.value is not None:
            require_possible(self.value)
        return self


def require_width(mix: MixSpec, keys: SizeSpec | None) -> None:
    """Raises a ValueError if a mix deletes ranges and their number of keys is not given or may be 0."""
    if mix.delete_range == 0:
        return
    if keys is None:
        raise ValueError(
            "delete_range_keys: missing; write the number of keys of a deleted range, such as "
            "delete_range_keys = 1000"
        )
    if keys.kind != "pareto" and keys.low == 0:
        raise ValueError("delete_range_keys: low: 0 is not above 0; a deleted range has at least one key")


def require_possible(value: SizeSpec) -> None:
    """Raises a ValueError if values may be larger than MAX_VALUE_BYTES."""
    if value.max_size > MAX_VALUE_BYTES:
        raise ValueError(f"value: {value.max_size} bytes exceed the maximum, {MAX_VALUE_BYTES}")


class FamilyLoadSpec(LoadSpec):
    """The operations of a session on one column family, where they differ from the family's own.

    Attributes:
        name: name of the column family.
        share: share of the session's operations; the family's own by default.
    """

    sparse_fields: ClassVar[frozenset[str]] = LoadSpec.sparse_fields | {"share"}

    name: FamilyName
    share: Share | None = None


class FamilySpec(FamilyLoadSpec):
    """A column family of a workload: its data, and the operations on it.

    Attributes:
        share: share of the operations; equal shares if no family states one.
        keys: size of the key space at the start, which has the keys 0 .. keys - 1. `insert` adds keys.
        key_bytes: bytes of a key; the workload's by default.
        value_compressed_fraction: ratio of a value's compressed size to its size; by default the workload's.
        preload: the data in the family at age 0. Preloaded values have the family's sizes, else the
            workload's.
    """

    sparse_fields: ClassVar[frozenset[str]] = FamilyLoadSpec.sparse_fields | {
        "key_bytes",
        "value_compressed_fraction",
    }

    keys: Positive
    key_bytes: KeyBytes | None = None
    value_compressed_fraction: CompressedFraction | None = None
    preload: PreloadSpec = PreloadSpec()

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        require_fitting_keys(self.keys, self.preload, self.key_chooser)
        return self

    def scaled(self, scale: int) -> "FamilySpec":
        """Returns the family of a 1/S model; see `WorkloadSpec.scaled`."""
        keys, preload, chooser = scaled_keys(self.keys, self.preload, self.key_chooser, scale)
        return self.model_copy(update={"keys": keys, "preload": preload, "key_chooser": chooser})


Chooser = TypeVar("Chooser", KeyChooserSpec, KeyChooserSpec | None)


def require_fitting_keys(keys: int, preload: PreloadSpec, chooser: KeyChooserSpec | None) -> None:
    """Raises a ValueError if there are more preloaded keys or key ranges than keys."""
    if preload.keys > keys:
        raise ValueError(f"preload.keys: {preload.keys} exceeds keys, {keys}")
    if chooser is not None and chooser.ranges > keys:
        raise ValueError(f"key_chooser.ranges: {chooser.ranges} exceeds keys, {keys}")


def scaled_keys(
    keys: int, preload: PreloadSpec, chooser: Chooser, scale: int
) -> tuple[int, PreloadSpec, Chooser]:
    """Returns the keys, the preload and the key chooser of a 1/S model.

    There is at least one key, and at least one preloaded key unless nothing is preloaded.
    """
    fewer = max(1, keys // scale)
    # Rounded up, so that a workload with preloaded keys never becomes one without.
    preloaded = min(fewer, -(-preload.keys // scale))
    if chooser is not None and chooser.ranges > fewer:
        # A model may have fewer keys than mixgraph has ranges.
        chooser = chooser.model_copy(update={"ranges": fewer})
    return fewer, preload.model_copy(update={"keys": preloaded}), chooser


@dataclass(frozen=True)
class Load:
    """The operations of a session on one column family.

    Attributes:
        share: share of the session's operations, from 0 to 1.
        mix: the shares of the operation kinds.
        key_chooser: distribution of the keys.
        value: distribution of the values' sizes in bytes.
        scan_length: distribution of the number of entries of a scan.
        delete_range_keys: distribution of the number of keys of a deleted range; None without such ranges.
    """

    share: float
    mix: MixSpec
    key_chooser: KeyChooserSpec
    value: SizeSpec
    scan_length: SizeSpec
    delete_range_keys: SizeSpec | None = None
