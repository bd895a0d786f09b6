"""Engine `db_bench`: a db_bench program of any version or fork (docs/design/engines.md)."""

from rocktune.engine.db_bench.engine import DbBenchEngine
from rocktune.engine.db_bench.flags import refuse_inexpressible

__all__ = ["DbBenchEngine", "refuse_inexpressible"]
