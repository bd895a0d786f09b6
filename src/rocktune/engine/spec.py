"""Which engine a study measures with, as plain, validated data."""

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
"""How long a run is loaded at full size: Dremel's 120 s."""

_COMMON_AGE_S = 20.0

Seconds = Annotated[float, Field(strict=True, gt=0)]
Text = Annotated[str, Field(strict=True, min_length=1)]


class EmbeddedSpec(Spec):
    """RocksDB in worker processes of this machine.

    Attributes:
        rocksdb: the RocksDB that the worker is linked with: a version or a path, see
            `rocktune.engine.libraries.worker_with`; None for the default worker's.
    """

    runs_continue: ClassVar[bool] = True
    """Whether a run can stand still and go on; where not, each age is measured from 0 and charged so."""

    kind: Literal["embedded"] = "embedded"
    rocksdb: Text | None = None

    def time_scale(self, scale: int) -> float:
        """Returns how many times shorter a run is than at full size, for a 1/`scale` model."""
        return float(scale)


class DbBenchSpec(Spec):
    """A db_bench program of any version.

    Attributes:
        program: its path, or its name on the PATH.
    """

    runs_continue: ClassVar[bool] = False

    kind: Literal["db_bench"] = "db_bench"
    program: Text = "db_bench"

    def time_scale(self, scale: int) -> float:
        """See `EmbeddedSpec.time_scale`.

        db_bench counts whole seconds. At most 20, and a whole part of 20 s at full size is a whole second:
        then all ages that tuners and the proof begin with, multiples of 20 s, are whole seconds too.
        """
        return _COMMON_AGE_S / math.ceil(_COMMON_AGE_S / scale)


class MetricSpec(Spec):
    """Where the user's program says a figure. Either `field` or `pattern`.

    Attributes:
        field: of the JSON object that is the last line of its output (dots lead into nested objects).
        pattern: a regular expression whose first group is the number; its last match counts.
        times: what turns the program's unit into the figure's, such as 1000 for milliseconds in microseconds.
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
            raise ValueError(f"'{pattern}' is no regular expression: {problem}") from None
        return pattern

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if (self.field is None) == (self.pattern is None):
            raise ValueError("needs either a field or a pattern")
        return self


class CommandSpec(Spec):
    """The user's own program, which opens RocksDB with the OPTIONS file that it is given.

    Each command is a list of arguments in which `{options_file}`, `{data_directory}` and `{seed}` stand for
    what they say; in `run` also `{seconds}` and `{result_file}`. `{{name}}` stands for `{name}`. Nothing runs
    through a shell unless `shell` says so.

    Attributes:
        run: the benchmark; `{seconds}` tells it how long to load. Its figures are in what it prints, or in
            `{result_file}` where it has that argument.
        set_up: runs before each `run`, to fill the data directory; not measured.
        warm_up: runs after `set_up`; not measured.
        clean_up: runs after each `run`, however that ended.
        shell: run the commands with /bin/sh, each a list of one text; what placeholders stand for is quoted.
        metrics: by measurement field: where the figure is. Without any, the last line of output is a JSON
            object with fields of those names.
        run_seconds: `{seconds}` of a run that lasts 120 s at full size; other ages in proportion.
        timeout_seconds: how long one command may take, `run` beyond `{seconds}`.
        memory_limit: resident bytes of the command and all it starts ("4GiB"); no limit by default.
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
        """The commands that are not empty, by name, in the order in which they run."""
        commands = {name: getattr(self, name) for name in ("set_up", "warm_up", "run", "clean_up")}
        return {name: arguments for name, arguments in commands.items() if arguments}

    @property
    def memory_limit_bytes(self) -> int:
        """Resident bytes; 0 for no limit."""
        return 0 if self.memory_limit is None else parse_bytes(self.memory_limit, "memory_limit")

    @model_validator(mode="after")
    def _possible(self) -> Self:
        try:
            self._check_commands()
            for name in self.metrics:
                if name not in FIGURES:
                    raise unknown_name("metric", name, FIGURES)
            if self.memory_limit is not None and self.memory_limit_bytes == 0:
                raise ValueError("memory_limit: 0 leaves no memory; leave it out for no limit")
        except UserError as problem:
            raise ValueError(str(problem)) from None
        return self

    def _check_commands(self) -> None:
        for name, arguments in self.commands.items():
            if self.shell and len(arguments) > 1:
                raise ValueError(f"{name}: a list of one text, for the shell")
            try:
                require_placeholders(arguments, MEASURED if name == "run" else ANYWHERE)
            except UserError as problem:
                raise ValueError(f"{name}: {problem}") from None
        if not any("options_file" in placeholders_in(each) for each in self.commands.values()):
            raise ValueError("run: has no {options_file}, without which the program runs as it always does")

    def time_scale(self, scale: int) -> float:  # noqa: ARG002 -- the program has the size that it has
        """See `EmbeddedSpec.time_scale`."""
        return FULL_LENGTH_S / self.run_seconds


class RecordedSpec(Spec):
    """A table of past measurements.

    Attributes:
        table: the file's path.
        digest: its SHA-256, so that a study is not resumed on another table.
        interpolate: whether a model of the table answers, rather than its rows alone.
        run_seconds: what a run of the table measured; 120 s at full size, and other ages in proportion.
    """

    runs_continue: ClassVar[bool] = False

    kind: Literal["recorded"] = "recorded"
    table: Text
    digest: Text
    interpolate: Annotated[bool, Field(strict=True)] = False
    run_seconds: Seconds

    def time_scale(self, scale: int) -> float:  # noqa: ARG002 -- the table's runs have the length that they have
        """See `EmbeddedSpec.time_scale`."""
        return FULL_LENGTH_S / self.run_seconds


EngineSpec = Annotated[EmbeddedSpec | DbBenchSpec | CommandSpec | RecordedSpec, Field(discriminator="kind")]
