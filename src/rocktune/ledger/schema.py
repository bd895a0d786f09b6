"""The ledger's tables and column types; docs/design/ledger.md describes each column."""

import json
import zlib
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
)
from sqlalchemy.engine import Dialect

SCHEMA_VERSION = "0001"
"""Number of the newest migration. It lets an up-to-date ledger open without importing Alembic."""

VERSION_TABLE = "rocktune_schema_version"


def to_json(value: Any) -> str:
    """Returns a value as JSON, from which all numbers are read back with the same bits.

    Raises:
        ValueError: the value contains NaN or infinity. A figure without a value must not be recorded.
    """
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


class CompressedJson(TypeDecorator[Any]):
    """A JSON document of many kilobytes, stored as zlib-compressed UTF-8."""

    # MySQL and MariaDB choose the type of BLOB by this length; their default ends at 64 KiB.
    impl = LargeBinary(1 << 24)
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> bytes | None:  # noqa: ARG002
        """Compresses a value at level 1, because higher levels would delay short trials."""
        return None if value is None else zlib.compress(to_json(value).encode(), 1)

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:  # noqa: ARG002
        """Decompresses a value."""
        return None if value is None else json.loads(zlib.decompress(value))


class UtcTime(TypeDecorator[datetime]):
    """A time in UTC, stored as ISO 8601 text, which all databases sort and keep in the same way."""

    impl = String(40)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        """Converts a time to text, always with microseconds, so that text sorts like time."""
        return None if value is None else value.astimezone(UTC).isoformat(timespec="microseconds")

    def process_result_value(self, value: str | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        """Converts text to a time."""
        return None if value is None else datetime.fromisoformat(value)


def _key() -> Column[int]:
    """Returns a primary key that the database assigns."""
    return Column("id", Integer, primary_key=True, autoincrement=True)


def _reference(name: str, target: str, *, primary_key: bool = False) -> Column[int]:
    """Returns a column that refers to a row, with which its own row is deleted."""
    foreign_key = ForeignKey(target, ondelete="CASCADE")
    return Column(name, Integer, foreign_key, nullable=False, primary_key=primary_key, autoincrement=False)


metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

experiments = Table(
    "experiments",
    metadata,
    _key(),
    Column("digest", String(64), nullable=False, unique=True),
    Column("workload", JSON, nullable=False),
    Column("device", JSON, nullable=False),
    Column("scale", Integer, nullable=False),
    Column("engine_version", String(200), nullable=False),
    Column("host", String(255), nullable=False),
)

studies = Table(
    "studies",
    metadata,
    _key(),
    Column("experiment_id", Integer, ForeignKey("experiments.id"), nullable=False),
    Column("name", String(200), nullable=False, unique=True),
    Column("spec", JSON, nullable=False),
    Column("state", String(32), nullable=False),
    Column("outcome", JSON(none_as_null=True)),
    Column("created_at", UtcTime, nullable=False),
    # A study's id names its lock. Without this, SQLite could reuse the id of a deleted study.
    sqlite_autoincrement=True,
)

configurations = Table(
    "configurations",
    metadata,
    _key(),
    _reference("study_id", "studies.id"),
    Column("digest", String(64), nullable=False),
    Column("values", JSON, nullable=False),
    UniqueConstraint("study_id", "digest"),
)

batches = Table(
    "batches",
    metadata,
    _key(),
    _reference("study_id", "studies.id"),
    Column("number", Integer, nullable=False),
    Column("phase", String(32), nullable=False),
    Column("released", JSON, nullable=False),
    UniqueConstraint("study_id", "number"),
)

trials = Table(
    "trials",
    metadata,
    _key(),
    _reference("batch_id", "batches.id"),
    Column("position", Integer, nullable=False),
    _reference("configuration_id", "configurations.id"),
    Column("replicate", Integer, nullable=False),
    Column("until_s", Double, nullable=False),
    Column("status", String(32)),
    Column("message", Text, nullable=False, default=""),
    Column("measured_s", Double, nullable=False, default=0.0),
    Column("repeated_s", Double, nullable=False, default=0.0),
    Column("options", CompressedJson),
    Column("recorded_at", UtcTime),
    UniqueConstraint("batch_id", "position"),
)

measurements = Table(
    "measurements",
    metadata,
    _reference("trial_id", "trials.id", primary_key=True),
    _reference("study_id", "studies.id"),
    _reference("configuration_id", "configurations.id"),
    Column("replicate", Integer, nullable=False),
    Column("until_s", Double, nullable=False),
    Column("scalars", JSON, nullable=False),
    Column("distributions", CompressedJson, nullable=False),
    UniqueConstraint("study_id", "configuration_id", "replicate", "until_s"),
)

events = Table(
    "events",
    metadata,
    _key(),
    _reference("study_id", "studies.id"),
    Column("kind", String(64), nullable=False),
    Column("payload", JSON, nullable=False),
    Column("recorded_at", UtcTime, nullable=False),
    Index("ix_events_study_id_kind", "study_id", "kind"),
)
