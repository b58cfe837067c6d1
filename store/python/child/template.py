"""Runs one template: reads the tables, calls its function, writes the frame that it returns."""

import ast
import inspect
import io
import json
import sys
import traceback

import numpy
import pandas
import pyarrow

import frames
import result

FILE_NAME = "<template>"
MOST_TEXT = 2000
MOST_PRINTED = 10_000_000


class Refusal(Exception):
    """Something about the template that its writer can put right. `kind` says what it is."""

    def __init__(self, kind, message, **more):
        super().__init__(message)
        self.report = {"kind": kind, "message": cut(message), **more}


class Printed(io.TextIOBase):
    """Takes what a template prints, which goes nowhere: some, as people do when they look for a mistake, and not without end."""

    def __init__(self):
        self.left = MOST_PRINTED

    def writable(self):
        return True

    def write(self, text):
        self.left -= len(text)
        if self.left < 0:
            raise Refusal("printed", "The template prints more than %d characters." % MOST_PRINTED)
        return len(text)


def run(request, result_fd):
    """Runs the template. The report, as JSON."""
    sys.stdout = sys.stderr = Printed()
    return report_on(lambda: attempt(request, result_fd))


def rewrite(request, arrow_fd, parquet_fd):
    """Makes a table of what the template has written. The report, as JSON."""
    return report_on(lambda: result.rewrite(request, arrow_fd, parquet_fd))


def report_on(work):
    try:
        report = {"kind": "done", **work()}
    except Refusal as refusal:
        report = refusal.report
    except frames.Unfit as unfit:
        report = {"kind": "unfit", "message": cut(str(unfit)), "fix": unfit.fix, "column": cut(unfit.column)}
    except frames.TooLarge as large:
        report = {"kind": "large", "message": str(large)}
    except result.Damaged:
        report = {"kind": "damaged"}
    except MemoryError:
        report = {"kind": "memory"}
    except BaseException as error:
        # A frame can be of a class that the template has made.
        report = explain(error).report
    return json.dumps(report).encode()


def attempt(request, result_fd):
    code = parse(request["template"])
    names = [argument["name"] for argument in request["args"]]
    if request["op"] == "check":
        check_parameters_as_written(code, names)
        return {"columns": [], "rowCount": 0}
    code = compile(code, FILE_NAME, "exec")
    tables = {argument["name"]: frames.read(argument["path"]) for argument in request["args"]}
    frames.write(call(code, tables), result_fd, request)
    return {}


def parse(text):
    try:
        return ast.parse(text, FILE_NAME)
    except SyntaxError as error:
        raise Refusal("syntax", error.msg or "The template is not Python", line=error.lineno, column=error.offset)
    except (ValueError, RecursionError) as error:
        # NUL characters, lone surrogates, expressions that are nested too deeply.
        raise Refusal("syntax", str(error), line=None, column=None)


def call(code, tables):
    namespace = {"__name__": "template", "__builtins__": __builtins__, "pd": pandas, "np": numpy}
    try:
        exec(code, namespace)
        transform = namespace.get("transform")
        if not callable(transform):
            raise Refusal("function", "The template does not define the function transform.")
        check_parameters(inspect.signature(transform).parameters.values(), list(tables))
        frame = transform(**tables)
    except (Refusal, MemoryError):
        raise
    except BaseException as error:
        raise explain(error)
    if not isinstance(frame, pandas.DataFrame):
        raise Refusal("returned", describe_value(frame))
    return frame


def check_parameters(parameters, names):
    """Tables are given by name."""
    parameters = list(parameters)
    takes_all = any(each.kind is each.VAR_KEYWORD for each in parameters)
    named = {each.name: each for each in parameters if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)}
    by_place = [each.name for each in parameters if each.kind is each.POSITIONAL_ONLY and each.default is each.empty]
    missing = [name for name, each in named.items() if each.default is each.empty and name not in names]
    surplus = [] if takes_all else [name for name in names if name not in named]
    if by_place:
        raise Refusal("parameters", "transform takes %s by position; tables are given by name." % list_names(by_place))
    if missing:
        raise Refusal("parameters", "transform has the parameter %s, for which args names no table." % list_names(missing))
    if surplus:
        raise Refusal("parameters", "transform has no parameter %s, which args names." % list_names(surplus))


def check_parameters_as_written(code, names):
    """As far as can be told without running it: a function may be made in other ways than by `def`."""
    defined = [each for each in code.body if isinstance(each, ast.FunctionDef) and each.name == "transform" and not each.decorator_list]
    if len(defined) != 1:
        return
    given = defined[0].args
    kind = inspect.Parameter
    optional = len(given.args) - len(given.defaults)
    parameters = [kind(each.arg, kind.POSITIONAL_ONLY) for each in given.posonlyargs]
    parameters += [
        kind(each.arg, kind.POSITIONAL_OR_KEYWORD, default=None if i >= optional else kind.empty) for i, each in enumerate(given.args)
    ]
    parameters += [
        kind(each.arg, kind.KEYWORD_ONLY, default=None if value is not None else kind.empty)
        for each, value in zip(given.kwonlyargs, given.kw_defaults)
    ]
    if given.kwarg:
        parameters.append(kind(given.kwarg.arg, kind.VAR_KEYWORD))
    check_parameters(parameters, names)


def explain(error):
    """The kind of the error, its text, and the line of the template that it comes from."""
    if isinstance(error, SyntaxError) and error.filename == FILE_NAME:
        return Refusal("syntax", error.msg or "The template is not Python", line=error.lineno, column=error.offset)
    lines = [step.lineno for step in traceback.extract_tb(error.__traceback__) if step.filename == FILE_NAME]
    try:
        message = str(error)
    except BaseException:
        message = ""
    return Refusal("raised", message, type=cut(type(error).__name__), line=lines[-1] if lines else None)


def describe_value(value):
    return "None" if value is None else type(value).__name__


def list_names(names):
    return ", ".join(names[:10])


def cut(text):
    """Texts of strangers: bounded, without what cannot be sent."""
    return str(text)[:MOST_TEXT].encode("utf-8", "replace").decode()


def warm_up():
    """What is loaded on first use, so that no run has to."""
    table = pyarrow.table({"text": ["a"], "count": [1]})
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    frame = frames.to_frame(pyarrow.ipc.open_stream(sink.getvalue()).read_all())
    joined = frame.merge(frame, on="text").groupby("text", as_index=False).sum()
    frames.to_table(joined)
    traceback.format_exc()
