"""Finds a db_bench program, asks it for its version, and runs it."""

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
"""A benchmark that opens the store and does not change it."""
# With 0 db_bench chooses an interval itself; only a huge one stops its progress lines.
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
    """Limits of one run of the program.

    Attributes:
        timeout_s: maximum wall seconds.
        memory_bytes: maximum resident bytes; 0 for no limit.
        watch: see `run_command`.
        inherited_descriptors: see `run_command`.
        prefix: a program and its arguments that execs the command after it, such as one that enters a cgroup.
    """

    timeout_s: float = _OPEN_TIMEOUT_S
    memory_bytes: int = 0
    watch: Callable[[float], None] | None = None
    inherited_descriptors: Sequence[int] = ()
    prefix: Sequence[str] = ()


class DbBenchProgram:
    """A db_bench program of any version or fork. Thread-safe.

    Attributes:
        path: path of the program.
        rocksdb_version: the version that it prints, such as "7.8.3".
        assertions: True if it warns that it was built with assertions.
    """

    def __init__(self, program: str, scratch: Path) -> None:
        """Finds the program and has it open an empty store, whose header names the version.

        Args:
            program: path of the program, or its name on the PATH.
            scratch: an empty directory.

        Raises:
            UserError: the program does not exist, does not start, or is not a db_bench.
        """
        found = shutil.which(program)
        if found is None:
            raise UserError(
                f"db_bench: '{program}' is not an executable file on the PATH; install Debian's "
                "rocksdb-tools, build RocksDB's target db_bench, or name the program's path"
            )
        self.path = found
        command = [found, f"--benchmarks={_NOTHING}", f"--db={scratch / 'store'}"]
        try:
            finished = run_command(command, _OPEN_TIMEOUT_S)
        except RunFailed as failure:
            raise UserError(f"db_bench: {found} does not start: {failure.message}") from None
        text = finished.errors + "\n" + finished.output
        version = rocksdb_version(text)
        if version is None:
            raise UserError(f"db_bench: {found} is not a db_bench: it does not print a version of RocksDB")
        self.rocksdb_version = version
        self.assertions = has_assertions(text)

    def run(self, store: Path, options: OptionMaps, flags: Flags, limits: RunLimits) -> Finished:
        """Runs benchmarks on a store with options.

        The options go into a file, since `--options_file` makes db_bench ignore its option flags.
        `--cache_size=0` makes it take the block cache from that file too. Without the flag, db_bench replaces
        the file's cache by its own. A hyper clock cache is given by flags, because a file cannot hold it.

        Args:
            store: directory of the store; the OPTIONS file is written next to it.
            options: options at the size of the run; paths in them are left out.
            flags: all other flags, including `benchmarks`.
            limits: limits of the run.

        Returns:
            The output of the program, which ended with exit status 0.

        Raises:
            RunFailed: the program failed; the status is `invalid` if RocksDB refused the options.
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
            # The message names the prefix, which is an implementation detail; the user knows the program.
            message = failure.message.replace(command[0], self.path, 1)
            own = message.removeprefix(f"{self.path} ended with exit status 1: ")
            if failure.status is Status.CRASHED and _REFUSALS.search(own):
                raise RunFailed(Status.INVALID, own, failure.output) from None
            raise RunFailed(failure.status, message, failure.output) from None

    def opened_options(self, options: OptionMaps, scratch: Path, limits: RunLimits) -> OptionMaps:
        """Opens an empty store with options and returns all options in effect.

        Args:
            options: any options, as text by section.
            scratch: an empty directory.
            limits: limits of the run.

        Raises:
            RunFailed: RocksDB refuses the options or would misread one of them (status `invalid`), or the
                program fails.
        """
        store = scratch / "store"
        self.run(store, options, {"benchmarks": _NOTHING}, limits)
        used = used_options(store)
        for section, texts in options.items():
            for name, text in texts.items():
                _refuse_misread(name, text, used[section].get(name, text))
        return used


def used_options(store: Path) -> OptionMaps:
    """Returns the options that RocksDB wrote when a store was last opened.

    The block cache is read from the store's LOG, because RocksDB does not write it to its OPTIONS file.
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
    """Returns the options to write to a file, and the flags that set the block cache."""
    cache = parse_block_cache(options.get("table", {}).get("block_cache", "0"))
    if cache.kind == "lru":
        return options, {"cache_size": "0"}
    table = {name: text for name, text in options["table"].items() if name != "block_cache"}
    flags = {"cache_type": "hyper_clock_cache", "cache_size": str(cache.capacity_bytes)}
    shard_bits = dict(cache.settings).get("num_shard_bits")
    return {**options, "table": table}, flags | ({"cache_numshardbits": shard_bits} if shard_bits else {})


def _read_options(text: str) -> OptionMaps:
    """Parses an OPTIONS file of any version.

    The linked RocksDB would refuse options that it does not know.
    """
    options: OptionMaps = {section: {} for section in _SECTIONS.values()}
    section = None
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            section = _SECTIONS.get(line)
        elif section is not None and "=" in line and not line.startswith("#"):
            name, _, value = line.partition("=")
            options[section][name] = value
    return options


def _refuse_misread(name: str, given: str, used: str) -> None:
    """Raises RunFailed if RocksDB read a text as another number, such as -1 as 2^64-1 or 0x10 as 0."""
    if name == "block_cache" and "=" in given:
        given, used = (str(parse_block_cache(text).capacity_bytes) for text in (given, used))
    numeric = _PLAIN_NUMBER.fullmatch(used) is not None
    negated = given.startswith("-") and not used.startswith("-")
    if numeric and (negated or _PLAIN_NUMBER.fullmatch(given) is None):
        raise RunFailed(Status.INVALID, f"{name}: RocksDB reads '{given}' as {used}")
