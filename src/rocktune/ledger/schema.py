"""The ledger's tables (docs/design/ledger.md says what each column means) and the types of their columns."""

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
"""The newest migration, so that an up-to-date ledger opens without loading Alembic."""

VERSION_TABLE = "rocktune_schema_version"


def to_json(value: Any) -> str:
    """Writes JSON that reads back as the same bits.

    Raises:
        ValueError: a NaN or an infinity is in it; those are a status, never a number.
    """
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


class CompressedJson(TypeDecorator[Any]):
    """A JSON document of many kilobytes, stored as zlib-compressed UTF-8."""

    # MySQL and MariaDB choose a BLOB's size by the length they are given; 64 KiB would be too small.
    impl = LargeBinary(1 << 24)
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> bytes | None:  # noqa: ARG002
        """Compresses; level 1, because a trial of two seconds should not wait for more."""
        return None if value is None else zlib.compress(to_json(value).encode(), 1)

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:  # noqa: ARG002
        """Decompresses."""
        return None if value is None else json.loads(zlib.decompress(value))


class UtcTime(TypeDecorator[datetime]):
    """A moment, stored as ISO 8601 text in UTC, which every database sorts and keeps alike."""

    impl = String(40)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        """Writes microseconds always, so that text sorts as time does."""
        return None if value is None else value.astimezone(UTC).isoformat(timespec="microseconds")

    def process_result_value(self, value: str | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        """Reads."""
        return None if value is None else datetime.fromisoformat(value)


def _key() -> Column[int]:
    return Column("id", Integer, primary_key=True, autoincrement=True)


def _reference(name: str, target: str, *, primary_key: bool = False) -> Column[int]:
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
    # An id that is never used again keeps the lock of a deleted study apart from a new study's.
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
