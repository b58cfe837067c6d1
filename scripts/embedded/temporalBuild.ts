import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { inheritEnv } from '../../store/childEnv.ts';
import { runCommand } from './command.ts';
import { showProgress } from './report.ts';
import { findProblem } from './temporalCheck.ts';
import type { MadeProgram, MakeOptions } from './temporalOptions.ts';

/** Builds Temporal's program from source: several minutes the first time, with Go's own caches much less. */
export async function buildTemporal({ config, report, registry, signal, workDir, version }: MakeOptions): Promise<MadeProgram> {
  const go = findGo(config.machine.searchPath);
  if (!go.ok) return { ok: false, why: `build: ${go.why}` };
  report.say(`Building Temporal ${version} with Go ${go.version}. This takes several minutes, once`);
  const counts = { downloaded: 0, built: 0 };
  const work = runCommand({
    program: go.program,
    args: ['install', '-v', '-ldflags=-s -w', `github.com/temporalio/cli/cmd/temporal@${version}`],
    env: inheritEnv({
      GOBIN: workDir,
      GOFLAGS: '-buildvcs=false',
      GO111MODULE: 'on',
      ...chooseToolchain(go.minor),
      ...chooseFolders(join(config.dataDir, 'cache')),
    }),
    registry,
    signal,
    onLine: (line) => {
      // With -v go names each module it fetches and each package it compiles.
      if (line.startsWith('go: ')) counts.downloaded++;
      else counts.built++;
    },
  });
  const finished = await showProgress(
    report,
    (seconds) => `Building Temporal: ${counts.downloaded} modules downloaded, ${counts.built} packages built, ${seconds} s`,
    work,
  );
  const program = join(workDir, 'temporal');
  const problem = finished.ok ? findProblem(program) : finished.tail.slice(-5).join('\n    ');
  return problem === null ? { ok: true, program } : { ok: false, why: `build: ${problem}` };
}

type Go = { ok: true; program: string; version: string; minor: number } | { ok: false; why: string };

function findGo(searchPath: string[]): Go {
  // Where Go's own installer puts it, which is often not on the PATH of a service.
  const program = [...searchPath, '/usr/local/go/bin'].map((dir) => join(dir, 'go')).find((path) => existsSync(path));
  if (!program) return { ok: false, why: 'Go is not installed' };
  const { stdout } = spawnSync(program, ['version'], { encoding: 'utf8', cwd: '/' });
  const version = /go(\d+\.(\d+)[.\w]*)/.exec(stdout ?? '');
  const minor = Number(version?.[2] ?? 0);
  // From 1.21 on, Go fetches a newer Go by itself.
  if (minor < 21) return { ok: false, why: `Go ${version?.[1] ?? 'of unknown version'} is too old, 1.25 is needed` };
  return { ok: true, program, version: version?.[1] ?? '', minor };
}

function chooseToolchain(minor: number): Record<string, string> {
  return minor < 25 ? { GOTOOLCHAIN: 'auto' } : {};
}

/** Go keeps its caches in the home, unless there is none to write to. */
function chooseFolders(fallback: string): Record<string, string> {
  try {
    accessSync(homedir(), constants.W_OK);
    return {};
  } catch {
    return { HOME: fallback, GOPATH: join(fallback, 'go'), GOCACHE: join(fallback, 'go-build') };
  }
}
