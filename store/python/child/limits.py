"""What a template may take of the machine. There is no way back from any of it."""

import ctypes
import errno
import mmap
import os
import platform
import random
import resource
import struct

MIB = 1024 * 1024
MOST_FILES = 32

# Calls that a template has no use for: processes and threads, sockets, other processes, memory and keys that outlive a process,
# files without a name, namespaces, and parts of the kernel that few programs use. By their numbers on each architecture.
DENIED = {
    "x86_64": {
        "arch": 0xC000003E,
        "calls": [
            29, 30, 41, 42, 49, 50, 56, 57, 58, 59, 64, 68, 101, 135, 154, 155, 161, 165, 166, 240, 248, 249, 250, 272, 298,
            300, 303, 304, 308, 310, 311, 312, 319, 321, 322, 323, 425, 426, 427, 428, 429, 430, 432, 434, 435, 438, 442, 447,
        ],
    },
    "aarch64": {
        "arch": 0xC00000B7,
        "calls": [
            39, 40, 41, 51, 92, 97, 117, 180, 186, 190, 194, 196, 198, 200, 201, 203, 217, 218, 219, 220, 221, 241, 262, 264,
            265, 268, 270, 271, 272, 279, 280, 281, 282, 425, 426, 427, 428, 429, 430, 432, 434, 435, 438, 442, 447,
        ],
    },
}
# New calls of a second set that x86_64 has, under other numbers.
FIRST_X32_CALL = 0x40000000

PR_SET_NO_NEW_PRIVS = 38
PR_SET_SECCOMP = 22
SECCOMP_MODE_FILTER = 2
KILL_PROCESS = 0x80000000
REFUSE = 0x00050000 | errno.EPERM
ALLOW = 0x7FFF0000
LOAD, JUMP_EQUAL, JUMP_AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06


def make_filter():
    denied = DENIED[platform.machine()]
    calls = denied["calls"]
    steps = [
        (LOAD, 0, 0, 4),
        (JUMP_EQUAL, 1, 0, denied["arch"]),
        (RETURN, 0, 0, KILL_PROCESS),
        (LOAD, 0, 0, 0),
        (JUMP_AT_LEAST, len(calls) + 1, 0, FIRST_X32_CALL),
    ]
    for i, call in enumerate(calls):
        steps.append((JUMP_EQUAL, len(calls) - i, 0, call))
    steps += [(RETURN, 0, 0, ALLOW), (RETURN, 0, 0, REFUSE)]
    return b"".join(struct.pack("=HBBI", *step) for step in steps), len(steps)


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("steps", ctypes.c_void_p)]


def deny_calls():
    steps, count = make_filter()
    kept = ctypes.create_string_buffer(steps)
    program = Program(count, ctypes.addressof(kept))
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    if prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 or prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "no filter of system calls")


def probe():
    """Null, or what is wrong with the filter on this machine."""
    try:
        deny_calls()
    except (OSError, KeyError) as error:
        return repr(error)
    try:
        os.fork()
    except PermissionError:
        return None
    return "processes can be started"


def measure_address_space():
    """Bytes that are mapped, found by the limit at which one more page does not fit. There is no /proc to read it from."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    low, high = 0, 1 << 40
    while high - low > mmap.PAGESIZE:
        middle = (low + high) // 2
        resource.setrlimit(resource.RLIMIT_AS, (middle, hard))
        try:
            mmap.mmap(-1, mmap.PAGESIZE).close()
            high = middle
        except (OSError, MemoryError):
            low = middle
        finally:
            resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
    return high


def apply(request):
    import numpy

    # The same template with the same tables makes the same rows.
    random.seed(0)
    numpy.random.seed(0)
    # Tables are mapped from their files, which takes no memory of this process.
    room = request["memoryBytes"] + sum(argument["bytes"] for argument in request["args"])
    seconds = request["timeoutMs"] // 1000 + 2
    for kind, most in [
        (resource.RLIMIT_AS, measure_address_space() + room),
        (resource.RLIMIT_FSIZE, request["maxBytes"]),
        (resource.RLIMIT_NOFILE, MOST_FILES),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, seconds),
    ]:
        resource.setrlimit(kind, (most, most))
    deny_calls()
