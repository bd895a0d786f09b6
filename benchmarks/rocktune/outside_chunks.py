"""Chunks of the outside check: their order, the figures that db_bench prints for them, and their record."""

import gzip
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.common.tables import read_rows, record_of, write_csv
from rocktune.engine.db_bench.output import parse_output
from rocktune.errors import UserError

LOAD, AGE, MEASURE = PHASES = ("load", "age", "measure")
LOADED_BY = "filluniquerandom"
MEASURED_BY = "readrandomwriterandom"
_RESULT = re.compile(rf"^{MEASURED_BY}\s*:", re.MULTILINE)
_FOUND = re.compile(r"\(\s*reads:(\d+)\s.*\sfound:(\d+)\)")
_WRITTEN = ("rocksdb.wal.bytes", "rocksdb.flush.write.bytes", "rocksdb.compact.write.bytes")


@dataclass(frozen=True)
class Step:
    """A chunk to measure.

    Attributes:
        setting: a name in `outside_stores.SETTINGS`.
        configuration: a name in eight_configurations.toml.
        phase: one of PHASES. Only chunks of phase "measure" enter claims.
        number: number of the chunk within its phase, from 0. Measured chunks of equal numbers are a pair.
    """

    setting: str
    configuration: str
    phase: str
    number: int

    def __str__(self) -> str:
        return f"{self.setting}, {self.configuration}, {self.phase} {self.number}"


@dataclass(frozen=True)
class Conditions:
    """The conditions that all chunks of a record share.

    Attributes:
        engine: db_bench's version of RocksDB, and whether it has assertions.
        device: the limit, or the words that there is none.
        scale: S of the 1/S model.
        seed: the flag --seed.
        part_s: seconds of each of a chunk's two parts.
    """

    engine: str
    device: str
    scale: int
    seed: int
    part_s: int


@dataclass(frozen=True)
class Figures:
    """The figures of a chunk, from db_bench's output alone.

    Attributes:
        ops_s: operations per second in the chunk's second part.
        read_us_p99: 99th percentile of the latency of gets in the second part, microseconds; NaN if there
            were none.
        write_us_p99: the same of puts.
        write_amplification: bytes written to the device, WAL included, per byte put, over the whole chunk.
        db_bytes: bytes of the store after the chunk; 0 as long as they are not known.
        processors: CPU seconds of db_bench per second of the chunk; 0 as long as they are not known. Near the
            number of processors, these set the pace instead of the device.
    """

    ops_s: float
    read_us_p99: float
    write_us_p99: float
    write_amplification: float
    db_bytes: int = 0
    processors: float = 0.0


@dataclass(frozen=True)
class Chunk:
    """A measured chunk.

    Attributes:
        step: the chunk.
        conditions: its conditions.
        figures: its figures.
        seconds: wall seconds that it took, with opening and closing the store.
        operations: operations in each second of the second part. Not in the table of chunks.
    """

    step: Step
    conditions: Conditions
    figures: Figures
    seconds: float
    operations: Sequence[int] = field(default=(), compare=False)

    def row(self) -> dict[str, Any]:
        """Returns the chunk as a row of chunks.csv."""
        return asdict(self.step) | asdict(self.figures) | {"seconds": self.seconds} | asdict(self.conditions)


def plan(settings: Sequence[str], configurations: Sequence[str], ageing: int, pairs: int) -> list[Step]:
    """Returns all steps of a check in their fixed order.

    Each configuration has one store. It is loaded once and goes through the settings in their order. A round
    takes the configurations forwards and the next one backwards (ABBA), so that drift favours none.

    Args:
        settings: the settings.
        configurations: the configurations, the baseline first.
        ageing: chunks of ageing on each store in the first setting. Later settings have half of them, at
            least 1, because the stores were overwritten before.
        pairs: measured chunks of each configuration in each setting.
    """
    steps = [Step(settings[0], each, LOAD, 0) for each in configurations]
    for setting in settings:
        ageing_now = ageing if setting == settings[0] else max(1, ageing // 2)
        for phase, rounds in ((AGE, ageing_now), (MEASURE, pairs)):
            for number in range(rounds):
                order = configurations if number % 2 == 0 else reversed(configurations)
                steps += [Step(setting, each, phase, number) for each in order]
    return steps


def load_figures(text: str) -> Figures:
    """Returns the figures of a load.

    Raises:
        UserError: db_bench printed no result.
    """
    return _figures(text, LOADED_BY)


def measured_figures(text: str) -> Figures:
    """Returns the figures of a chunk, which is the benchmark twice in one process; the last part counts.

    Raises:
        UserError: db_bench printed no two results with latencies, or a get did not find its key.
    """
    results = [match.start() for match in _RESULT.finditer(text)]
    if len(results) != 2:
        raise UserError(f"db_bench printed {len(results)} results for {MEASURED_BY} instead of 2")
    last = text[results[1] :]
    found = _FOUND.search(last)
    if found is None or found[1] != found[2]:
        raise UserError(
            f"db_bench did not find all keys ({found[0] if found else 'no count'}); load the stores again "
            "with new directories --data and --out"
        )
    figures = _figures(last, MEASURED_BY)
    if math.isnan(figures.read_us_p99 + figures.write_us_p99):
        raise UserError(f"db_bench printed no latencies of gets or of puts for {MEASURED_BY}")
    return figures


def _figures(text: str, benchmark: str) -> Figures:
    output = parse_output(text, benchmark)
    if output is None or not output.operations or not output.seconds:
        raise UserError(f"db_bench printed no result for {benchmark}")
    tails = {
        kind: table.percentile_us(99) if (table := output.latencies.get(kind)) else math.nan
        for kind in ("read", "write")
    }
    user_bytes = output.tickers.get("rocksdb.bytes.written", 0)
    written = sum(output.tickers.get(name, 0) for name in _WRITTEN)
    return Figures(
        ops_s=output.operations / output.seconds,
        read_us_p99=tails["read"],
        write_us_p99=tails["write"],
        write_amplification=written / user_bytes if user_bytes else math.nan,
    )


class Record:
    """The chunks that are measured, in chunks.csv; their series of operations are in series.jsonl.gz."""

    def __init__(self, directory: Path | None) -> None:
        """Reads the chunks of earlier calls.

        Args:
            directory: where the files are; None keeps the chunks in memory only.

        Raises:
            UserError: chunks.csv does not have this program's columns.
        """
        self._directory = directory
        self.chunks = read_rows(None if directory is None else directory / "chunks.csv", _chunk)

    def remaining(self, steps: Sequence[Step], conditions: Conditions) -> Sequence[Step]:
        """Returns the steps that are not measured yet.

        Raises:
            UserError: the recorded chunks belong to another plan or to other conditions.
        """
        for chunk in self.chunks:
            for name, given in asdict(conditions).items():
                recorded = getattr(chunk.conditions, name)
                if recorded != given:
                    raise UserError(
                        f"--out {self._directory}: its chunks have {name} {recorded!r}, and this call has "
                        f"{given!r}; call with the same flags, or name new directories --out and --data"
                    )
        done = [chunk.step for chunk in self.chunks]
        if done != list(steps[: len(done)]):
            raise UserError(
                f"--out {self._directory}: its chunks are of another plan; call with the same --settings, "
                "--configurations and --ageing, or name new directories --out and --data"
            )
        return steps[len(done) :]

    def add(self, chunk: Chunk) -> None:
        """Adds a chunk and writes it. A kill during the call leaves the earlier chunks intact."""
        self.chunks.append(chunk)
        if self._directory is None:
            return
        if chunk.operations:
            with gzip.open(self._directory / "series.jsonl.gz", "at") as file:
                line = asdict(chunk.step) | {"operations_per_s": list(chunk.operations)}
                file.write(json.dumps(line) + "\n")
        write_csv(self._directory / "chunks.csv", (each.row() for each in self.chunks))

    def measured(self, setting: str, configuration: str) -> list[Figures]:
        """Returns the figures of the measured chunks, in the order of their numbers."""
        return [
            chunk.figures
            for chunk in self.chunks
            if (chunk.step.setting, chunk.step.configuration, chunk.step.phase)
            == (setting, configuration, MEASURE)
        ]


def _chunk(row: Mapping[str, str]) -> Chunk:
    """Returns the chunk of a row; raises KeyError or ValueError if it is none."""
    step, conditions = record_of(Step)(row), record_of(Conditions)(row)
    return Chunk(step, conditions, record_of(Figures)(row), float(row["seconds"]))
