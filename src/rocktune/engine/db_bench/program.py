"""One db_bench program: finding it, asking it for its version, and running it."""

import re
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from rocktune.engine.base import RunFailed
from rocktune.engine.db_bench.flags import Flags
from rocktune.engine.db_bench.output import has_assertions, rocksdb_version
from rocktune.engine.options import without_paths
from rocktune.engine.processes.process_group import Finished, run_command
from rocktune.errors import UserError
from rocktune.space import options_file_text, parse_block_cache
from rocktune.space.block_cache import block_cache_from_log
from rocktune.trial import OptionMaps, Status

_OPEN_TIMEOUT_S = 60.0
_NOTHING = "levelstats"
"""A benchmark that opens the store and does nothing to it."""
_NEVER = 10**12
_REFUSALS = re.compile(
    r"Unable to load options file|^open error: .*(Invalid argument|Not implemented|Not supported)"
)
_SECTIONS = {
    "[DBOptions]": "db",
    '[CFOptions "default"]': "cf",
    '[TableOptions/BlockBasedTable "default"]': "table",
}
_PLAIN_NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?")
_CACHE = re.compile(
    r"block_cache_name: (\S+)\s*\n.*?block_cache_options:\s*\n((?:\s+\w+\s*: \S+\s*\n)+)", re.S
)
_CACHE_SETTING = re.compile(r"\s+(\w+)\s*: (\S+)")


@dataclass(frozen=True)
class RunLimits:
    """What a run of the program may take.

    Attributes:
        timeout_s: wall seconds.
        memory_bytes: resident bytes; 0 for no limit.
        watch: see `run_command`.
        inherited_descriptors: see `run_command`.
        prefix: program and arguments that become the program they are given, such as one that enters a
            cgroup.
    """

    timeout_s: float = _OPEN_TIMEOUT_S
    memory_bytes: int = 0
    watch: Callable[[float], None] | None = None
    inherited_descriptors: Sequence[int] = ()
    prefix: Sequence[str] = ()


class DbBenchProgram:
    """A db_bench of any version or fork. Thread-safe.

    Attributes:
        path: of the program.
        rocksdb_version: as it says ("7.8.3").
        assertions: whether it warns that it was built with assertions.
    """

    def __init__(self, program: str, scratch: Path) -> None:
        """Finds the program and has it open an empty store.

        Args:
            program: its path, or its name on the PATH.
            scratch: an empty directory.

        Raises:
            UserError: there is no such program, it does not start, or it is no db_bench.
        """
        found = shutil.which(program)
        if found is None:
            raise UserError(
                f"db_bench: '{program}' is no executable file on the PATH; install Debian's rocksdb-tools, "
                "build RocksDB's target db_bench, or name the program's path"
            )
        self.path = found
        command = [found, f"--benchmarks={_NOTHING}", f"--db={scratch / 'store'}"]
        try:
            finished = run_command(command, _OPEN_TIMEOUT_S)
        except RunFailed as failure:
            raise UserError(f"db_bench: {found} does not start: {failure.message}") from None
        said = finished.errors + "\n" + finished.output
        version = rocksdb_version(said)
        if version is None:
            raise UserError(f"db_bench: {found} is no db_bench: it does not say which RocksDB it has")
        self.rocksdb_version = version
        self.assertions = has_assertions(said)

    def run(self, store: Path, options: OptionMaps, flags: Flags, limits: RunLimits) -> Finished:
        """Runs benchmarks on a store with options.

        `--options_file` makes db_bench ignore its option flags. `--cache_size=0` leaves the block cache to
        that file too; elsewhere db_bench would put its own cache in its place. A hyper clock cache, which a
        file cannot hold, is db_bench's.

        Args:
            store: directory of the store; the OPTIONS file is written beside it.
            options: at the size of the run; paths to write to are left out.
            flags: all others; `benchmarks` among them.
            limits: what it may take.

        Raises:
            RunFailed: it failed; `invalid` where RocksDB refuses the options.
        """
        options_file = store.with_name("OPTIONS")
        in_file, cache_flags = _with_cache_flags(without_paths(options))
        options_file.write_text(options_file_text(in_file, self.rocksdb_version))
        given = {
            "db": str(store),
            "options_file": str(options_file),
            "stats_interval": str(_NEVER),
        } | cache_flags
        command = [
            *limits.prefix,
            self.path,
            *(f"--{name}={value}" for name, value in (given | flags).items()),
        ]
        try:
            return run_command(
                command, limits.timeout_s, limits.memory_bytes, limits.watch, limits.inherited_descriptors
            )
        except RunFailed as failure:
            # A prefix becomes the program, whose name the message should have.
            message = failure.message.replace(command[0], self.path, 1)
            own = message.removeprefix(f"{self.path} ended with exit status 1: ")
            if failure.status is Status.CRASHED and _REFUSALS.search(own):
                raise RunFailed(Status.INVALID, own, failure.output) from None
            raise RunFailed(failure.status, message, failure.output) from None

    def opened_options(self, options: OptionMaps, scratch: Path, limits: RunLimits) -> OptionMaps:
        """Returns what an empty store that is opened with these options really uses, every option.

        Args:
            options: at any size.
            scratch: an empty directory.
            limits: what it may take.

        Raises:
            RunFailed: it refuses them (status `invalid`), or fails.
        """
        store = scratch / "store"
        self.run(store, options, {"benchmarks": _NOTHING}, limits)
        used = used_options(store)
        for section, texts in options.items():
            for name, text in texts.items():
                _require_read_as_meant(name, text, used[section].get(name, text))
        return used


def used_options(store: Path) -> OptionMaps:
    """Returns the options that RocksDB wrote down when a store was opened last.

    The block cache is from its LOG, for the OPTIONS file says nothing of it.
    """
    newest = max(store.glob("OPTIONS-*"), key=lambda path: int(path.name.partition("-")[2]))
    options = _read_options(newest.read_text(errors="replace"))
    with suppress(OSError):
        logged = _CACHE.search((store / "LOG").read_text(errors="replace"))
        if logged is not None:
            printed = dict(_CACHE_SETTING.findall(logged[2]))
            options["table"]["block_cache"] = block_cache_from_log(logged[1], printed).text
    return options


def _with_cache_flags(options: OptionMaps) -> tuple[OptionMaps, Flags]:
    """Returns the options for a file, and the flags for a block cache."""
    cache = parse_block_cache(options.get("table", {}).get("block_cache", "0"))
    if cache.kind == "lru":
        return options, {"cache_size": "0"}
    table = {name: text for name, text in options["table"].items() if name != "block_cache"}
    flags = {"cache_type": "hyper_clock_cache", "cache_size": str(cache.capacity_bytes)}
    shard_bits = dict(cache.settings).get("num_shard_bits")
    return {**options, "table": table}, flags | ({"cache_numshardbits": shard_bits} if shard_bits else {})


def _read_options(text: str) -> OptionMaps:
    """Reads what a RocksDB of any version wrote, whose options the linked one may not know."""
    options: OptionMaps = {section: {} for section in _SECTIONS.values()}
    section = None
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            section = _SECTIONS.get(line)
        elif section is not None and "=" in line and not line.startswith("#"):
            name, _, value = line.partition("=")
            options[section][name] = value
    return options


def _require_read_as_meant(name: str, given: str, used: str) -> None:
    """Refuses what RocksDB's parsers turn into another number, such as -1 into 2^64-1 and 0x10 into 0."""
    if name == "block_cache" and "=" in given:
        given, used = (str(parse_block_cache(text).capacity_bytes) for text in (given, used))
    numeric = _PLAIN_NUMBER.fullmatch(used) is not None
    negated = given.startswith("-") and not used.startswith("-")
    if numeric and (negated or _PLAIN_NUMBER.fullmatch(given) is None):
        raise RunFailed(Status.INVALID, f"{name}: RocksDB reads '{given}' as {used}")
