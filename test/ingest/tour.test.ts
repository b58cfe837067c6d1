import { execFile, execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { useWorld } from './world.ts';

/** The tour of the README, pasted. */

const world = await useWorld();

function hasCurl(): boolean {
  try {
    execFileSync('curl', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

async function readTour(): Promise<string> {
  const readme = await readFile(fileURLToPath(new URL('../../README.md', import.meta.url)), 'utf8');
  const tour = /## A five-minute tour.*?```sh\n(.*?)```/s.exec(readme)?.[1] ?? '';
  return tour.replace(/(?<=export URL=)\S+/, world.api.url).replace(/(?<=export TOKEN=)\S+/, world.owner.session);
}

it.skipIf(!hasCurl())('does what it says when it is pasted', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'svc-tour-'));
  try {
    const { stdout, stderr } = await promisify(execFile)('sh', ['-c', await readTour()], { cwd: dir, maxBuffer: 10_000_000 });
    expect(stderr).toBe('');
    expect(stdout).not.toContain('urn:svc:problem');
    expect(stdout).toContain('{"店":"大阪","期間":"2024年4月","期間開始":"2024-04-01","値":90}');
    expect(stdout).toContain('{"edit_version":3,');
    expect(stdout.match(/"計":"2100.00"/g)).toHaveLength(1);
    expect(stdout).toContain('"chain_valid":true');
    const once = stdout.match(/"id":"wb_\w+","title":"once"/g);
    expect(once).toHaveLength(2);
    expect(once?.[0]).toBe(once?.[1]);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});
