"""Exports to MyRocks' part of my.cnf, for Facebook's MySQL, Percona Server and MariaDB."""

from rocktune.export.rules import THREADS, background_threads, flat, translated, with_background_jobs
from rocktune.export.target import Found, Target, head
from rocktune.systems.myrocks import FAMILY, TABLE, VARIABLES
from rocktune.systems.rules import Settings

_NOTES = (
    "rocksdb_default_cf_options and most variables are read-only: changing them needs a restart."
    " rocksdb_override_cf_options overrides it for the column families that it names",
    "It applies to each column family. Each has its own memtables; all share the block cache",
    "Variables with loose_ exist in Facebook's MySQL and in Percona Server; MariaDB skips them",
    "Column-family options that are left out may be added to rocksdb_default_cf_options if the"
    " server's RocksDB knows them",
)


def _threads(found: Found) -> Settings:
    """Returns the numbers of compactions and flushes, if they were set."""
    threads = background_threads(found.options)
    return {} if threads is None else dict(zip(THREADS, map(str, threads), strict=True))


def _write(found: Found) -> str:
    """Returns the [mysqld] section of my.cnf."""
    jobs, thread_notes = with_background_jobs(found.options)
    options = flat(jobs)
    done = translated(options, {**VARIABLES, **FAMILY, **TABLE})
    variables = translated(options, VARIABLES).settings
    # MariaDB lacks these variables; mysqld ignores unknown ones with the prefix loose_.
    variables |= {f"loose_rocksdb_{name}": count for name, count in _threads(found).items()}
    family = [f"{name}={value}" for name, value in translated(options, FAMILY).settings.items()]
    table = [f"{name}={value}" for name, value in translated(options, TABLE).settings.items()]
    if table:
        # Table options are nested in one option, in RocksDB's own notation.
        family.append(f"block_based_table_factory={{{';'.join(table)}}}")
    lines = [
        *head(
            found,
            "#",
            "MyRocks, my.cnf (Facebook's MySQL 8.0, Percona Server 8.0, MariaDB 10.11)",
            [*_NOTES, *thread_notes],
            done.unmapped,
        ),
        "",
        "[mysqld]",
        *(f"{name}={value}" for name, value in variables.items()),
        *([f'rocksdb_default_cf_options="{";".join(family)}"'] if family else []),
    ]
    return "\n".join(lines) + "\n"


TARGET = Target("myrocks", "MyRocks' variables for my.cnf (MySQL, Percona Server, MariaDB)", _write)
