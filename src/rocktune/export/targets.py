"""Every target that a study can be exported to: one function each, and one line below."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rocktune.errors import UserError, unknown_name
from rocktune.export.db_bench import db_bench_script
from rocktune.ledger import StudyRecord
from rocktune.space import OptionMaps, options_file_text
from rocktune.workload import WorkloadSpec


@dataclass(frozen=True)
class _Found:
    """What a target is given.

    Attributes:
        options: of the recommended configuration, at full size.
        comment: who found it, and how well it is proven; lines without a comment sign.
        rocksdb_version: of the RocksDB that was measured.
        study: the study's record.
    """

    options: OptionMaps
    comment: list[str]
    rocksdb_version: str
    study: StudyRecord


def _options_file(found: _Found) -> str:
    return options_file_text(found.options, found.rocksdb_version, found.comment)


def _db_bench(found: _Found) -> str:
    header = "\n".join(f"# {line}" for line in found.comment)
    workload = WorkloadSpec.model_validate(found.study.spec["workload"])
    return db_bench_script(found.options, workload, int(found.study.spec["seed"]), header)


_TARGETS: dict[str, tuple[str, Callable[[_Found], str]]] = {
    "options-file": ("RocksDB's own OPTIONS file, with what differs from its defaults", _options_file),
    "db_bench": ("a shell script that runs db_bench 7.8 with the configuration and workload", _db_bench),
}


def export_targets() -> dict[str, str]:
    """Returns every target's name with one line about it."""
    return {name: summary for name, (summary, _) in _TARGETS.items()}


def export_study(target: str, study: StudyRecord, outcome: Mapping[str, Any]) -> str:
    """Returns the recommended configuration of a finished study in a target's form, at full size.

    Args:
        target: one of `export_targets`.
        study: the study's record.
        outcome: what it found.

    Raises:
        UserError: there is no such target (the nearest is suggested), or the study has nothing to export.
    """
    if target not in _TARGETS:
        raise unknown_name("export target", target, _TARGETS)
    recommended = str(outcome.get("recommended", "baseline"))
    side = outcome.get(recommended)
    if not side:
        raise UserError(f"study '{study.name}' has no configuration to export")
    version = re.search(r"\d+\.\d+\.\d+", study.engine_version)
    if version is None:
        raise UserError(f"study '{study.name}' does not say which RocksDB it measured")
    found = _Found(side["options"], _comment(study, outcome, recommended), version[0], study)
    return _TARGETS[target][1](found)


def _comment(study: StudyRecord, outcome: Mapping[str, Any], recommended: str) -> list[str]:
    what = (
        "the tuned configuration" if recommended == "best" else "the baseline, for no gain over it was proven"
    )
    return [
        " ".join(f"rocktune study '{study.name}': {what}".split()),
        f"Tuned over baseline, {outcome.get('objective')}: {_proof(outcome)}",
        f"Measured with {study.engine_version}; the values here are those for full size",
    ]


def _proof(outcome: Mapping[str, Any]) -> str:
    ratio = outcome.get("ratio_to_baseline") or {}
    value, low, high = (ratio.get(name) for name in ("value", "low", "high"))
    if value is None:
        return "not measured"
    scale = outcome.get("verified_at_scale")
    where = "at full size" if scale == "1" else f"on a {scale} model"
    interval = (
        f"95% interval {low:.3f} to {high:.3f}" if low is not None and high is not None else "no interval"
    )
    return f"{value:.3f} times better ({interval}), proven {where}"
