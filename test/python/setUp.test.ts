import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { DomainError } from '../../core/errors.ts';
import { createProcessRegistry } from '../../scripts/embedded/processRegistry.ts';
import { setUpPython } from '../../scripts/embedded/python.ts';
import { loadConfig } from '../../store/config.ts';
import { findBubblewrap } from '../../store/duckdb/sandbox/isolation.ts';
import { openPython } from '../../store/python/openPython.ts';
import { findPackages, findPython, type PythonPlace, readSetUp, statePath } from '../../store/python/pythonPackages.ts';
import { machine, usePython } from './world.ts';

/** Where something is missing, the service says what to install. */

const world = await usePython();
const dir = await mkdtemp(join(tmpdir(), 'svc-python-test-'));
afterAll(() => rm(dir, { recursive: true, force: true }));

const common = { processes: 1, timeoutMs: 1_000, memoryBytes: 1e9, setUpWaitMs: 1_000, dir: join(dir, 'processes') };
const refusal = (searchPath: string[], cacheDir: string) =>
  openPython({ ...common, searchPath, cacheDirs: [cacheDir] }).then(
    async (python) => {
      await python.close();
      throw new Error('it was opened');
    },
    (error: DomainError) => error,
  );

describe('not-configured', () => {
  it('without bubblewrap', async () => {
    const error = await refusal([dir], dir);
    expect([error.code, error.detail]).toEqual([
      'not-configured',
      'Python cannot be run here: bubblewrap, which shuts it in, is not installed.',
    ]);
  });

  const bwrap = findBubblewrap(machine.searchPath);
  it.skipIf(!bwrap)('without python3', async () => {
    const bin = join(dir, 'bin');
    await mkdir(bin);
    await symlink(bwrap as string, join(bin, 'bwrap'));
    await writeFile(join(bin, 'python3'), '#!/bin/sh\necho "/usr/bin/python3 2.7"\n', { mode: 0o755 });
    const error = await refusal([bin], dir);
    expect([error.code, error.detail]).toEqual([
      'not-configured',
      'Python cannot be run here: there is no python3 of version 3.9 to 3.14.',
    ]);
    expect(error.suggestedFix).toContain('apt-get install python3 python3-venv');
  });

  it('says so at the start, and goes on', async () => {
    const said: string[] = [];
    const report = { say: (line: string) => said.push(line), progress() {} };
    await setUpPython({
      config: { dataDir: dir, machine: { searchPath: [dir], cacheDir: dir } },
      report,
      registry: createProcessRegistry(null),
    });
    expect(said).toEqual([expect.stringMatching(/^Python transforms need python3/)]);
  });
});

describe.skipIf(!world)('the set-up', async () => {
  const place = (await findPython(machine.searchPath, [join(dir, 'cache')])) as PythonPlace;
  const real = findPackages((await findPython(machine.searchPath, machine.cacheDirs)) as PythonPlace) as string;
  const [target = ''] = place.packageDirs;
  const cacheDir = join(dir, 'cache');
  const begin = async (state: object) => {
    await mkdir(dirname(target), { recursive: true });
    await writeFile(statePath(target), JSON.stringify(state));
  };
  afterEach(() => rm(cacheDir, { recursive: true, force: true }));

  it('has not begun', async () => {
    expect((await refusal(machine.searchPath, cacheDir)).detail).toBe('Python cannot be run here: its packages are not set up.');
  });

  it('is waited for, and then told of', async () => {
    await begin({ status: 'installing' });
    const error = await refusal(machine.searchPath, cacheDir);
    expect([error.code, error.detail]).toEqual(['unavailable', 'Python is being set up.']);
    const opening = openPython({ ...common, searchPath: machine.searchPath, cacheDirs: [cacheDir], setUpWaitMs: 60_000 });
    await symlink(real, target);
    await (await opening).close();
  });

  it('of a service that was killed does not hold up others', async () => {
    await begin({ status: 'installing' });
    const { utimes } = await import('node:fs/promises');
    await utimes(statePath(target), 0, 0);
    expect(readSetUp(place)).toBe(null);
  });

  it('that fails says why, at the start and to those who ask', async () => {
    const said: string[] = [];
    const report = { say: (line: string) => said.push(line), progress() {} };
    process.env.PIP_NO_INDEX = '1';
    try {
      const config = { dataDir: dir, machine: { ...loadConfig().machine, cacheDir } };
      await setUpPython({ config, report, registry: createProcessRegistry(null) });
    } finally {
      delete process.env.PIP_NO_INDEX;
    }
    expect(said.at(-1)).toMatch(/^Python transforms cannot be run: pip could not install pandas and pyarrow: ERROR/);
    const error = await refusal(machine.searchPath, cacheDir);
    expect([error.code, error.detail]).toEqual([
      'not-configured',
      expect.stringMatching(/its packages could not be set up: pip could not/),
    ]);
  });
});
