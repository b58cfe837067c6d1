// Stands in for the child inside of an isolation and tries to get out: what it reaches is what the isolation lets through, with no
// other wall before it. Plain JavaScript, since it is bound into the isolation as it is.
import { spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { connect, Socket } from 'node:net';

const [inDir, outDir] = process.argv.slice(2);
const socket = new Socket({ fd: 3, readable: true, writable: true });

function send(header) {
  const text = Buffer.from(JSON.stringify(header));
  const prefix = Buffer.alloc(8);
  prefix.writeUInt32LE(text.length, 0);
  socket.write(Buffer.concat([prefix, text]));
}

async function attempt(work) {
  try {
    const value = await work();
    return { did: true, value: typeof value === 'string' ? value.slice(0, 300) : (value ?? null) };
  } catch (error) {
    return { did: false, why: String(error?.code ?? error?.message ?? error).slice(0, 300) };
  }
}

const reach = (port, host) =>
  new Promise((done, fail) => {
    const probe = connect({ port, host, timeout: 1000 }, () => done('connected'));
    probe.on('error', fail);
    probe.on('timeout', () => fail(new Error('timeout')));
  });

/** DuckDB without a single restriction. */
async function runSql(sql) {
  const duckdb = createRequire(import.meta.url)('./native/duckdb.node');
  const connection = await duckdb.connect(await duckdb.open(':memory:'));
  const result = await duckdb.query(connection, sql);
  const chunk = await duckdb.fetch_chunk(result);
  return chunk ? duckdb.data_chunk_get_size(chunk) : 0;
}

const tricks = {
  root: () => readdirSync('/').join(' '),
  passwd: () => readFileSync('/etc/passwd', 'utf8'),
  environment: () => JSON.stringify(process.env),
  parentEnvironment: () => readFileSync('/proc/1/environ', 'utf8'),
  ids: () => `${process.getuid()} ${process.getgid()}`,
  path: ({ path }) => readFileSync(path, 'utf8'),
  list: ({ path }) => readdirSync(path).join(' '),
  network: ({ port }) => reach(port, '127.0.0.1'),
  outside: () => reach(80, '93.184.215.14'),
  shell: () => String(spawnSync('/bin/sh', ['-c', 'id']).error ?? 'ran a shell'),
  nodeAgain: () => String(spawnSync(process.execPath, ['-e', 'console.log(require("os").hostname())']).stdout),
  leave: ({ mark }) => {
    spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60000)', mark], { detached: true, stdio: ['pipe', 'pipe', 'pipe'] }).unref();
    return 'left a process behind';
  },
  kill: ({ pid }) => process.kill(pid, 'SIGKILL') && 'killed',
  writeIn: () => writeFileSync(`${inDir}/open/new`, 'x'),
  overwriteIn: () => writeFileSync(`${inDir}/open/0.parquet`, 'x'),
  writeRoot: () => writeFileSync('/new', 'x'),
  writeOut: () => writeFileSync(`${outDir}/new`, 'x'),
  memory: () => {
    const held = [];
    for (let i = 0; i < 40; i += 1) held.push(Buffer.alloc(64 * 1024 * 1024, 1));
    return `allocated ${held.length * 64} MB`;
  },
  sql: ({ sql }) => runSql(sql),
};

let rest = Buffer.alloc(0);
socket.on('data', async (chunk) => {
  rest = Buffer.concat([rest, chunk]);
  const length = rest.length < 8 ? Infinity : rest.readUInt32LE(0);
  if (rest.length < 8 + length) return;
  const request = JSON.parse(rest.toString('utf8', 8, 8 + length));
  rest = rest.subarray(8 + length);
  send({ ok: true, value: await attempt(() => tricks[request.trick](request)) });
});
socket.on('close', () => process.kill(process.pid, 'SIGKILL'));
send({ ready: true });
