"""Makes the figures of the map by Spark: the definition (map.sql) that DuckDB runs, with the same results, for data that one machine cannot hold.

    tools/fleet spark fleet -o cells                              # on this machine
    tools/fleet spark fleet -o cells --master spark://HOST:7077   # on a cluster that sees the data set under the same path
    spark-submit --py-files build/fleetmap.zip tools/fleetmap/spark_job.py fleet -o cells    # by the cluster's own Spark 4

OUTPUT/period=2026-11-02/*.parquet has the rows of a period, those below the minimums too (`is_shown` false). A run replaces the periods of the data
set and no others; one that is killed while it computes leaves the older ones. Rows go from the executors to the disk, none to the driver.
"""

import argparse
import os
import pathlib
from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import LongType, StringType, StructField, StructType

from fleetmap import definition, progress
from fleetmap.manifest import Manifest

# One place for the settings of Spark. Static overwrite would remove all periods first; Snappy fails where Debian's package musl is installed.
SETTINGS = {
    "spark.sql.sources.partitionOverwriteMode": "dynamic",
    # The day in a folder's name is a date; as a text it would be cast for each fence.
    "spark.sql.sources.partitionColumnTypeInference.enabled": "true",
    "spark.sql.parquet.compression.codec": "zstd",
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # The default, 128 groups, makes lists by sorting, for several times the cost.
    "spark.sql.objectHashAggregate.sortBased.fallbackThreshold": "1000000",
    # A period has some 160 pieces of generated code. The default, 100, keeps none of them for the next period, which compiles all again.
    "spark.sql.codegen.cache.maxEntries": "2000",
    # A small first table of groups holds those of the first cells only; all others are looked up twice.
    "spark.sql.codegen.aggregate.map.twolevel.enabled": "false",
    # Views that are kept for one period are not worth compressing.
    "spark.sql.inMemoryColumnarStorage.compressed": "false",
    # Less CPU than the default's concurrent collector.
    "spark.driver.extraJavaOptions": "-XX:+UseParallelGC",
    "spark.executor.extraJavaOptions": "-XX:+UseParallelGC",
}
FENCES_A_PARTITION = 1_000_000
FENCES_A_PART = 100_000_000
BY_SPARK_SUBMIT = "PYSPARK_GATEWAY_PORT"
# Views that several others read; Spark would compute them once for each.
SHARED = ("labels", "passes", "clusters", "lists", "histograms")


def options(command: str, description: str | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog=f"tools/fleet {command}", description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=pathlib.Path, metavar="DATASET")
    parser.add_argument("-o", "--output", required=True, metavar="DIR")
    parser.add_argument("--grid", default="h9", help="h6 to h11, or square (default h9)")
    parser.add_argument("--period", choices=definition.PERIODS, default="week")
    parser.add_argument("--least-fences", type=int, default=30)
    parser.add_argument("--least-devices", type=int, default=2)
    parser.add_argument("--by-link", action="store_true")
    parser.add_argument("--hours", type=definition.hours_of, default=(0, 24))
    if command == "spark":
        parser.add_argument("--master", help="default: that of spark-submit, else local[2]")
        parser.add_argument("--memory", default="2g", help="of the driver (default 2g)")
    chosen = parser.parse_args()
    if pathlib.Path(chosen.output).is_file():
        parser.error(f"-o {chosen.output} is a file, where a folder is needed")
    return chosen


def read_manifest(dataset: pathlib.Path) -> Manifest:
    return Manifest.parse((dataset / "manifest.json").read_text())


def grid_of(chosen: argparse.Namespace) -> definition.Grid:
    return definition.Grid(chosen.grid, chosen.least_fences, chosen.least_devices, chosen.by_link, chosen.hours, chosen.period)


def session(master: str | None, memory: str) -> SparkSession:
    builder = SparkSession.builder.appName("fleet").config("spark.driver.memory", memory)
    if master or not os.environ.get(BY_SPARK_SUBMIT):
        builder = builder.master(master or "local[2]")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def run(spark: SparkSession, stored: DataFrame, grid: definition.Grid, shared: Sequence[str] = SHARED) -> None:
    """Makes the view `cells` of rows of the data set."""
    stored.where(grid.condition).createOrReplaceTempView("fences")
    for name, statement in definition.statements(grid).items():
        spark.sql(statement)
        if name in shared:
            spark.sql(f"CACHE LAZY TABLE {name}")


def load_origins(spark: SparkSession, manifest: Manifest) -> None:
    kinds = StructType([StructField(name, LongType() if kind is int else StringType()) for name, kind in definition.ORIGIN.items()])
    spark.createDataFrame(definition.origins(manifest), kinds).createOrReplaceTempView("origins")


def remove_leftovers(spark: SparkSession, output: str) -> None:
    """Spark never removes what a killed run had staged."""
    hadoop = spark._jvm.org.apache.hadoop.fs
    files = hadoop.Path(output).getFileSystem(spark._jsc.hadoopConfiguration())
    for staged in files.globStatus(hadoop.Path(output, ".spark-staging-*")) or []:
        files.delete(staged.getPath(), True)


def main() -> None:
    chosen = options("spark", __doc__)
    folder, manifest, grid = chosen.dataset.resolve(), read_manifest(chosen.dataset), grid_of(chosen)
    spark = session(chosen.master, chosen.memory)
    load_origins(spark, manifest)
    remove_leftovers(spark, chosen.output)
    for days in progress.of(definition.parts(manifest, chosen.period, FENCES_A_PART), "parts computed"):
        files = [str(folder / f"day={day}" / manifest.days[day].file) for day in days]
        spark.conf.set("spark.sql.shuffle.partitions", max(4, sum(manifest.days[day].fences for day in days) // FENCES_A_PARTITION))
        run(spark, spark.read.option("basePath", str(folder)).parquet(*files), grid)
        spark.sql("SELECT /*+ REBALANCE(period) */ * FROM cells").write.mode("overwrite").partitionBy("period").parquet(chosen.output)
        spark.catalog.clearCache()
        for period in sorted({definition.period_of(day, chosen.period) for day in days}):
            print(f"{chosen.output}/period={period}")
    spark.stop()


if __name__ == "__main__":
    main()
