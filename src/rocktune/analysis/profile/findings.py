"""The numbers of a profile, each with where it comes from."""

from dataclasses import dataclass
from enum import StrEnum

from rocktune.workload import WorkloadSpec


class Basis(StrEnum):
    """What a number rests on."""

    MEASURED = "measured"
    """The store states it."""
    FITTED = "fitted"
    """A model with it explains what the store states."""
    ESTIMATED = "estimated"
    """It follows from what the store states, if something plausible holds."""
    ASSUMED = "assumed"
    """The store does not show it."""


@dataclass(frozen=True)
class Finding:
    """A number of a profile.

    Attributes:
        what: name of the quantity.
        value: its value with the unit.
        basis: what it rests on.
        why: where it comes from, or why it had to be assumed.
    """

    what: str
    value: str
    basis: Basis
    why: str


@dataclass(frozen=True)
class Profile:
    """The load of a store.

    Attributes:
        workload: the workload.
        rate_ops_s: mean operations per second; None if unknown.
        main_family: name of the column family with the most data.
        is_steady: False if that family has no steady state: its compactions only drop files, are off, or are
            the application's own.
        cache_bytes: capacity of the block cache; None if unknown.
        findings: every number of the workload.
        left_out: sentences on what the store shows and the workload does not have.
    """

    workload: WorkloadSpec
    rate_ops_s: float | None
    main_family: str
    is_steady: bool
    cache_bytes: int | None
    findings: tuple[Finding, ...]
    left_out: tuple[str, ...]


class Findings:
    """Collects findings.

    Attributes:
        made: those collected so far.
    """

    def __init__(self) -> None:
        self.made: list[Finding] = []

    def add(self, what: str, value: str, basis: Basis, why: str) -> None:
        """Adds a finding; see `Finding` for the arguments."""
        self.made.append(Finding(what, value, basis, why))
