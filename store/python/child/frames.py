"""Tables as frames, and frames as tables. The types are those of the service: what another type would lose is refused."""

import datetime
import decimal
import json

import numpy
import pandas
import pyarrow
import pyarrow.compute

ROWS_EACH = 16_384
MOST_NAME = 200


class Unfit(Exception):
    """A column that a table cannot hold."""

    def __init__(self, column, message, fix):
        super().__init__(message)
        self.column = column
        self.fix = fix


class TooLarge(Exception):
    pass


# --- from tables to frames


def read(path):
    options = pyarrow.ipc.IpcReadOptions(use_threads=False)
    with pyarrow.memory_map(path) as source:
        return to_frame(pyarrow.ipc.open_stream(source, options=options).read_all())


def to_frame(table):
    return table.to_pandas(types_mapper=choose_dtype, use_threads=False)


def choose_dtype(kind):
    """Types that keep numbers exact and know missing values. None: that of pandas itself."""
    types = pyarrow.types
    if types.is_string(kind):
        return pandas.StringDtype("pyarrow")
    if types.is_signed_integer(kind):
        return pandas.Int64Dtype()
    if types.is_boolean(kind):
        return pandas.BooleanDtype()
    if types.is_decimal(kind) or types.is_date(kind) or types.is_time(kind):
        return pandas.ArrowDtype(kind)
    return None


# --- from frames to tables


def write(frame, result_fd, limits):
    if len(frame) > limits["maxRows"]:
        raise TooLarge("The frame has %d rows; %d are allowed." % (len(frame), limits["maxRows"]))
    if len(frame.columns) > limits["maxColumns"]:
        raise TooLarge("The frame has %d columns; %d are allowed." % (len(frame.columns), limits["maxColumns"]))
    table = to_table(frame)
    # What is around the values takes a few bytes for each column of each batch.
    if table.nbytes > limits["maxBytes"]:
        raise TooLarge("The frame takes %d bytes; %d are allowed." % (table.nbytes, limits["maxBytes"]))
    try:
        with open(result_fd, "wb", closefd=False) as file, pyarrow.ipc.new_stream(file, table.schema) as writer:
            writer.write_table(table, max_chunksize=ROWS_EACH)
    except OSError:
        raise too_many_bytes(limits)


def too_many_bytes(limits):
    return TooLarge("The frame takes more than the %d bytes that are allowed." % limits["maxBytes"])


def to_table(frame):
    check_names(frame.columns)
    if len(frame.columns) == 0:
        raise Unfit("", "The frame has no columns.", "Return a frame with at least one column.")
    arrays, fields = [], []
    for place, name in enumerate(frame.columns):
        array, metadata = to_column(str(name), frame.iloc[:, place]), None
        if isinstance(array, JsonTexts):
            array, metadata = array.array, JSON_METADATA
        arrays.append(array)
        fields.append(pyarrow.field(str(name), array.type, metadata=metadata))
    return pyarrow.Table.from_arrays(arrays, schema=pyarrow.schema(fields))


# Arrow has no type for texts of JSON.
JSON_METADATA = {b"type": b"JSON"}


class JsonTexts:
    def __init__(self, array):
        self.array = array


def is_json(field):
    return (field.metadata or {}).get(b"type") == b"JSON" and pyarrow.types.is_string(field.type)


def check_names(names):
    seen = set()
    for place, name in enumerate(names):
        if not isinstance(name, str):
            shown = repr(name)[:MOST_NAME]
            raise Unfit(shown, "The name of column %d is %s, not text." % (place + 1, shown), "Set frame.columns to a list of texts.")
        if name in seen:
            raise Unfit(name, "Two columns are named %s." % name[:MOST_NAME], "Give each column a name of its own.")
        seen.add(name)


def to_column(name, series):
    """An Arrow array of a type that tables have, or texts of JSON."""
    if isinstance(series.dtype, pandas.SparseDtype):
        series = series.sparse.to_dense()
    dtype = series.dtype
    if dtype == object:
        return from_objects(name, series)
    values = dtype.categories.dtype if isinstance(dtype, pandas.CategoricalDtype) else dtype
    unfit = values.kind in "cmSUV" if isinstance(values, numpy.dtype) else isinstance(values, (pandas.PeriodDtype, pandas.IntervalDtype))
    if unfit:
        raise refuse_type(name, values)
    try:
        array = pyarrow.array(series, from_pandas=True)
    except (pyarrow.ArrowException, ValueError, TypeError) as error:
        raise refuse_values(name, error)
    return fit(name, array)


def fit(name, array):
    """Casts to one of the types that tables have, without loss."""
    if isinstance(array, pyarrow.ChunkedArray):
        array = array.combine_chunks()
        if isinstance(array, pyarrow.ChunkedArray):
            array = pyarrow.concat_arrays(array.chunks)
    types, kind = pyarrow.types, array.type
    if types.is_dictionary(kind):
        return fit(name, array.dictionary_decode())
    if types.is_null(kind):
        return array.cast(pyarrow.string())
    if types.is_nested(kind):
        return from_nested(name, array.to_pylist())
    if types.is_string(kind) or types.is_large_string(kind) or str(kind) == "string_view":
        return cast(name, array, pyarrow.string())
    if types.is_boolean(kind):
        return array
    if types.is_uint64(kind):
        return cast(name, array, pyarrow.decimal128(20, 0))
    if types.is_integer(kind):
        return cast(name, array, pyarrow.int64())
    if types.is_floating(kind):
        return blank_nan(cast(name, array, pyarrow.float64()))
    if types.is_decimal(kind):
        return from_decimals(name, array)
    if types.is_date(kind):
        return cast(name, array, pyarrow.date32())
    if types.is_timestamp(kind):
        # Moments of a time zone are kept in UTC, in which they are already.
        return cast(name, cast(name, array, pyarrow.timestamp("us", kind.tz)), pyarrow.timestamp("us"))
    if types.is_time(kind):
        return cast(name, array, pyarrow.time64("us"))
    raise refuse_type(name, kind)


def cast(name, array, kind):
    try:
        return array.cast(kind)
    except (pyarrow.ArrowException, ValueError) as error:
        raise refuse_values(name, error)


def blank_nan(array):
    """NaN stands for a missing value, as everywhere in pandas."""
    return pyarrow.compute.if_else(pyarrow.compute.is_nan(array), pyarrow.scalar(None, array.type), array)


def from_decimals(name, array):
    kind = array.type
    scale = max(kind.scale, 0)
    precision = max(kind.precision, kind.precision + scale - kind.scale, scale, 1)
    if (kind.precision, kind.scale) != (min(precision, 38), scale) or not pyarrow.types.is_decimal128(kind):
        array = cast(name, array, pyarrow.decimal128(min(precision, 38), scale))
    return array


# By what pandas calls the values of a column of objects.
BY_VALUES = {
    "string": pyarrow.string(),
    "boolean": pyarrow.bool_(),
    "integer": pyarrow.int64(),
    "floating": pyarrow.float64(),
    "mixed-integer-float": pyarrow.float64(),
    "decimal": None,
    "date": pyarrow.date32(),
    "datetime": pyarrow.timestamp("us"),
    "datetime64": pyarrow.timestamp("us"),
    "time": pyarrow.time64("us"),
    "empty": pyarrow.string(),
}


def from_objects(name, series):
    found = pandas.api.types.infer_dtype(series, skipna=True)
    if found in BY_VALUES:
        try:
            return fit(name, pyarrow.array(series, BY_VALUES[found], from_pandas=True))
        except (pyarrow.ArrowException, ValueError, TypeError, OverflowError) as error:
            raise refuse_values(name, error)
    values = [None if is_missing(value) else value for value in series]
    if all(value is None or isinstance(value, (dict, list, tuple, numpy.ndarray)) for value in values):
        return from_nested(name, values)
    kinds = sorted({type(value).__name__ for value in values if value is not None})
    if len(kinds) == 1:
        raise refuse_type(name, kinds[0])
    raise Unfit(
        name,
        "Column %s holds values of several types: %s." % (name, ", ".join(kinds[:5])),
        "Make them one type, for instance by .astype('string') or pd.to_numeric(...).",
    )


def is_missing(value):
    return value is None or value is pandas.NA or value is pandas.NaT or (isinstance(value, float) and value != value)


def from_nested(name, values):
    """Lists and dictionaries become JSON."""
    try:
        texts = [None if value is None else json.dumps(plain(value), ensure_ascii=False, allow_nan=False) for value in values]
        return JsonTexts(pyarrow.array(texts, pyarrow.string()))
    except (TypeError, ValueError, RecursionError) as error:
        raise refuse_values(name, error)


def plain(value):
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple, numpy.ndarray)):
        return [plain(each) for each in value]
    if is_missing(value):
        return None
    if isinstance(value, numpy.generic):
        return plain(value.item())
    if isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, decimal.Decimal):
        return str(value)
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    raise TypeError("%s is not a value of JSON" % type(value).__name__)


FIXES = [
    ("timedelta", "Return a number, for instance .dt.total_seconds()."),
    ("duration", "Return a number, for instance .dt.total_seconds()."),
    ("period", "Return its text by .astype('string'), or its beginning by .dt.to_timestamp()."),
    ("interval", "Return its text by .astype('string'), or its two ends as columns."),
    ("complex", "Return its parts as two columns, by numpy.real and numpy.imag."),
    ("bytes", "Return a text, for instance .str.decode('utf-8')."),
    ("binary", "Return a text, for instance .str.decode('utf-8')."),
]


def refuse_type(name, kind):
    shown = str(kind)[:MOST_NAME]
    fix = next((fix for word, fix in FIXES if word in shown.lower()), "Return texts, numbers, booleans, dates, times, lists or dictionaries.")
    return Unfit(name, "Column %s has the type %s, which tables do not have." % (name, shown), fix)


def refuse_values(name, error):
    return Unfit(
        name,
        "A value of column %s does not fit: %s" % (name, str(error).split("\n")[0]),
        "Round or convert the values: numbers of up to 38 digits, times of up to microseconds.",
    )
