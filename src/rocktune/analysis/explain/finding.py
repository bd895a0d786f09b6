"""Findings: what holds a store up, with the evidence for it and what to try."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from rocktune.importing.logs import StallCause

StallKey = tuple[str, bool, StallCause]
"""Family, whether writes stop, and cause of a `StallSummary`."""


class Confidence(StrEnum):
    """How sure a finding is."""

    HIGH = "high"
    """RocksDB itself says so, or figures leave no other cause."""
    MEDIUM = "medium"
    """Figures point to it; another cause is possible."""
    LOW = "low"
    """The LOG lacks figures that would decide."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A fact that the LOG states.

    Attributes:
        text: one sentence with the figures.
        quote: a part of one of the LOG's lines, to search for; "" for figures from tables.
        first: time of the first line; None if unknown.
        last: time of the last line.
    """

    text: str
    quote: str = ""
    first: datetime | None = None
    last: datetime | None = None


@dataclass(frozen=True, slots=True)
class Suggestion:
    """An option to try.

    Attributes:
        option: RocksDB's name, or that of a knob, as `rocktune run --option` takes it.
        present: its value in the LOG or the OPTIONS file; None if neither states it.
        value: the value to try.
        why: what it changes, in one clause.
    """

    option: str
    present: str | None
    value: str
    why: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One cause.

    Attributes:
        rule: name of the rule.
        title: one clause that says what holds up what.
        families: column families that are the cause; empty for the whole database.
        held_share: share of the time in which writes were delayed or stopped by it, from 0 to 1; None if it
            costs reads, space or nothing yet.
        cause: RocksDB's mechanism, in sentences.
        confidence: how sure it is.
        is_root: False if it only names the limit that was reached, not why.
        covers: delays and stops that it explains.
        evidence: at least one fact.
        suggestions: what to try; empty if no option helps.
        sources: where the mechanism is documented; see `Rule`.
        commands: calls of `rocktune run` that compare the present values with those to try on a model.
    """

    rule: str
    title: str
    families: tuple[str, ...]
    held_share: float | None
    cause: str
    confidence: Confidence
    is_root: bool
    covers: frozenset[StallKey]
    evidence: tuple[Evidence, ...]
    suggestions: tuple[Suggestion, ...] = ()
    sources: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()

    @property
    def first(self) -> datetime | None:
        """Time of the first line of its evidence; None if unknown."""
        return min((each.first for each in self.evidence if each.first is not None), default=None)

    @property
    def last(self) -> datetime | None:
        """Time of the last line of its evidence; None if unknown."""
        return max((each.last for each in self.evidence if each.last is not None), default=None)
