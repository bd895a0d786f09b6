"""A/A studies: the only candidate differs from the user's configuration in an option without effect.

A proven gain is then false. With 95% intervals, chance gives one in 40 studies. Unequal memory or data on the
two sides would give one in nearly all. With `--out`, studies that studies.csv has are not run again.
"""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.common.claims import Claim, Settings, decided, exactly, main, ratio_interval, reported
from benchmarks.common.tables import read_rows, typed, write_csv
from rocktune import api
from rocktune.errors import unknown_name
from rocktune.space import OptionMaps, load_space, merged_options, options_file_text
from rocktune.units import MIB, format_scale

MAX_FALSE_GAINS = 2
CACHES = {"without a cache": None, "with a cache": f"capacity={512 * MIB};num_shard_bits=4"}
"""Variants of the user's OPTIONS file; RocksDB never writes a block cache into one."""
_SPACE = """
base = "dremel"

[knobs.stats_dump_period_sec]
section = "db"
acts_on = "live"
low = 600
high = 700
effect = "None: it is what the only candidate changes."
"""
_TUNER = '''
from rocktune.spec_file import Spec
from rocktune.trial import Batch, Trial
from rocktune.tuners import Tuner


class Same(Tuner):
    """Asks for the baseline with an option changed that has no effect."""

    name = "same"
    summary = "the baseline"
    settings_type = Spec

    def search(self, problem, rng):
        same = problem.baseline.replaced({"stats_dump_period_sec": 660})
        yield Batch((Trial(same, problem.budget_s),))

    def min_budget_s(self, problem):
        return problem.age_s(60.0)
'''
_VERIFICATION = {"finalists": 1, "pick_runs": 1, "ablation_pairs": 0, "prune_attempts": 0}


@dataclass(frozen=True)
class Plan:
    """The studies in one protocol.

    Attributes:
        device: the device.
        workloads: the workloads.
        each: number of studies on each workload.
        caches: names of `CACHES` that the studies take in turn.
    """

    device: str
    workloads: tuple[str, ...]
    each: int
    caches: tuple[str, ...]


PLANS: Mapping[str, Plan] = {
    "short": Plan(
        "cloud-gp3", ("dremel-write-heavy", "dremel-preloaded", "ycsb-b", "ycsb-e"), 5, tuple(CACHES)
    ),
    # Each workload and file has aged stores of its own, which take most of the time.
    "steady": Plan("ssd-100mb", ("dremel-write-heavy",), 20, ("with a cache",)),
}


def equal_terms(settings: Settings) -> list[Claim]:
    """Runs the studies and counts false gains."""
    protocol = str(settings.extra["protocol"])
    if protocol not in PLANS:
        raise unknown_name("protocol", protocol, list(PLANS))
    plan = PLANS[protocol]
    workloads, each = (plan.workloads[:1], 1) if settings.quick else (plan.workloads, plan.each)
    rows = _recorded(settings)
    known = {(row["workload"], row["seed"]) for row in rows}
    with tempfile.TemporaryDirectory(prefix="rocktune-benchmark-") as scratch:
        files = _files(Path(scratch))
        for workload in workloads:
            for number in range(each):
                seed, cache = settings.seed + number, plan.caches[number % len(plan.caches)]
                if (workload, seed) in known:
                    continue
                outcome = _study(Path(scratch), files[cache], workload, plan.device, settings, seed)
                rows.append(_row(outcome, workload, cache, seed))
                settings.say(f"{workload}, {cache}: {rows[-1]['ratio']:.3f}, {rows[-1]['recommended']}")
                if settings.out is not None:
                    write_csv(settings.out / "studies.csv", rows)
    return _claims(rows, plan.device)


def _recorded(settings: Settings) -> list[dict[str, Any]]:
    """Returns the rows of the studies that were run before."""
    path = None if settings.out is None or settings.quick else settings.out / "studies.csv"
    kinds = typed(seed=int, ratio=float, tuned_memory_bytes=int, baseline_memory_bytes=int, engine=str)
    return read_rows(path, kinds)


def _files(scratch: Path) -> dict[str, Path]:
    """Writes the space, the tuner, and the user's OPTIONS files, which differ from the space's default."""
    (scratch / "space.toml").write_text(_SPACE)
    (scratch / "same.py").write_text(_TUNER)
    space = load_space("dremel", None, 1e6)
    own: OptionMaps = {
        "cf": {"write_buffer_size": str(32 * MIB), "level0_file_num_compaction_trigger": "6"},
        "table": {"filter_policy": "bloomfilter:8:false"},
    }
    options = merged_options(space.options(space.default()), own)
    files = {}
    for number, (name, cache) in enumerate(CACHES.items()):
        table = {option: text for option, text in options["table"].items() if option != "block_cache"}
        with_cache = {**options, "table": table | ({"block_cache": cache} if cache else {})}
        files[name] = scratch / f"OPTIONS-{number}"
        files[name].write_text(options_file_text(with_cache, "7.8.3"))
    return files


def _study(
    scratch: Path, file: Path, workload: str, device: str, settings: Settings, seed: int
) -> dict[str, Any]:
    return api.tune(
        workload=workload,
        device=device,
        scale=format_scale(settings.scale),
        space=str(scratch / "space.toml"),
        tuner=str(scratch / "same.py"),
        options_file=file,
        budget=120.0 / settings.scale,
        protocol=settings.extra["protocol"],
        seed=seed,
        verification=_VERIFICATION,
        study=f"{workload}-{seed}",
        ledger=f"sqlite:///{scratch}/ledger.sqlite",
        out=scratch / "out" / f"{workload}-{seed}",
    ).to_json()


def _row(outcome: dict[str, Any], workload: str, cache: str, seed: int) -> dict[str, Any]:
    ratio = outcome["ratio_to_baseline"]
    sides = {side: outcome[side]["memory"]["total_bytes"] for side in ("best", "baseline")}
    return {
        "workload": workload,
        "file": cache,
        "seed": seed,
        "ratio": ratio["value"],
        "low": ratio["low"],
        "high": ratio["high"],
        "recommended": outcome["recommended"],
        "pairs": outcome["proof_pairs"],
        "stopped": outcome["stopped"],
        "engine": outcome["engine"],
        "tuned_memory_bytes": sides["best"],
        "baseline_memory_bytes": sides["baseline"],
        "tuned_resident_bytes": outcome["best"]["resident_bytes"]["value"],
        "baseline_resident_bytes": outcome["baseline"]["resident_bytes"]["value"],
    }


def _claims(rows: Sequence[Mapping[str, Any]], device: str) -> list[Claim]:
    engine = str(rows[-1]["engine"])
    false_gains = sum(row["recommended"] == "best" for row in rows)
    unequal = sum(row["tuned_memory_bytes"] != row["baseline_memory_bytes"] for row in rows)

    def counted(name: str, count: int) -> Claim:
        of = f"of {len(rows)} studies"
        measured = exactly(count, len(rows))
        return reported(name, "equal terms", of, measured, engine=engine, device=device)

    return [
        decided(counted("false_gains", false_gains), high=MAX_FALSE_GAINS),
        decided(counted("studies_with_unequal_memory", unequal), high=0),
        reported(
            "ratio_of_a_configuration_to_itself",
            "equal terms",
            "ratio",
            ratio_interval([float(row["ratio"]) for row in rows]),
            engine=engine,
            device=device,
        ),
    ]


if __name__ == "__main__":
    main("rocktune.equal_terms", equal_terms, scale=256, extra={"protocol": "short"})
