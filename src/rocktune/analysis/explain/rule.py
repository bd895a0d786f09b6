"""The type of rules."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from rocktune.analysis.explain.facts import Facts
from rocktune.analysis.explain.finding import Finding


@dataclass(frozen=True)
class Rule:
    """A rule: how a cause is found, and where its mechanism is documented.

    Attributes:
        name: unique, such as "no-slowdown".
        sources: pages of RocksDB's wiki ("wiki: Write Stalls") and files of its code ("code: db/x.cc, f").
        find: yields its findings in an opening of a database; yields nothing for a healthy one.
    """

    name: str
    sources: tuple[str, ...]
    find: Callable[[Facts], Iterator[Finding]]
