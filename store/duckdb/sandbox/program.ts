import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { bundleCode } from '../../builds/bundleCode.mjs';
import { keepBuild } from '../../builds/keepBuild.mjs';

/** All files of this machine that an isolated process needs, and what it may take. */
export interface ChildProgram {
  node: string;
  /** One file with the child's code and DuckDB's JavaScript. */
  bundle: string;
  /** The folder that holds DuckDB itself; the bundle asks for it as `./native`. */
  nativeDir: string;
  /** Shared libraries that Node and DuckDB load, the loader among them. */
  libraries: string[];
  /** Parts of Node that some distributions install separately. */
  extraDirs: string[];
  limits: ProgramLimits;
}

export interface ProgramLimits {
  /** Memory limit of the operating system. */
  memoryBytes: number;
  /** Of JavaScript's objects. */
  heapMb: number;
  /** Of the youngest of them, in MiB: with more room fewer are copied. Node's own default otherwise. */
  youngMb?: number;
  /** Of the others, before garbage is looked for among them: collecting often is slow where most of them stay. */
  firstOldMb?: number;
  /** For compilation, garbage collection and files; each takes memory. */
  threads: number;
  /** What the C library keeps at hand of freed memory, by its own names. Its own defaults otherwise. */
  malloc?: Record<string, number>;
  /** Whether it collects its garbage when it wants to. */
  collects?: boolean;
}

const entries = { sandbox: 'store/duckdb/sandbox/child/main.ts' };
const sources = ['core', 'store/builds', 'store/byteBuffer.ts', 'store/duckdb'];

/** To plan a query takes many small pieces of memory, and frees them: the next query takes the same ones, if they are kept at hand. */
const malloc = { tcache_count: 1_000, trim_threshold: 16 * 1024 * 1024, mmap_threshold: 4 * 1024 * 1024 };

/** DuckDB's own limit is lower than that of the process. One thread, because more would take memory that the query needs. */
const limits: ProgramLimits = { memoryBytes: 1_073_741_824, heapMb: 256, threads: 1, malloc };

export const findChildProgram = () => describeProgram(prepareChildBundle, limits);

/** The program of a bundle, with what it needs of this machine. */
export async function describeProgram(prepare: () => Promise<string>, limits: ProgramLimits): Promise<ChildProgram> {
  const [bundle, loaded] = await Promise.all([prepare(), listLoaded()]);
  return { node: process.execPath, bundle, ...loaded, extraDirs: findExtraDirs(), limits };
}

/** How the code of an isolated process is bundled. */
export const childSettings = {
  minify: true,
  keepNames: true,
  alias: { '@duckdb/node-bindings': './store/duckdb/sandbox/child/nativeBinding.cjs' },
  external: ['./native/duckdb.node'],
};

export async function prepareChildBundle(): Promise<string> {
  const dir = await keepBuild({ name: 'sandbox', sources, make: () => bundleCode({ entries, sources, settings: childSettings }) });
  return join(dir, 'sandbox.mjs');
}

/** Asks a process that has loaded DuckDB, which works for glibc and musl and any installation of Node. */
async function listLoaded(): Promise<Pick<ChildProgram, 'nativeDir' | 'libraries'>> {
  const binding = createRequire(createRequire(import.meta.url).resolve('@duckdb/node-api')).resolve('@duckdb/node-bindings');
  const report = 'process.report.excludeNetwork = true; console.log(JSON.stringify(process.report.getReport().sharedObjects))';
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', `require(${JSON.stringify(binding)}); ${report}`], { cwd: '/' });
  const paths = (JSON.parse(stdout) as string[]).filter((path) => path.startsWith('/'));
  const native = paths.find((path) => basename(path) === 'duckdb.node');
  if (native === undefined) throw new Error(`DuckDB's library is not among those that are loaded: ${paths.join(', ')}`);
  const nativeDir = dirname(native);
  return { nativeDir, libraries: paths.filter((path) => dirname(path) !== nativeDir) };
}

function findExtraDirs(): string[] {
  const { node_builtin_shareable_builtins: builtins } = process.config.variables as { node_builtin_shareable_builtins?: unknown[] };
  return builtins && builtins.length > 0 ? ['/usr/share/nodejs'] : [];
}
