"""Explains LOG files: all rules on each opening, findings in the order of the time they cost."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from rocktune.analysis.explain.facts import Facts
from rocktune.analysis.explain.finding import Finding, StallKey
from rocktune.analysis.explain.held import MIN_HELD_S
from rocktune.analysis.explain.proof import commands
from rocktune.analysis.explain.rules import RULES
from rocktune.analysis.explain.unknowns import unknowns
from rocktune.importing import OptionsDocument
from rocktune.importing.logs import LogDocument, Opening

MIN_PART = 0.02
"""Shares of the time below it are no finding of their own."""


@dataclass(frozen=True, slots=True)
class Explained:
    """The findings of one opening of a database.

    Attributes:
        opening: what the LOG says.
        held_share: share of the time in which writes were delayed or stopped; None if unknown.
        held_s: the same in seconds.
        counted: True if `held_share` is RocksDB's own sum, False if it is estimated from messages.
        findings: the first costs most; empty if nothing was found.
        unknowns: sentences on what the LOG cannot show.
    """

    opening: Opening
    held_share: float | None
    held_s: float | None
    counted: bool
    findings: tuple[Finding, ...]
    unknowns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """What LOG files come to.

    Attributes:
        document: the LOG.
        openings: in the order of the LOG.
    """

    document: LogDocument
    openings: tuple[Explained, ...]


def explain(document: LogDocument, options_file: OptionsDocument | None = None) -> Explanation:
    """Returns the findings of each opening of a database.

    Args:
        document: the LOG.
        options_file: the store's OPTIONS file, for options that the LOG does not state.
    """
    return Explanation(
        document, tuple(explain_opening(opening, options_file) for opening in document.openings)
    )


def explain_opening(opening: Opening, options_file: OptionsDocument | None = None) -> Explained:
    """Returns the findings of one opening; see `explain`."""
    facts = Facts(opening, options_file)
    found = [
        replace(finding, sources=rule.sources, commands=commands(facts, finding))
        for rule in RULES
        for finding in rule.find(facts)
        if _matters(facts, finding)
    ]
    return Explained(
        opening=opening,
        held_share=facts.held.share,
        held_s=facts.held.seconds,
        counted=facts.held.counted,
        findings=tuple(ranked(found)),
        unknowns=unknowns(facts),
    )


def _matters(facts: Facts, finding: Finding) -> bool:
    """Returns whether a finding held writes up for long enough, or costs something else."""
    whole, share = facts.held, finding.held_share
    if share is None or not whole.share or whole.seconds is None:
        return True
    return share >= MIN_PART or share / whole.share * whole.seconds >= MIN_HELD_S


def ranked(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yields findings by the share of the time that they held writes up.

    Effects of others come after them, and findings without a share last. Of about equal shares, a cause comes
    before a limit that was reached, and a special rule before a general one. A limit whose delays and stops
    are all explained by causes is left out.
    """
    found = list(findings)
    explained: set[StallKey] = set()
    for finding in found:
        if finding.is_root:
            explained |= finding.covers
    kept = [each for each in found if each.is_root or not each.covers or not each.covers <= explained]
    yield from sorted(kept, key=_rank)


def _rank(finding: Finding) -> tuple[int, float, bool]:
    share = finding.held_share
    if not finding.covers:
        return (1 if share is not None else 2, 0.0, not finding.is_root)
    # Shares are estimates, so that a difference of a few percent says nothing.
    return (0, -round(share or 0.0, 1), not finding.is_root)
