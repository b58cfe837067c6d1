"""Turns the result of a template, an Arrow stream, into a Parquet file whose content is known to be right.

The template could have written anything there. So this runs in a process of its own, which is limited as that of the template
is, and takes nothing for granted.
"""

import datetime
import itertools
import json

import pyarrow
import pyarrow.compute
import pyarrow.parquet

import frames

BATCHES_EACH = 8

SIMPLE_TYPES = {
    pyarrow.string(): "VARCHAR",
    pyarrow.int64(): "BIGINT",
    pyarrow.float64(): "DOUBLE",
    pyarrow.bool_(): "BOOLEAN",
    pyarrow.date32(): "DATE",
    pyarrow.timestamp("us"): "TIMESTAMP",
    pyarrow.time64("us"): "TIME",
}


class Damaged(Exception):
    pass


def rewrite(limits, arrow_fd, parquet_fd):
    """What there is to say about the table. `limits` are those of the run."""
    with open(arrow_fd, "rb", closefd=False) as source, open(parquet_fd, "wb", closefd=False) as target:
        source.seek(0)
        try:
            stream = pyarrow.ipc.open_stream(source, options=pyarrow.ipc.IpcReadOptions(use_threads=False))
            columns = [{"name": field.name, "type": name_type(field)} for field in stream.schema]
        except (pyarrow.ArrowException, UnicodeDecodeError) as error:
            raise Damaged(str(error))
        frames.check_names([column["name"] for column in columns])
        if not 0 < len(columns) <= limits["maxColumns"]:
            raise Damaged("%d columns" % len(columns))
        schema = pyarrow.schema([pyarrow.field(field.name, field.type) for field in stream.schema])
        rows = 0
        with pyarrow.parquet.ParquetWriter(target, schema, compression="snappy", store_schema=False) as writer:
            for table in read_tables(stream, schema):
                rows += table.num_rows
                if rows > limits["maxRows"]:
                    raise Damaged("more rows than are allowed")
                for place, column in enumerate(columns):
                    check_values(column, table.column(place))
                write(writer, table, limits)
    return {"columns": columns, "rowCount": rows}


def write(writer, table, limits):
    try:
        writer.write_table(table)
    except OSError:
        raise frames.too_many_bytes(limits)


def read_tables(stream, schema):
    """Some batches at a time."""
    batches = iter(stream)
    while True:
        try:
            some = list(itertools.islice(batches, BATCHES_EACH))
            if not some:
                return
            for batch in some:
                batch.validate(full=True)
            table = pyarrow.Table.from_batches([pyarrow.RecordBatch.from_arrays(batch.columns, schema=schema) for batch in some])
        except (pyarrow.ArrowException, OSError, ValueError) as error:
            raise Damaged(str(error))
        yield table


def name_type(field):
    kind = field.type
    if pyarrow.types.is_decimal128(kind) and 0 <= kind.scale <= kind.precision:
        return "DECIMAL(%d,%d)" % (kind.precision, kind.scale)
    if kind not in SIMPLE_TYPES:
        raise Damaged("a column of type %s" % kind)
    return "JSON" if frames.is_json(field) else SIMPLE_TYPES[kind]


# Beyond them no reader of dates can tell them.
FIRST_DAY, LAST_DAY = datetime.date(1, 1, 1), datetime.date(9999, 12, 31)
MICROSECONDS_A_DAY = 86_400_000_000


def check_values(column, values):
    name, kind = column["name"], column["type"]
    compute = pyarrow.compute
    if kind in ("VARCHAR", "JSON") and compute.any(compute.match_substring(values, "\0")).as_py():
        raise frames.Unfit(name, "Column %s holds a text with U+0000." % name, "Remove that character: .str.replace('\\0', '')")
    if kind == "JSON":
        check_json(values)
    if kind in ("DATE", "TIMESTAMP") and not is_between(values, *FIRST_AND_LAST[kind]):
        fix = "Correct the dates, or leave them empty."
        raise frames.Unfit(name, "Column %s holds a date outside of the years 1 to 9999." % name, fix)
    if kind == "TIME" and not is_between(values.cast(pyarrow.int64()), 0, MICROSECONDS_A_DAY - 1):
        raise Damaged("a time that is no time of day")


FIRST_AND_LAST = {
    "DATE": (FIRST_DAY, LAST_DAY),
    "TIMESTAMP": (datetime.datetime.combine(FIRST_DAY, datetime.time.min), datetime.datetime.combine(LAST_DAY, datetime.time.max)),
}


def is_between(values, first, last):
    first, last = pyarrow.scalar(first, values.type), pyarrow.scalar(last, values.type)
    compute = pyarrow.compute
    return not compute.any(compute.or_(compute.less(values, first), compute.greater(values, last))).as_py()


def check_json(values):
    for text in values.to_pylist():
        try:
            if text is not None:
                json.loads(text, parse_constant=refuse_constant)
        except (ValueError, RecursionError):
            raise Damaged("a text that is no JSON")


def refuse_constant(name):
    raise ValueError(name)
