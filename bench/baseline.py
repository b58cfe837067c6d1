"""Reads a sheet to Arrow with fastexcel and writes that to Parquet with DuckDB: what an ingest is measured against."""

import json
import os
import resource
import sys
import time

import duckdb
import fastexcel

source, target = sys.argv[1:3]
for _ in sys.stdin:
    began, cpu = time.perf_counter(), time.process_time()
    sheet = fastexcel.read_excel(source).load_sheet_eager(0)
    read = time.perf_counter()
    connection = duckdb.connect()
    connection.register("sheet", sheet)
    connection.execute(f"COPY sheet TO '{target}' (FORMAT parquet)")
    ended = time.perf_counter()
    connection.close()
    os.remove(target)
    print(
        json.dumps(
            {
                "seconds": ended - began,
                "cpuSeconds": time.process_time() - cpu,
                "readSeconds": read - began,
                "peakMb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            }
        ),
        flush=True,
    )
