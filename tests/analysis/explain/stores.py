"""LOG files of broken and of healthy stores, which `python -m benchmarks.rocktune.explain --logs` made."""

import gzip
from pathlib import Path

LOGS = sorted((Path(__file__).parent / "logs").glob("*/*.log.gz"))
HEALTHY = "healthy-"


def planted_cause(log: Path) -> str:
    """Returns the rule that has to come first; "" for a healthy store."""
    return "" if log.name.startswith(HEALTHY) else log.name.removesuffix(".log.gz").rpartition("-")[0]


def log_of(log: Path) -> str:
    """Returns a LOG's text."""
    return gzip.decompress(log.read_bytes()).decode()
