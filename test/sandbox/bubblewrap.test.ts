import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ensureBubblewrap } from '../../scripts/embedded/bubblewrap.ts';
import { createProcessRegistry } from '../../scripts/embedded/processRegistry.ts';
import { openSandbox } from '../../store/duckdb/sandbox/sandbox.ts';

/** Set-up on machines without bubblewrap, played with programs of our own in place of the system's. */

let dir: string;
let said: string[];
const report = { say: (line: string) => said.push(line), progress() {} };
const ensure = () => ensureBubblewrap({ report, registry: createProcessRegistry(null), searchPath: [join(dir, 'bin')] });

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'svc-bwrap-test-'));
  await mkdir(join(dir, 'bin'));
  said = [];
});
afterEach(() => rm(dir, { recursive: true, force: true }));

async function program(name: string, script: string): Promise<void> {
  await writeFile(join(dir, 'bin', name), `#!/bin/sh\n${script}\n`);
  await chmod(join(dir, 'bin', name), 0o755);
}

const isRoot = process.getuid?.() === 0;

describe('openSandbox with bubblewrap', () => {
  it('is found on the PATH', async () => {
    await program('bwrap', 'exit 0');
    expect([await ensure(), said]).toEqual([join(dir, 'bin', 'bwrap'), []]);
  });

  it.runIf(isRoot)('is installed by apt-get, with a new list of packages where the old one does not have it', async () => {
    await program(
      'apt-get',
      `echo "$*" >> ${dir}/calls\ncase "$*" in *update*) touch ${dir}/lists;; *) [ -e ${dir}/lists ] || { echo 'E: Unable to locate package'; exit 100; }; cp ${dir}/bin/apt-get ${dir}/bin/bwrap;; esac`,
    );
    expect(await ensure()).toBe(join(dir, 'bin', 'bwrap'));
    const calls = (await readFile(join(dir, 'calls'), 'utf8'))
      .trim()
      .split('\n')
      .map((line) => line.replace(/-o \S+ /, ''));
    expect(calls).toEqual(['install -y --no-install-recommends bubblewrap', 'update', 'install -y --no-install-recommends bubblewrap']);
  });

  it.runIf(isRoot)('says what apt-get said when that fails', async () => {
    await program('apt-get', "echo 'E: no network'; exit 100");
    expect(await ensure()).toBeNull();
    expect(said.join('\n')).toMatch(/could not be installed:\nE: no network\nInstall it with: sudo apt-get install bubblewrap/);
  });

  it('is needed where there is no other way', async () => {
    const opening = openSandbox({ dir: join(dir, 'sandbox'), searchPath: [], isolation: 'bubblewrap' });
    await expect(opening.then((sandbox) => sandbox.close())).rejects.toThrow(
      /need a sandbox.*Install bubblewrap.*\n- bubblewrap \(the program bwrap\) is not installed/s,
    );
  });

  it('must work, not just be there', async () => {
    await program('bwrap', "echo 'bwrap: No permissions to create new namespace' >&2; exit 1");
    const opening = openSandbox({ dir: join(dir, 'sandbox'), searchPath: [join(dir, 'bin')], isolation: 'bubblewrap' });
    await expect(opening.then((sandbox) => sandbox.close())).rejects.toThrow(/No permissions to create new namespace/);
  });
});
