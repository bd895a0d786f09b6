"""Which engine a study measures with, as plain, validated data."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from rocktune.spec_file import Spec

FULL_LENGTH_S = 120.0
"""How long a run is loaded at full size: Dremel's 120 s."""

Seconds = Annotated[float, Field(strict=True, gt=0)]
Text = Annotated[str, Field(strict=True, min_length=1)]


class EmbeddedSpec(Spec):
    """RocksDB in worker processes of this machine."""

    runs_continue: ClassVar[bool] = True
    """Whether a run can stand still and go on; where not, each age is measured from 0 and charged so."""

    kind: Literal["embedded"] = "embedded"

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
        """See `EmbeddedSpec.time_scale`."""
        return float(scale)


class MetricSpec(Spec):
    """Where the user's program says a figure, in what it prints or in a file.

    Attributes:
        field: of the JSON document that is the last line of its output (dots lead into nested objects).
        pattern: a regular expression whose first group is the number; its last match counts.
        times: what turns the program's unit into the figure's, such as 1000 for milliseconds in microseconds.
    """

    field: Text | None = None
    pattern: Text | None = None
    times: Seconds = 1.0


class CommandSpec(Spec):
    """The user's own program, which opens RocksDB with the OPTIONS file that it is given.

    Each command is a list of arguments in which `{options_file}`, `{data_directory}`, `{seconds}`, `{seed}`
    and `{result_file}` stand for what they say. Nothing runs through a shell unless `shell` says so; the
    command is then one text.

    Attributes:
        run: the benchmark; it may use `{seconds}` to know how long to load.
        set_up: runs before each `run`, to fill the data directory; not measured.
        warm_up: runs after `set_up`; not measured.
        clean_up: runs after each `run`, however that ended.
        shell: run the commands, each a list of one text, with /bin/sh.
        metrics: by measurement field: where the figure is. Without any, the last line of output is a JSON
            document with fields of those names.
        result_file: read the output from `{result_file}`, which the program writes, not from what it prints.
        run_seconds: `{seconds}` of a run that lasts 120 s at full size; other ages in proportion.
        timeout_seconds: how long one command may take beyond `{seconds}`.
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
    result_file: Annotated[bool, Field(strict=True)] = False
    run_seconds: Seconds = 20.0
    timeout_seconds: Seconds = 120.0
    memory_limit: Text | None = None

    def time_scale(self, scale: int) -> float:  # noqa: ARG002 -- the program has the size that it has
        """See `EmbeddedSpec.time_scale`."""
        return FULL_LENGTH_S / self.run_seconds


EngineSpec = Annotated[EmbeddedSpec | DbBenchSpec | CommandSpec, Field(discriminator="kind")]
