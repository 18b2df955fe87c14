"""Makes the figures of the map by Sail, which runs Spark's SQL without Java: a second witness of the definition (map.sql).

    tools/fleet sail fleet -o cells
    tools/fleet sail --check            # whether Sail runs here at all

OUTPUT/period=2026-11-02/*.parquet has the rows of a period, as `tools/fleet spark` makes them. Sail listens on loopback while this runs.
"""

import datetime
import pathlib
import shutil
import socket
import sys
import time

from pysail.spark import SparkConnectServer
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import lit

from fleetmap import definition, progress, spark_job

WAIT_S = 300


def connect(server: SparkConnectServer) -> SparkSession:
    """A session of a server that has been started, as soon as it listens."""
    server.start(background=True)
    deadline = time.monotonic() + WAIT_S
    while True:
        try:
            address = server.listening_address
            with socket.create_connection(address, 1):
                return SparkSession.builder.remote(f"sc://{address[0]}:{address[1]}").getOrCreate()
        except (OSError, TypeError):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def union(spark: SparkSession, files: dict[str, str]) -> DataFrame:
    """The rows of some days. Sail finds no day in the name of a file that it is given."""
    parts = [spark.read.parquet(file).withColumn("day", lit(datetime.date.fromisoformat(day))) for day, file in sorted(files.items())]
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.unionAll(part)
    return whole


def main() -> None:
    if sys.argv[1:] == ["--check"]:
        server = SparkConnectServer("127.0.0.1", 0)
        spark = connect(server)
        spark.sql("SELECT 1").collect()
        spark.stop()
        server.stop()
        return
    chosen = spark_job.options("sail", __doc__)
    folder, manifest = chosen.dataset.resolve(), spark_job.read_manifest(chosen.dataset)
    server = SparkConnectServer("127.0.0.1", 0)
    spark = connect(server)
    spark_job.load_origins(spark, manifest)
    for days in progress.of(definition.parts(manifest, chosen.period, 1), "periods computed"):
        files = {day: str(folder / f"day={day}" / manifest.days[day].file) for day in days}
        spark_job.run(spark, union(spark, files), spark_job.grid_of(chosen), shared=())
        output = pathlib.Path(chosen.output, f"period={definition.period_of(days[0], chosen.period)}")
        partial = output.with_name(output.name + ".partial")
        shutil.rmtree(partial, ignore_errors=True)
        spark.sql("SELECT * FROM cells").drop("period").write.mode("overwrite").parquet(str(partial))
        shutil.rmtree(output, ignore_errors=True)
        partial.rename(output)
        print(output)
    spark.stop()
    server.stop()


if __name__ == "__main__":
    main()
