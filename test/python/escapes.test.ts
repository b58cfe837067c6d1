import { describe, expect, it } from 'vitest';
import { usePython } from './world.ts';

/** Templates of somebody who means harm. Nothing of the machine is seen, nothing stays behind, and the next run is not touched. */

process.env.SVC_TEST_SECRET = 'ENVIRONMENT-5512';
const world = await usePython();

describe.skipIf(!world)('escapes', () => {
  const { run, refuse, python } = world as NonNullable<typeof world>;

  /** What an expression gives, or the error that it raises. */
  const look = async (expression: string, before = '') => {
    const template = `import os, sys, socket, ctypes, signal, subprocess, threading, glob\n${before}\ndef transform():\n    try:\n        said = repr(${expression})\n    except BaseException as error:\n        said = type(error).__name__ + ': ' + str(error)\n    return pd.DataFrame({'said': [said]})`;
    return (await run(template)).values[0]?.[0] ?? '';
  };

  /** Where something lies in memory, which differs from process to process, but not between those that one has forked. */
  const identity = look('id(pd)');

  it.each([
    ['/etc/passwd', "open('/etc/passwd').read()", /FileNotFoundError/],
    ['/proc', "os.listdir('/proc')", /FileNotFoundError/],
    ['other processes', "open('/proc/1/environ').read()", /FileNotFoundError/],
    ['the home', "os.listdir('/root') + os.listdir('/home')", /FileNotFoundError/],
    ['devices', "open('/dev/mem', 'rb')", /FileNotFoundError/],
    ['all folders', "sorted(os.listdir('/'))", /^\['app', 'in'(, 'lib')?(, 'lib64')?(, 'usr')?\]$/],
    ['its tables', "sorted(glob.glob('/in/**', recursive=True))", /^\['\/in\/', '\/in\/governed', '\/in\/open'\]$/],
    ['the environment', 'dict(os.environ)', /^\{\}$/],
    ['the environment, by libc', "ctypes.CDLL(None).getenv(b'SVC_TEST_SECRET')", /^0$/],
    ['writing to the root', "open('/x', 'w')", /Read-only file system/],
    ['writing to its code', "open('/app/child/main.py', 'a')", /Read-only file system|PermissionError/],
    ['writing to its tables', "open('/in/open/x', 'w')", /Read-only file system/],
    ['writing to its packages', "open('/app/packages/pandas/x.py', 'w')", /Read-only file system/],
    ['writing to a temporary folder', '__import__("tempfile").TemporaryFile()', /FileNotFoundError|No usable temporary directory/],
    ['a socket', 'socket.socket()', /PermissionError/],
    ['a name', "socket.getaddrinfo('example.com', 80)", /gaierror|PermissionError/],
    ['a fork', 'os.fork()', /PermissionError/],
    ['a program', "subprocess.run(['/app/python/bin/python3'])", /PermissionError/],
    ['another program in place of itself', "os.execv('/app/python/bin/python3', ['x'])", /PermissionError/],
    ['a thread', 'threading.Thread(target=print).start()', /can't start new thread/],
    ['a thread by libc', 'ctypes.CDLL(None).syscall(56, 0x100 | 0x10000 | 0x800, 0, 0, 0, 0)', /^-1$/],
    ['a signal to the process that forked it', 'os.kill(1, signal.SIGKILL)', /^None$/],
    ['another signal to it', 'os.kill(os.getppid(), signal.SIGINT)', /^None$/],
    ['a pause of it', 'os.kill(1, signal.SIGSTOP)', /^None$/],
    ['tracing it', 'ctypes.CDLL(None).ptrace(16, 1, 0, 0)', /^-1$/],
    ['shared memory', 'ctypes.CDLL(None).shmget(1, 4096, 0o1600)', /^-1$/],
    ['a file without a name', "os.memfd_create('x')", /PermissionError/],
    ['more memory', "__import__('resource').setrlimit(__import__('resource').RLIMIT_AS, (-1, -1))", /ValueError|PermissionError/],
    ['namespaces', 'ctypes.CDLL(None).unshare(0x10000000)', /^-1$/],
    ['the service', "os.write(3, b'x')", /Bad file descriptor/],
    ['who it is', '(os.getuid(), os.getgid())', /^\(65534, 65534\)$/],
    ['the name of the machine', 'os.uname().nodename', /^'query'$/],
    ['packages of others', "glob.glob('/app/python/lib/python3*/site-packages/*')", /^\[\]$/],
  ])('%s', async (_, expression, said) => {
    expect(await look(expression)).toMatch(said);
    expect(await look('1 + 1')).toBe('2');
  });

  it.each([
    ['ends its process', 'os._exit(0)', /ended its process without returning/],
    ['ends it with a code', 'os._exit(7)', /ended its process without returning/],
    ['kills itself', 'os.kill(os.getpid(), 9)', /needs more than/],
    [
      'needs threads for a library',
      "pyarrow.table({'a': [1]}).group_by('a').aggregate([])",
      /aborted by one of its libraries.*or a thread/,
    ],
    ['crashes', 'ctypes.string_at(0)', /Python crashed \(signal 11\)/],
    ['answers by itself', '[answer(fd) for fd in (3, 5, 6, 7)]', /ended its process/],
    ['answers too much', '[spill(fd) for fd in (3, 5, 6, 7)]', /took longer|ended its process/],
  ])('a template that %s is refused', async (_, expression, said) => {
    const helpers = `def answer(fd, text=b'{"kind": "done", "columns": 5}'):
    try: os.write(fd, text)
    except OSError: pass
def spill(fd):
    try:
        while True: os.write(fd, b'{' * 10**6)
    except OSError: pass
`;
    const fault = await refuse(
      `import os, ctypes, pyarrow\n${helpers}def transform():\n    ${expression}\n    os._exit(0)`,
      {},
      // One of them goes on until its time is over.
      { timeoutMs: expression.includes('spill') ? 5_000 : 60_000 },
    );
    expect(fault.detail).toMatch(said);
    expect(await look('1 + 1')).toBe('2');
  });

  describe('a result that it has written itself', () => {
    const write = (content: string) =>
      `import os, io, datetime, pyarrow as pa\ndef transform():\n    sink = io.BytesIO()\n    ${content}\n    os.write(4, sink.getvalue())\n    for fd in range(5, 20):\n        try: os.write(fd, b'{"kind": "done", "rowCount": 5, "columns": [{"name": "x", "type": "BIGINT"}]}')\n        except OSError: pass\n    os._exit(0)`;
    const stream = (table: string) => `t = ${table}\n    w = pa.ipc.new_stream(sink, t.schema)\n    w.write_table(t)\n    w.close()`;

    it('is taken if it is a table', async () => {
      const { columns, values } = await run(write(stream("pa.table({'a': pa.array([1], pa.int64())})")));
      expect({ columns, values }).toEqual({ columns: [['a', 'BIGINT']], values: [['1']] });
    });

    it.each([
      ['no Arrow', "sink.write(b'ARROW1' * 100)"],
      ['nothing', 'pass'],
      ['Arrow that is cut off', `${stream("pa.table({'a': list(range(10000))})")}\n    sink.truncate(5000)`],
      ['types that tables have not', stream("pa.table({'a': pa.array([1], pa.int8())})")],
      ['a dictionary', stream("pa.table({'a': pa.array(['x']).dictionary_encode()})")],
      ['no columns', stream('pa.table({})')],
      ['the same name twice', stream("pa.Table.from_arrays([pa.array([1]), pa.array([1])], names=['a', 'a'])")],
      [
        'texts that are not UTF-8',
        stream("pa.table({'a': pa.StringArray.from_buffers(1, pa.array([0, 1], pa.int32()).buffers()[1], pa.py_buffer(b'\\xff'))})"),
      ],
      [
        'offsets that lead outside',
        `${stream("pa.table({'a': ['xxxx']})")}\n    sink = io.BytesIO(sink.getvalue().replace(bytes([0, 0, 0, 0, 4, 0, 0, 0]), bytes([0, 0, 0, 0, 4, 0, 1, 0])))`,
      ],
      [
        'JSON that is none',
        stream("pa.Table.from_arrays([pa.array(['{'])], schema=pa.schema([pa.field('a', pa.string(), metadata={'type': 'JSON'})]))"),
      ],
      ['times that are none', stream("pa.table({'a': pa.array([10**12]).cast(pa.time64('us'))})")],
      ['more rows than it may have', stream("pa.table({'a': list(range(1001))})")],
    ])('is refused if it is %s', async (_, content) => {
      const fault = await refuse(write(content), {}, { maxRows: 1000 });
      // What is no Arrow may ask for any amount of memory.
      expect(fault.detail).toMatch(/^The template (ended its process|needs more than)|^Two columns are named a/);
    });
  });

  it('what a template changes is not there in the next run', async () => {
    const poison =
      "pd.DataFrame.__len__ = lambda self: 0\nnp.sum = None\nimport builtins, json, frames, template\nbuiltins.open = None\nframes.write = None\ntemplate.run = None\njson.dumps = None\npd.secret = 'x'";
    await refuse(`${poison}\ndef transform():\n    return pd.DataFrame({'n': [1]})`);
    expect(await look("(hasattr(pd, 'secret'), np.sum([1, 2]), len(pd.DataFrame({'n': [1]})))")).toBe('(False, np.int64(3), 1)');
  });

  it('what a template writes as its result is not there in the next run', async () => {
    await refuse("import os\ndef transform():\n    os.write(4, b'SECRET' * 1000)\n    raise ValueError");
    expect(await look('(os.lseek(4, 0, 2), os.lseek(4, 0, 0), os.read(4, 100))')).toBe("(0, 0, b'')");
  });

  it('the process that forks them is the same after all of this', async () => {
    expect(await look('id(pd)')).toBe(await identity);
    expect(python.state).toEqual({ alive: 1, busy: 0, queued: 0 });
  });

  it('the same template makes the same rows', async () => {
    const template =
      "import random\ndef transform(t):\n    return t.sample(5).assign(r=np.random.rand(5), s=[random.random() for _ in range(5)], o=list({'a', 'b', 'c', 'd', 'e'}))";
    const table = { t: 'SELECT i FROM range(1000) t(i)' };
    const first = await run(template, table);
    for (let i = 0; i < 3; i += 1) expect(await run(template, table)).toEqual(first);
  });
});
