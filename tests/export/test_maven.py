"""Exports for Java's world, read by the real thing: its jars come from Maven."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.export.samples import (
    TUNED,
    changed,
    expected,
    exported,
    options_of_all_types,
    read_back,
    written_options,
)

from rocktune.space import OptionMaps

PROJECTS = Path(__file__).parent / "java"
MISSING = [tool for tool in ("javac", "java", "mvn") if shutil.which(tool) is None]
pytestmark = [
    pytest.mark.maven,
    pytest.mark.skipif(
        bool(MISSING),
        reason=f"{', '.join(MISSING)} not installed (openjdk-17-jdk-headless maven)",
    ),
    pytest.mark.timeout(900),
]

Runner = Callable[..., str]


@pytest.fixture(scope="module")
def class_path(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """Returns a function that has Maven fetch a project's jars and returns their class path."""
    known: dict[str, str] = {}

    def fetch(project: str) -> str:
        if project not in known:
            file = tmp_path_factory.mktemp("class_path") / project
            subprocess.run(
                [
                    *("mvn", "-q", "-B", "-f", PROJECTS / project / "pom.xml"),
                    *("dependency:build-classpath", f"-Dmdep.outputFile={file}"),
                ],
                check=True,
            )
            known[project] = file.read_text().strip()
        return known[project]

    return fetch


@pytest.fixture
def run(class_path: Callable[[str], str], tmp_path: Path) -> Runner:
    """Returns a function that compiles a project's program with exported sources and runs it."""

    def compile_and_run(project: str, program: str, *arguments: Path, sources: tuple[Path, ...] = ()) -> str:
        jars, classes = class_path(project), tmp_path / "classes"
        program_file = PROJECTS / project / f"{program}.java"
        subprocess.run(["javac", "-cp", jars, "-d", classes, program_file, *sources], check=True)
        command = ["java", "-cp", f"{classes}{os.pathsep}{jars}", program, *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout

    return compile_and_run


def source(directory: Path, target: str, name: str, options: OptionMaps = TUNED) -> tuple[Path]:
    file = directory / f"{name}.java"
    file.write_text(exported(target, options))
    return (file,)


def test_java_class_opens_a_store_with_exactly_these_options(run: Runner, tmp_path: Path) -> None:
    store = tmp_path / "store"
    sources = source(tmp_path, "java", "RocktuneOptions")
    assert run("rocksdbjni", "OpenStore", store, sources=sources) == "value\n646000000\n"
    assert read_back(written_options(store), TUNED) == expected(TUNED)


def test_java_has_a_setter_for_every_option(class_path: Callable[[str], str], tmp_path: Path) -> None:
    for project, target, name in (
        ("rocksdbjni", "java", "RocktuneOptions"),
        ("kafka-streams", "kafka-streams", "RocktuneConfigSetter"),
    ):
        (file,) = source(tmp_path, target, name, options_of_all_types())
        jars = class_path(project)
        subprocess.run(["javac", "-cp", jars, "-d", tmp_path / "classes", file], check=True)


def test_kafka_streams_opens_its_store_with_exactly_these_options(run: Runner, tmp_path: Path) -> None:
    sources = source(tmp_path, "kafka-streams", "RocktuneConfigSetter")
    printed = run("kafka-streams", "OpenStore", tmp_path / "state", sources=sources)
    assert printed.startswith("# value\n")
    options: OptionMaps = TUNED | {"db": dict(TUNED["db"]), "cf": dict(TUNED["cf"])}
    # Its Options take jobs alone: 3 compactions and 2 flushes. Atomic flushes, its own choice, merge none.
    del options["db"]["max_background_compactions"], options["db"]["max_background_flushes"]
    options["db"]["max_background_jobs"] = "5"
    options["cf"]["min_write_buffer_number_to_merge"] = "1"
    assert read_back(printed, options) == expected(options)


def test_flink_makes_these_options_of_its_configuration(run: Runner, tmp_path: Path) -> None:
    options = changed("cf", level_compaction_dynamic_level_bytes="true", periodic_compaction_seconds="86400")
    options["db"] = {"max_background_jobs": "5", "max_open_files": "1000"}
    (tmp_path / "config.yaml").write_text(exported("flink", options))
    printed = run("flink", "OpenStore", tmp_path, tmp_path / "store")
    assert printed.startswith("# 646000000\n")
    # What Flink has no key for stays RocksDB's default; compression is set level by level.
    keyless = (
        "compaction_pri level0_file_num_compaction_trigger level0_slowdown_writes_trigger"
        " level0_stop_writes_trigger max_bytes_for_level_multiplier num_levels target_file_size_multiplier"
        " soft_pending_compaction_bytes_limit cache_index_and_filter_blocks compression"
    )
    taken = {
        section: {name: text for name, text in texts.items() if name not in keyless.split()}
        for section, texts in options.items()
    }
    taken["cf"]["compression_per_level"] = options["cf"]["compression"]
    assert read_back(printed, taken) == expected(taken)


def test_cassandra_reads_its_settings_and_the_statement(run: Runner, tmp_path: Path) -> None:
    text = exported("cassandra")
    yaml, cql = tmp_path / "cassandra.yaml", tmp_path / "alter.cql"
    yaml.write_text(text)
    cql.write_text(text[text.index("ALTER TABLE") :].replace("\n# ", "\n"))
    printed = run("cassandra", "CheckSettings", yaml, cql).splitlines()
    for line in (
        "memtable_heap_space: 192MiB",
        "memtable_cleanup_threshold: 0.25",
        "memtable_flush_writers: 2",
        "concurrent_compactors: 3",
        "file_cache_enabled: true",
        "file_cache_size: 616MiB",
        "bloom_filter_fp_chance: 0.0082",
    ):
        assert line in printed, line
    compaction = next(line for line in printed if line.startswith("compaction: "))
    for part in ("sstable_size_in_mb=32", "fanout_size=8", "LeveledCompactionStrategy"):
        assert part in compaction
    compression = next(line for line in printed if line.startswith("compression: "))
    assert "chunk_length_in_kb=8" in compression
    assert "LZ4Compressor" in compression
