import { execFile, execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { projectDir } from '../../store/config.ts';
import { useWorld } from './world.ts';

/** The examples for people, pasted into a shell. */

const world = await useWorld();

function hasCurl(): boolean {
  try {
    execFileSync('curl', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** All examples of a page as one script, with the address and a session of this test in place of the reader's own. */
async function readExamples(path: string): Promise<string> {
  const page = await readFile(join(projectDir, path), 'utf8');
  const from = page.indexOf('export URL=');
  const blocks = [...page.slice(page.lastIndexOf('```sh', from)).matchAll(/^```sh\n(.*?)^```/gms)].map(([, block]) => block);
  return blocks
    .join('\n')
    .replace(/(?<=export URL=)\S+/, world.api.url)
    .replace(/(?<=export TOKEN=)\S+/, world.owner.session);
}

async function paste(path: string): Promise<{ stdout: string; stderr: string }> {
  const dir = await mkdtemp(join(tmpdir(), 'svc-tour-'));
  try {
    return await promisify(execFile)('sh', ['-c', await readExamples(path)], { cwd: dir, maxBuffer: 10_000_000 });
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

it.skipIf(!hasCurl())('the tour of the README does what it says when it is pasted', async () => {
  const { stdout, stderr } = await paste('README.md');
  expect(stderr).toBe('');
  expect(stdout).not.toContain('urn:svc:problem');
  expect(stdout).toContain('{"店":"大阪","期間":"2024年4月","期間開始":"2024-04-01","値":90}');
  expect(stdout).toContain('{"edit_version":3,');
  expect(stdout.match(/"計":"2100.00"/g)).toHaveLength(1);
  expect(stdout).toContain('"chain_valid":true');
  const once = stdout.match(/"id":"wb_\w+","title":"once"/g);
  expect(once).toHaveLength(2);
  expect(once?.[0]).toBe(once?.[1]);
});

it.skipIf(!hasCurl())('the examples of docs/api.md answer what the page says', async () => {
  const { stdout, stderr } = await paste('docs/api.md');
  expect(stderr).toBe('');
  // The two that the page announces.
  expect(stdout.match(/urn:svc:problem:[\w-]+/g)).toEqual(['urn:svc:problem:version-conflict', 'urn:svc:problem:validation-failed']);
  expect(stdout).toContain('"changed":[{"row_id":1,"columns":["数量"]}]');
  expect(stdout).toContain('"rows":[{"数量":"9007199254740993"');
  expect(stdout).toContain('"structuring":"skipped"');
  expect(stdout).toContain('"name":"店別売上"');
  expect(stdout).toContain('"valid":false');
  expect(stdout).toContain('"chain_valid":true');
});
