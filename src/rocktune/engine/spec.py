"""Specifications of engines as validated data."""

import math
import re
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, field_validator, model_validator

from rocktune.engine.command.placeholders import ANYWHERE, MEASURED, placeholders_in, require_placeholders
from rocktune.errors import UserError, unknown_name
from rocktune.spec_file import Spec
from rocktune.trial import FIGURES
from rocktune.units import parse_bytes

FULL_LENGTH_S = 120.0
"""Seconds of load of a full-size run, as in Dremel's paper."""

_COMMON_AGE_S = 20.0
"""Tuners and the proof begin with ages that are multiples of this at full size, in seconds."""

Seconds = Annotated[float, Field(strict=True, gt=0)]
Text = Annotated[str, Field(strict=True, min_length=1)]


class EmbeddedSpec(Spec):
    """Engine `embedded`: the linked RocksDB in worker processes of this machine.

    Attributes:
        rocksdb: version or path of the RocksDB that the worker is linked with (see
            `rocktune.engine.libraries.worker_with`); None for the default worker's.
    """

    runs_continue: ClassVar[bool] = True
    """True if a run can pause and continue.

    Otherwise each age is measured from 0 and the budget pays for it.
    """

    kind: Literal["embedded"] = "embedded"
    rocksdb: Text | None = None

    def time_scale(self, scale: int) -> float:
        """Returns the factor by which a run of a 1/`scale` model is shorter than at full size."""
        return float(scale)


class VersionsSpec(Spec):
    """Several versions of RocksDB, one of which measures each run; the configuration names it.

    Attributes:
        rocksdb: the versions, as `EmbeddedSpec.rocksdb` names them.
    """

    runs_continue: ClassVar[bool] = True

    kind: Literal["versions"] = "versions"
    rocksdb: Annotated[tuple[Text, ...], Field(min_length=2)]

    def time_scale(self, scale: int) -> float:
        """See `EmbeddedSpec.time_scale`."""
        return float(scale)


class DbBenchSpec(Spec):
    """Engine `db_bench`: a db_bench program of any version.

    Attributes:
        program: path of the program, or its name on the PATH.
    """

    runs_continue: ClassVar[bool] = False

    kind: Literal["db_bench"] = "db_bench"
    program: Text = "db_bench"

    def time_scale(self, scale: int) -> float:
        """See `EmbeddedSpec.time_scale`.

        db_bench runs for whole seconds. So the factor is at most 20 and divides 20 s into whole seconds: the
        ages that tuners and the proof use, multiples of 20 s at full size, then stay whole seconds.
        """
        return _COMMON_AGE_S / math.ceil(_COMMON_AGE_S / scale)


class MetricSpec(Spec):
    """Describes where a figure is in the output of the user's program, by either `field` or `pattern`.

    Attributes:
        field: name in the JSON object on the last line of the output; dots lead into nested objects.
        pattern: regular expression whose first group is the number; the last match counts.
        times: factor from the program's unit to the figure's, such as 1000 from milliseconds to microseconds.
    """

    field: Text | None = None
    pattern: Text | None = None
    times: Seconds = 1.0

    @field_validator("pattern")
    @classmethod
    def _with_a_group(cls, pattern: str | None) -> str | None:
        try:
            if pattern is not None and re.compile(pattern).groups == 0:
                raise ValueError(f"'{pattern}' has no group; put the number in parentheses")
        except re.error as problem:
            raise ValueError(f"'{pattern}' is not a regular expression: {problem}") from None
        return pattern

    @model_validator(mode="after")
    def _either_field_or_pattern(self) -> Self:
        if (self.field is None) == (self.pattern is None):
            raise ValueError("needs either 'field' or 'pattern', not both")
        return self


class CommandSpec(Spec):
    """Engine `command`: the user's own program, which opens RocksDB with the OPTIONS file it is given.

    Each command is a list of arguments. The placeholders `{options_file}`, `{data_directory}` and `{seed}`
    are replaced in each of them, `{seconds}` and `{result_file}` only in `run`. `{{name}}` stands for the
    text `{name}`. No shell is used unless `shell` is true.

    Attributes:
        run: the benchmark, which applies its load for `{seconds}` seconds. It reports figures in its standard
            output, or in `{result_file}` if it has that argument.
        set_up: runs before each `run` to fill the data directory; not measured.
        warm_up: runs after `set_up`; not measured.
        clean_up: runs after each `run`, even if that failed.
        shell: run the commands with /bin/sh. Each is then a list of one text, and the values of placeholders
            are quoted.
        metrics: location of the figure by measurement field. If empty, the last line of output is a JSON
            object whose fields have the names of figures.
        run_seconds: the value of `{seconds}` for a run of 120 s at full size; other ages are in proportion.
        timeout_seconds: maximum wall seconds of a command; `run` gets `{seconds}` in addition.
        memory_limit: maximum resident bytes of a command and its children ("4GiB"); no limit by default.
    """

    runs_continue: ClassVar[bool] = False

    kind: Literal["command"] = "command"
    run: Annotated[tuple[Text, ...], Field(min_length=1)]
    set_up: tuple[Text, ...] = ()
    warm_up: tuple[Text, ...] = ()
    clean_up: tuple[Text, ...] = ()
    shell: Annotated[bool, Field(strict=True)] = False
    metrics: dict[str, MetricSpec] = Field(default={})
    run_seconds: Seconds = 20.0
    timeout_seconds: Seconds = 120.0
    memory_limit: Text | None = None

    @property
    def commands(self) -> dict[str, tuple[str, ...]]:
        """The commands that are given, by name, in the order in which they run."""
        commands = {name: getattr(self, name) for name in ("set_up", "warm_up", "run", "clean_up")}
        return {name: arguments for name, arguments in commands.items() if arguments}

    @property
    def memory_limit_bytes(self) -> int:
        """The value of `memory_limit` in bytes; 0 for no limit."""
        return 0 if self.memory_limit is None else parse_bytes(self.memory_limit, "memory_limit")

    @model_validator(mode="after")
    def _possible(self) -> Self:
        try:
            self._check_commands()
            for name in self.metrics:
                if name not in FIGURES:
                    raise unknown_name("metric", name, FIGURES)
            if self.memory_limit is not None and self.memory_limit_bytes == 0:
                raise ValueError("memory_limit: 0 bytes are no memory; leave the limit out to have none")
        except UserError as problem:
            raise ValueError(str(problem)) from None
        return self

    def _check_commands(self) -> None:
        for name, arguments in self.commands.items():
            if self.shell and len(arguments) > 1:
                raise ValueError(
                    f"{name}: with 'shell', write the whole command line as one text in the list"
                )
            try:
                require_placeholders(arguments, MEASURED if name == "run" else ANYWHERE)
            except UserError as problem:
                raise ValueError(f"{name}: {problem}") from None
        if not any("options_file" in placeholders_in(each) for each in self.commands.values()):
            raise ValueError(
                "run: no command has the placeholder {options_file}, so the program would ignore the options"
            )

    def time_scale(self, scale: int) -> float:  # noqa: ARG002 -- a program cannot be scaled
        """See `EmbeddedSpec.time_scale`."""
        return FULL_LENGTH_S / self.run_seconds


class RecordedSpec(Spec):
    """Engine `recorded`: a table of past measurements.

    Attributes:
        table: path of the file.
        digest: SHA-256 of the file, so that a study is not resumed on a changed table.
        interpolate: answer with a model of the table, which covers configurations that the table lacks.
        run_seconds: seconds that each run of the table measured. They stand for 120 s at full size; other
            ages are in proportion.
    """

    runs_continue: ClassVar[bool] = False

    kind: Literal["recorded"] = "recorded"
    table: Text
    digest: Text
    interpolate: Annotated[bool, Field(strict=True)] = False
    run_seconds: Seconds

    def time_scale(self, scale: int) -> float:  # noqa: ARG002 -- the length of the table's runs is fixed
        """See `EmbeddedSpec.time_scale`."""
        return FULL_LENGTH_S / self.run_seconds


EngineSpec = Annotated[
    EmbeddedSpec | VersionsSpec | DbBenchSpec | CommandSpec | RecordedSpec, Field(discriminator="kind")
]
