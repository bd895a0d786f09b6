"""Finds the scale check whose conditions are those of a study: in a ledger, or among those of rocktune."""

import csv
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from importlib.resources import files
from itertools import chain
from typing import Any

from rocktune.errors import UserError
from rocktune.ledger import Ledger
from rocktune.objective import objective_named
from rocktune.outcome import LARGER_FACTOR, Interval, ScaleCheck
from rocktune.spec_file import validated
from rocktune.study.scale_check import scale_check_of
from rocktune.study.specs.spec import ScaleCheckSpec, StudySpec
from rocktune.trial import FIGURES

SHIPPED = "scale_checks.csv"
"""The checks that come with rocktune; `benchmarks/rocktune/scale_checks.py` adds rows."""
_RANGES = ("correlation", "regret")
_COUNTS = ("configurations", "failed", "disturbed")


def find_scale_check(
    spec: StudySpec | ScaleCheckSpec, engine: str, ledger: Ledger | None
) -> ScaleCheck | None:
    """Returns the check of a study's scale, without its foremost configurations; None if none is known.

    A ledger's checks come first, the newest one of them before the others. Checks that decided nothing are
    passed over.

    Args:
        spec: the study.
        engine: name and version of the system that measures it, such as "RocksDB 7.8.3, assertions on".
        ledger: where to look first; None for rocktune's own checks alone.
    """
    if not has_larger_model(spec):
        return None
    key = check_key(spec, engine)
    found = [] if ledger is None else _recorded(ledger, key)
    decided = (check for check in chain(found, _shipped(key)) if check.verdict != "undecided")
    check = next(decided, None)
    return None if check is None else check.model_copy(update={"foremost": ()})


def has_larger_model(spec: StudySpec | ScaleCheckSpec) -> bool:
    """Returns whether a check of the study's scale is possible: it compares models by a measured figure."""
    if objective_named(spec.objective).primary not in FIGURES:
        return False
    return spec.scale % LARGER_FACTOR == 0 and spec.engine.kind in ("embedded", "db_bench")


def check_key(spec: StudySpec | ScaleCheckSpec, engine: str) -> str:
    """Returns a text that the studies share which a check holds for.

    It depends on what decides a ranking, and on no name: workload, device, space, memory budget, the user's
    own options, protocol, figure, scale and version of RocksDB.

    Args:
        spec: the study or check.
        engine: see `find_scale_check`.
    """
    version = re.search(r"RocksDB [\d.]+", engine)
    space = spec.space
    document = {
        # Without fields that have their default, so that a new field of a later release changes no key.
        "workload": spec.workload.model_dump(mode="json", exclude={"name"}, exclude_defaults=True),
        "device": spec.device.model_dump(mode="json", exclude={"name"}, exclude_defaults=True),
        # A space that is no file is a preset, which only its name describes.
        "space": space.get("file", space),
        "memory_bytes": spec.memory_bytes,
        "base_options": spec.base_options,
        "column_family": spec.column_family,
        "protocol": spec.protocol,
        "figure": objective_named(spec.objective).primary,
        "scale": spec.scale,
        "engine": spec.engine.kind,
        "rocksdb": engine if version is None else version[0],
    }
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()[:32]


def shipped_rows() -> list[dict[str, str]]:
    """Returns the checks that come with rocktune, as rows of their file."""
    text = files(__package__).joinpath(SHIPPED).read_text()
    return list(csv.DictReader(text.splitlines()))


def shipped_row(spec: ScaleCheckSpec, check: ScaleCheck) -> dict[str, Any]:
    """Returns the row of a check for the file of those that come with rocktune."""
    document = check.model_dump(mode="json", exclude={"foremost", *_RANGES})
    for name in _RANGES:
        interval: Interval = getattr(check, name)
        document |= {name: interval.value, f"{name}_low": interval.low, f"{name}_high": interval.high}
        document[f"{name}_repeats"] = interval.repeats
    return {"key": check_key(spec, check.engine)} | document


def _recorded(ledger: Ledger, key: str) -> Iterator[ScaleCheck]:
    """Yields a ledger's finished checks with a key, the newest first."""
    for study in reversed(ledger.studies()):
        if study.spec.get("kind") != "scale_check" or study.state != "finished":
            continue
        try:
            spec = validated(ScaleCheckSpec, dict(study.spec), study.name)
            matches = check_key(spec, study.engine_version) == key
            check = scale_check_of(spec, ledger, study) if matches else None
        except UserError:
            continue  # of a newer rocktune, or damaged; no study may end for it
        if check is not None:
            yield check


def _shipped(key: str) -> Iterator[ScaleCheck]:
    """Yields the checks that come with rocktune with a key."""
    yield from (_check_of(row) for row in shipped_rows() if row["key"] == key)


def _check_of(row: Mapping[str, str]) -> ScaleCheck:
    """Returns the check in a row."""
    document: dict[str, Any] = {name: row[name] for name in row if name in ScaleCheck.model_fields}
    document |= {name: int(row[name]) for name in _COUNTS}
    for name in _RANGES:
        ends = {"value": row[name], "low": row[f"{name}_low"], "high": row[f"{name}_high"]}
        numbers = {end: float(text) if text else None for end, text in ends.items()}
        document[name] = Interval(**numbers, repeats=int(row[f"{name}_repeats"]))
    return ScaleCheck(**document)
