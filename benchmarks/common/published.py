"""The figures, tables and results in text of the five papers: what each shows, and what measures it here."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, eq=False)
class PublishedFigure:
    """A figure or table with a result, or a result in text.

    Attributes:
        name: its name, such as "dremel_8"; unique.
        folder: folder of the evidence and of the benchmarks.
        label: its name in the paper.
        paper: what the paper shows.
        claims: patterns of the claims that stand beside it, "experiment/name" as `fnmatch` reads them.
        runs: by experiment, module and flags of the benchmark that measures it; empty if none can.
        why: cause of a failing target, condition of a comparison, or reason why nothing was measured.
        values: values that the paper publishes, by names that the benchmark gives to them.
    """

    name: str
    folder: str
    label: str
    paper: str
    claims: tuple[str, ...] = ()
    runs: Mapping[str, str] = field(default_factory=dict)
    why: str = ""
    values: Mapping[str, float] = field(default_factory=dict)


def published_figures() -> tuple[PublishedFigure, ...]:
    """Returns all figures of `published.toml` in its order."""
    document = tomllib.loads(Path(__file__).with_name("published.toml").read_text("utf-8"))
    return tuple(
        PublishedFigure(**{**entry, "claims": tuple(entry.get("claims", ()))}) for entry in document["figure"]
    )
