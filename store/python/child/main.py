"""Runs templates, each in a process of its own that is forked from this one, which has pandas loaded.

This process never runs code of strangers. It is process 1 of its namespace: what runs beside it can neither signal nor trace
it, and whatever a template has started ends with the template.

File descriptors: 3 is the socket to the service, 4 the file that a template writes (Arrow), 5 the one that is made of it
(Parquet), which a template does not have.
"""

import ctypes
import gc
import json
import os
import select
import signal
import socket
import struct
import sys
import time

sys.path.append("/app/packages")

import limits
import template

ARROW_FD, PARQUET_FD = 4, 5
# How a report begins that says so.
DONE = b'{"kind": "done"'
MOST_REPORTED_BYTES = 8_000_000
PR_SET_DUMPABLE = 4

service = socket.socket(fileno=3)


def receive():
    """The next request. None: the service is gone."""
    prefix = receive_bytes(8)
    if prefix is None:
        return None
    header_bytes, body_bytes = struct.unpack("<II", prefix)
    header = receive_bytes(header_bytes)
    receive_bytes(body_bytes)
    return None if header is None else json.loads(header)


def receive_bytes(count):
    parts = []
    while count > 0:
        part = service.recv(min(count, 1 << 20))
        if not part:
            return None
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def send(header, body=b""):
    text = json.dumps(header).encode()
    service.sendall(struct.pack("<II", len(text), len(body)) + text + body)


def fork(work):
    """The process id of a process that runs `work`, and a pipe with the bytes that `work` returns."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid != 0:
        os.close(writing)
        return pid, reading
    try:
        os.close(reading)
        os.close(service.fileno())
        # What a template prints goes nowhere.
        os.dup2(1, 2)
        report = work()
        while report:
            report = report[os.write(writing, report) :]
    finally:
        os._exit(0)


def read_report(pipe, deadline):
    """What the process wrote until it closed the pipe. None: it took too long, or wrote too much."""
    report = b""
    while len(report) <= MOST_REPORTED_BYTES:
        ready, _, _ = select.select([pipe], [], [], max(0, deadline - time.monotonic()))
        if not ready:
            return None
        part = os.read(pipe, 1 << 16)
        if not part:
            return report
        report += part
    return None


def wait_for(pid, deadline):
    """How the process ended. None: it has not, in time."""
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended == pid:
            return status
        if time.monotonic() > deadline:
            return None
        time.sleep(0.001)


def end_all_others():
    try:
        os.kill(-1, signal.SIGKILL)
    except ProcessLookupError:
        pass
    try:
        while True:
            os.waitpid(-1, 0)
    except ChildProcessError:
        pass


def run(request):
    deadline = time.monotonic() + request["timeoutMs"] / 1000
    for fd in (ARROW_FD, PARQUET_FD):
        os.ftruncate(fd, 0)
        os.lseek(fd, 0, os.SEEK_SET)

    def run_template():
        os.close(PARQUET_FD)
        return template.run(request, ARROW_FD)

    ended, report = attempt(request, deadline, run_template)
    if request["op"] == "run" and ended == 0 and report.startswith(DONE):
        ended, report = attempt(request, deadline, lambda: template.rewrite(request, ARROW_FD, PARQUET_FD))
    send({"ended": ended}, report)


def attempt(request, deadline, work):
    """Does it in a process of its own. How that ended (see explainReport.ts), and its report."""

    def limited():
        limits.apply(request)
        try:
            return work()
        except MemoryError:
            return b'{"kind": "memory"}'

    pid, pipe = fork(limited)
    report = read_report(pipe, deadline)
    os.close(pipe)
    status = None if report is None else wait_for(pid, deadline)
    end_all_others()
    if status is None:
        return None, b""
    return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status), report


def try_limits():
    """Whether a process can be held to one process without sockets, which nothing else does as reliably."""
    pid, pipe = fork(lambda: json.dumps(limits.probe()).encode())
    report = read_report(pipe, time.monotonic() + 10)
    end_all_others()
    return json.loads(report or b'"no answer"')


def main():
    # Process 1 gets no signal of its namespace that it has no handler for, and Python has one for this.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if os.getpid() != 1:
        sys.exit("not process 1")
    if ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0:
        sys.exit("cannot be protected from being traced")
    trouble = try_limits()
    if trouble is not None:
        sys.exit("no limits for templates: %s" % trouble)
    template.warm_up()
    os.environ.clear()
    gc.collect()
    gc.freeze()
    send({"ready": True})
    while True:
        request = receive()
        if request is None:
            return
        run(request)


main()
