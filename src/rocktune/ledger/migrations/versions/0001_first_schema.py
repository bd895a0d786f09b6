"""Creates the first schema."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def _key() -> sa.Column[int]:
    return sa.Column("id", sa.Integer, primary_key=True, autoincrement=True)


def _reference(name: str, target: str, *, primary_key: bool = False) -> sa.Column[int]:
    foreign_key = sa.ForeignKey(target, ondelete="CASCADE")
    return sa.Column(
        name, sa.Integer, foreign_key, nullable=False, primary_key=primary_key, autoincrement=False
    )


# MySQL's and MariaDB's TEXT ends at 64 KiB.
_LONG_TEXT = sa.Text().with_variant(mysql.LONGTEXT, "mysql", "mariadb")
TABLES = ("events", "measurements", "trials", "batches", "configurations", "studies", "experiments")


def _create_table(name: str, *columns: sa.Column[Any] | sa.UniqueConstraint, **arguments: Any) -> None:
    dialect = op.get_bind().dialect
    if dialect.name in ("mysql", "mariadb"):
        # Foreign keys need InnoDB. Names are compared byte for byte, trailing spaces too, as elsewhere.
        collation = "utf8mb4_nopad_bin" if getattr(dialect, "is_mariadb", False) else "utf8mb4_0900_bin"
        settings = {"engine": "InnoDB", "charset": "utf8mb4", "collate": collation}
        arguments |= {f"{dialect.name}_{setting}": value for setting, value in settings.items()}
    op.create_table(name, *columns, **arguments)


def upgrade() -> None:
    """Creates all tables."""
    if op.get_bind().dialect.name in ("mysql", "mariadb"):
        # These commit every single table, so that somebody may have died in the middle.
        _drop_tables()
    _create_table(
        "experiments",
        _key(),
        sa.Column("digest", sa.String(64), nullable=False, unique=True),
        sa.Column("workload", sa.JSON, nullable=False),
        sa.Column("device", sa.JSON, nullable=False),
        sa.Column("scale", sa.Integer, nullable=False),
        sa.Column("engine_version", sa.String(200), nullable=False),
        sa.Column("host", sa.String(255), nullable=False),
    )
    _create_table(
        "studies",
        _key(),
        sa.Column("experiment_id", sa.Integer, sa.ForeignKey("experiments.id"), nullable=False),
        sa.Column("name", sa.String(200), nullable=False, unique=True),
        sa.Column("spec", sa.JSON, nullable=False),
        sa.Column("state", sa.String(32), nullable=False),
        sa.Column("outcome", sa.JSON),
        sa.Column("created_at", sa.String(40), nullable=False),
        sqlite_autoincrement=True,
    )
    _create_trial_tables()
    _create_table(
        "events",
        _key(),
        _reference("study_id", "studies.id"),
        sa.Column("kind", sa.String(64), nullable=False),
        sa.Column("payload", sa.JSON, nullable=False),
        sa.Column("recorded_at", sa.String(40), nullable=False),
    )
    op.create_index("ix_events_study_id_kind", "events", ["study_id", "kind"])


def _create_trial_tables() -> None:
    _create_table(
        "configurations",
        _key(),
        _reference("study_id", "studies.id"),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("values", sa.JSON, nullable=False),
        sa.UniqueConstraint("study_id", "digest"),
    )
    _create_table(
        "batches",
        _key(),
        _reference("study_id", "studies.id"),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("phase", sa.String(32), nullable=False),
        sa.Column("released", sa.JSON, nullable=False),
        sa.UniqueConstraint("study_id", "number"),
    )
    _create_table(
        "trials",
        _key(),
        _reference("batch_id", "batches.id"),
        sa.Column("position", sa.Integer, nullable=False),
        _reference("configuration_id", "configurations.id"),
        sa.Column("replicate", sa.Integer, nullable=False),
        sa.Column("until_s", sa.Double, nullable=False),
        sa.Column("status", sa.String(32)),
        sa.Column("message", _LONG_TEXT, nullable=False),
        sa.Column("measured_s", sa.Double, nullable=False),
        sa.Column("repeated_s", sa.Double, nullable=False),
        sa.Column("options", sa.LargeBinary(1 << 24)),
        sa.Column("recorded_at", sa.String(40)),
        sa.UniqueConstraint("batch_id", "position"),
    )
    _create_table(
        "measurements",
        _reference("trial_id", "trials.id", primary_key=True),
        _reference("study_id", "studies.id"),
        _reference("configuration_id", "configurations.id"),
        sa.Column("replicate", sa.Integer, nullable=False),
        sa.Column("until_s", sa.Double, nullable=False),
        sa.Column("scalars", sa.JSON, nullable=False),
        sa.Column("distributions", sa.LargeBinary(1 << 24), nullable=False),
        sa.UniqueConstraint("study_id", "configuration_id", "replicate", "until_s"),
    )


def downgrade() -> None:
    """Drops all tables, and every study with them."""
    _drop_tables()


def _drop_tables() -> None:
    for table in TABLES:
        op.drop_table(table, if_exists=True)
