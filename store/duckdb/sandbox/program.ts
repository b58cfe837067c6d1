import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { projectDir } from '../../config.ts';

/** All files of this machine that a query process needs. */
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
}

const buildDir = join(projectDir, 'build');
const childEntry = join(projectDir, 'store/duckdb/sandbox/child/main.ts');
const sourceDirs = ['core/sql', 'core/cells', 'store/duckdb', 'store/duckdb/sandbox', 'store/duckdb/sandbox/child'];

export async function findChildProgram(): Promise<ChildProgram> {
  const [bundle, loaded] = await Promise.all([prepareChildBundle(), listLoaded()]);
  return { node: process.execPath, bundle, ...loaded, extraDirs: findExtraDirs() };
}

/** Bundles the child into one file, which starts much faster; rebuilt when the sources have changed. */
export async function prepareChildBundle(entry: string = childEntry): Promise<string> {
  const path = join(buildDir, `sandbox-${hashSources(entry)}.mjs`);
  if (existsSync(path)) return path;
  // esbuild is a dependency of tsx, which the project runs with.
  const esbuild = createRequire(createRequire(import.meta.url).resolve('tsx'))('esbuild') as typeof import('esbuild');
  const { outputFiles } = await esbuild.build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    minify: true,
    keepNames: true,
    // DuckDB's package would search for its binding in places that are not visible inside the isolation.
    alias: { '@duckdb/node-bindings': './native/duckdb.node' },
    external: ['./native/duckdb.node'],
    banner: { js: "import{createRequire as makeRequire}from'node:module';const require=makeRequire(import.meta.url);" },
  });
  mkdirSync(buildDir, { recursive: true });
  // Written under another name and renamed, so that a process starting at the same time never reads half of it.
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, outputFiles[0]?.contents ?? '');
  renameSync(draft, path);
  return path;
}

function hashSources(entry: string): string {
  const hash = createHash('sha256').update(entry === childEntry ? '' : readFileSync(entry));
  for (const dir of sourceDirs) {
    for (const name of readdirSync(join(projectDir, dir)).sort()) {
      if (name.endsWith('.ts')) hash.update(name).update(readFileSync(join(projectDir, dir, name)));
    }
  }
  hash.update(readFileSync(join(projectDir, 'package-lock.json')));
  return hash.digest('hex').slice(0, 16);
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
