"""Values to try for options."""

from rocktune.analysis.explain.facts import Facts
from rocktune.analysis.explain.finding import Suggestion

MAX_JOBS = 16
CHEAP_COMPRESSIONS = frozenset(
    ("NoCompression", "LZ4", "Snappy", "kNoCompression", "kLZ4Compression", "kSnappyCompression")
)
"""Compressions that take little CPU time, as a LOG and as options name them."""


def more_jobs(facts: Facts) -> Suggestion:
    """Returns a suggestion of twice the background jobs, at least 4 and at most `MAX_JOBS`."""
    present = facts.number("max_background_jobs")
    value = min(MAX_JOBS, max(4, 2 * int(present or 2)))
    return Suggestion(
        "max_background_jobs", whole(present), str(value), "lets more flushes and compactions run at a time"
    )


def more_subcompactions(facts: Facts) -> Suggestion:
    """Returns a suggestion of several threads for a compaction of level 0."""
    return Suggestion(
        "max_subcompactions",
        whole(facts.number("max_subcompactions")),
        "4",
        "splits a compaction of level 0, of which one runs at a time",
    )


def strong_compressions(facts: Facts, family: str) -> tuple[str, ...]:
    """Returns the family's compressions that take much CPU time, each once."""
    return tuple(dict.fromkeys(name for name in facts.compressions(family) if name not in CHEAP_COMPRESSIONS))


def cheaper_compression(facts: Facts, family: str, why: str) -> tuple[Suggestion, ...]:
    """Returns a suggestion of LZ4 in the place of a strong compression; empty without a strong one."""
    strong = strong_compressions(facts, family)
    if not strong:
        return ()
    # `rocktune run` has one compression for all levels, also where the store has one for each.
    return (Suggestion("compression", strong[0], "kLZ4Compression", why),)


def changed(facts: Facts, option: str, family: str | None, value: float, why: str) -> Suggestion:
    """Returns a suggestion of a whole number, with the present value."""
    return Suggestion(option, whole(facts.number(option, family)), str(int(value)), why)


def whole(value: float | None) -> str | None:
    """Returns a number as the text of a whole number; None stays."""
    return None if value is None else str(int(value))
