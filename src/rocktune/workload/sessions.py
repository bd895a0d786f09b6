"""The sessions of a workload."""

from typing import ClassVar, Self

from pydantic import model_validator

from rocktune.spec_file import Amount
from rocktune.workload.arrival import MIN_DURATION_S, ArrivalSpec
from rocktune.workload.loads import FamilyLoadSpec, LoadSpec


class SessionSpec(LoadSpec):
    """A session: a part of a workload with its own arrival and operations.

    Attributes:
        seconds: length in seconds, at least MIN_DURATION_S. 0 means for ever, which is allowed only for the
            last session.
        mix: the shares of the operations; needed unless each column family has its own.
        arrival: when the operations start.
        key_chooser: distribution of the keys; the workload's by default.
        value: distribution of the sizes of written values in bytes; the workload's by default.
        scan_length: distribution of the number of entries of a scan; the workload's by default.
        delete_range_keys: distribution of the number of keys of a deleted range; the workload's by default.
        families: operations on column families that differ from the families' own in this session.
    """

    sparse_fields: ClassVar[frozenset[str]] = LoadSpec.sparse_fields | {"families"}

    seconds: Amount = 0.0
    arrival: ArrivalSpec = ArrivalSpec()
    families: tuple[FamilyLoadSpec, ...] = ()

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
