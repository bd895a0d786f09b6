"""Requests: studies as users describe them, by the names of the command line."""

from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from rocktune.engine import (
    CommandSpec,
    DbBenchSpec,
    EmbeddedSpec,
    EngineSpec,
    RecordedSpec,
    table_digest,
)
from rocktune.errors import UserError, unknown_name
from rocktune.outcome import Protocol
from rocktune.space import parse_block_cache
from rocktune.spec_file import Spec, Switch
from rocktune.study.specs.own_options import AskedMemory
from rocktune.study.specs.spec import ProofPairs, VerificationSettings
from rocktune.table import read_table
from rocktune.units import parse_bytes, parse_scale, parse_seconds
from rocktune.workload import WorkloadSpec

FULL_SIZE_BUDGET_S = 2325.0
"""Seconds of measuring in the search of Dremel's paper: 31 configurations, halved at 60, 80 and 100 s."""
FULL_SIZE_RESTARTED_BUDGET_S = 3785.0
"""Seconds of measuring in the same search if the engine cannot pause runs and measures every age from 0."""
STEADY_BUDGET_S = 7200.0
"""Seconds of measuring at full size in a search of the steady protocol: 60 runs of 120 s."""
DEFAULT_SCALE = 32
STEADY_SCALE = 64
"""S of the default scale of the steady protocol, whose proof takes longer."""
MAX_SCALE = 512
_ENGINES = {
    "embedded": "the linked RocksDB, in worker processes: fast, throttled, repeatable",
    "db_bench": "a db_bench program of any version or fork",
    "command": "your own program, which opens RocksDB with an OPTIONS file",
    "recorded": "a table of past measurements, replayed or interpolated in no time",
}

_ENGINE_OF = {
    "rocksdb": "embedded",
    "db_bench": "db_bench",
    "command": "command",
    "table": "recorded",
    "interpolate": "recorded",
}
"""Fields of a request that only one engine uses, with that engine."""


class StudyRequest(Spec):
    """A study as users describe it; fields that are None have a default. A study's TOML file has these names.

    Attributes:
        workload: a preset's name, or a TOML file.
        trace: a trace to replay instead of a workload (see docs/traces.md).
        preload_from: directory of the database that the trace was recorded on, whose keys are loaded.
        device: a preset's name, or a TOML file; the machine's own storage by default.
        engine: the system under test: "embedded", "db_bench", "command" or "recorded".
        rocksdb: the RocksDB that engine "embedded" measures: a version ("9.9.3") or a path.
        db_bench: path of the program, for engine "db_bench".
        command: the user's program, for engine "command".
        table: the file, for engine "recorded"; it also gives workload, device, space, memory and scale.
        interpolate: answer with a model of the table, for engine "recorded".
        space: a preset's name, or a TOML file; "full" by default in the steady protocol, else "dremel".
        tuner: its name, a Python file with a tuner in it, or a TOML file that names a program; "auto" by
            default in the steady protocol, else "dremel".
        tuner_settings: settings by the tuner's own names.
        protocol: "steady": stores hold all keys, figures have the compaction debt charged, and the proof runs
            on aged stores and at an offered rate. "short": the first 120 s, as in Dremel's paper. The default
            is "steady" where the engine and the space allow it.
        objective: a figure, "cost", a weighted sum such as "0.7*throughput_ops_s + 0.3*read_latency_us_p99",
            "balance", or several of these, whose Pareto front is sought. By default it is
            sustained_throughput_ops_s in the steady protocol, else throughput_ops_s.
        constraints: bounds on figures, such as "read_latency_us_p99<=250", or "read_latency_us_p99<=1.25x"
            for a multiple of the baseline's figure. In the steady protocol space and memory are bounded by
            default; a bound on the same figure replaces the default, and "none" leaves all defaults out.
        prices: a TOML file with the prices of figure `cost` (see docs/goals.md).
        robust: share within which mix and skew of the workload may change, such as 0.1; the worst workload
            counts (see docs/goals.md).
        rate: the offered rate in operations per second: of the proof's second phase, by default 80% of what
            the baseline sustains; of all runs, if the objective is no throughput.
        scale: "1/S".
        budget: the search's time of measuring ("3m").
        memory: the memory budget at full size ("1GiB").
        options_file: the user's own OPTIONS file, which is then the baseline.
        tried: OPTIONS files whose configurations are measured before the tuner begins.
        warm_start: measure the best configurations of earlier studies of the ledger with similar conditions
            before the tuner begins (see docs/design/warm-start.md).
        column_family: the column family to tune, if the OPTIONS file or the workload has several.
        all_families: tune all column families of the workload together, each with knobs of its own.
        block_cache: the baseline's block cache at full size ("2GiB"), which an OPTIONS file lacks.
        shared_cache: the column families of the OPTIONS file share one block cache.
        ledger: URL or SQLite file.
        study: name of the study.
        seed: a whole number from 0.
        out: directory for the OPTIONS file and the report.
        proof_pairs: number of pairs of the proof, instead of `verification.pairs`.
        verification: see `VerificationSettings`.
    """

    workload: str | None = None
    trace: str | None = None
    preload_from: str | None = None
    device: str = "none"
    engine: str = "embedded"
    rocksdb: str | None = None
    db_bench: str | None = None
    command: CommandSpec | None = None
    table: str | None = None
    interpolate: Switch | None = None
    space: str | None = None
    tuner: str | None = None
    tuner_settings: dict[str, Any] = Field(default={})
    protocol: Protocol | None = None
    objective: str | tuple[str, ...] | None = None
    constraints: tuple[str, ...] = ()
    prices: str | None = None
    robust: Annotated[float, Field(gt=0, lt=1)] | None = None
    rate: Annotated[float, Field(gt=0)] | None = None
    scale: str | int | None = None
    budget: str | float | None = None
    memory: str | int | None = None
    options_file: str | None = None
    tried: tuple[str, ...] = ()
    warm_start: Switch | None = None
    column_family: str | None = None
    all_families: Switch | None = None
    block_cache: str | int | None = None
    shared_cache: Switch | None = None
    ledger: str | None = None
    study: str | None = None
    seed: Annotated[int, Field(strict=True, ge=0, lt=1 << 63)] = 1
    out: str | None = None
    proof_pairs: ProofPairs | None = None
    verification: VerificationSettings = VerificationSettings()

    def space_in(self, protocol: Protocol) -> str:
        """Returns the space, by default that of a protocol."""
        return self.space or ("full" if protocol == "steady" else "dremel")

    def tuner_in(self, protocol: Protocol) -> str:
        """Returns the tuner, by default that of a protocol: the short one repeats Dremel's evaluation."""
        return self.tuner or ("auto" if protocol == "steady" else "dremel")


def engine_names() -> dict[str, str]:
    """Returns a one-line description of each engine by its name."""
    return dict(_ENGINES)


def engine_spec(request: StudyRequest) -> EngineSpec:
    """Returns the engine that a request names.

    Raises:
        UserError: the engine is unknown, a field that it needs is missing, or a field of another engine is
            given.
    """
    if request.engine not in _ENGINES:
        raise unknown_name("engine", request.engine, _ENGINES)
    for name, engine in _ENGINE_OF.items():
        if getattr(request, name) is not None and request.engine != engine:
            raise UserError(
                f"{name}: engine '{request.engine}' does not use it; choose engine '{engine}' or leave it out"
            )
    if request.engine == "embedded":
        return EmbeddedSpec(rocksdb=request.rocksdb)
    if request.engine == "recorded":
        return _recorded(request.table, bool(request.interpolate))
    if request.engine == "db_bench":
        return DbBenchSpec() if request.db_bench is None else DbBenchSpec(program=request.db_bench)
    if request.command is None:
        raise UserError(
            "command: missing; write a table [command] with the program of engine 'command' into a study file"
        )
    return request.command


def _recorded(table: str | None, interpolate: bool) -> RecordedSpec:
    """Returns the specification of engine `recorded` for a table."""
    if table is None:
        raise UserError("table: missing; give the file that engine 'recorded' replays with --table")
    path = Path(table).absolute()
    seconds = read_table(path).conditions.measured_s
    return RecordedSpec(
        table=str(path), digest=table_digest(path), interpolate=interpolate, run_seconds=seconds
    )


def asked_memory(request: StudyRequest) -> AskedMemory:
    """Returns the settings of memory in a request.

    Raises:
        UserError: a size is none, or the baseline's cache is given without an OPTIONS file.
    """
    for name in ("block_cache", "shared_cache"):
        if getattr(request, name) is not None and request.options_file is None:
            flag = name.replace("_", "-")
            raise UserError(f"{name}: --{flag} adds to an OPTIONS file; give --options-file too")
    cache = request.block_cache
    return AskedMemory(
        memory_bytes=None if request.memory is None else parse_bytes(request.memory, "memory"),
        block_cache=None if cache is None else parse_block_cache(cache),
        shared_cache=bool(request.shared_cache),
    )


def tuned_family(request: StudyRequest, workload: WorkloadSpec, choose: bool = True) -> str | None:
    """Returns the column family that is tuned; None if all are tuned together, or the workload has one alone.

    Args:
        request: the request.
        workload: its workload.
        choose: whether a workload with families needs a choice; without one, None stands for all together.

    Raises:
        UserError: a choice is missing, contradictory or unknown, or has nothing to choose from.
    """
    names = ", ".join(workload.family_names)
    if not workload.families:
        if request.all_families:
            raise UserError(
                f"all_families: workload '{workload.name}' has one column family; name its families in a "
                "workload file, or leave --all-families out"
            )
        if request.column_family is not None and request.options_file is None:
            raise UserError(
                "column_family: --column-family chooses among those of an OPTIONS file or of the workload; "
                "give --options-file too"
            )
        return None
    if request.all_families and request.column_family is not None:
        raise UserError("all_families: --all-families and --column-family exclude each other; give one")
    if request.column_family is not None:
        if request.column_family not in workload.family_names:
            raise unknown_name("column family", request.column_family, workload.family_names)
        return request.column_family
    if choose and not request.all_families:
        raise UserError(
            f"workload '{workload.name}' has column families {names}; choose the one to tune with "
            "--column-family NAME, or tune them together with --all-families"
        )
    return None


def scale_and_budget(
    engine: EngineSpec, scale: str | int | None, budget: str | float | None, protocol: Protocol
) -> tuple[int, float]:
    """Returns a study's scale S and its search's seconds of measuring.

    The default budget is that of 60 runs in the steady protocol, else that of the paper's search, at the
    scale. If only a budget is given, the scale is 1/S with the smallest power of two S at which the default
    search fits it. Engine `command` always has S = 1.

    Args:
        engine: the engine, which decides how long its runs are.
        scale: "1/S" or S; None for the default.
        budget: text such as "3m" or seconds; None for the default.
        protocol: the study's protocol.

    Raises:
        UserError: the scale or the budget is malformed or out of range.
    """
    if protocol == "steady":
        full_size_s = STEADY_BUDGET_S
    else:
        full_size_s = FULL_SIZE_BUDGET_S if engine.runs_continue else FULL_SIZE_RESTARTED_BUDGET_S
    budget_s = None if budget is None else parse_seconds(budget, "budget")
    if scale is not None:
        divisor = parse_scale(scale)
    elif isinstance(engine, CommandSpec):
        divisor = 1
    elif budget_s is None:
        divisor = STEADY_SCALE if protocol == "steady" else DEFAULT_SCALE
    else:
        divisor = 1
        while full_size_s / engine.time_scale(divisor) > budget_s and divisor < MAX_SCALE:
            divisor *= 2
    if isinstance(engine, CommandSpec) and divisor != 1:
        raise UserError("scale: engine 'command' cannot scale your own program; leave the scale out")
    return divisor, full_size_s / engine.time_scale(divisor) if budget_s is None else budget_s


def require_workload(name: str | None) -> str:
    """Returns the name of the workload, which has no default.

    Raises:
        UserError: `name` is None.
    """
    if name is None:
        raise UserError("workload: missing; name one with --workload ('rocktune list workloads' shows them)")
    return name
