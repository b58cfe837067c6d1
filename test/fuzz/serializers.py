"""Bodies that schemathesis cannot write by itself: texts of lines, and bytes."""

import json

import schemathesis


@schemathesis.serializer("application/x-ndjson", "application/vnd.apache.arrow.stream")
def write_as_given(ctx, value):
    if isinstance(value, bytes):
        return value
    return (value if isinstance(value, str) else json.dumps(value)).encode("utf-8", "surrogatepass")
