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
    .replace(/(?<=export TOKEN=)(\$\([^)]*\)|\S+)/, world.owner.session);
}

async function paste(path: string): Promise<{ stdout: string; stderr: string }> {
  const dir = await mkdtemp(join(tmpdir(), 'svc-tour-'));
  try {
    return await promisify(execFile)('sh', ['-c', await readExamples(path)], { cwd: dir, maxBuffer: 10_000_000 });
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** The pretty JSON documents of an output: each begins and ends with a bracket on a line of its own. */
function splitAnswers(text: string): Record<string, unknown>[] {
  return [...text.matchAll(/^\{$.*?^\}$/gms)].map(([answer]) => JSON.parse(answer) as Record<string, unknown>);
}

it.skipIf(!hasCurl())('the tour of the README does what it says when it is pasted', async () => {
  const { stdout, stderr } = await paste('README.md');
  expect(stderr).toBe('');
  // The one that the tour announces.
  expect(stdout.match(/urn:svc:problem:[\w-]+/g)).toEqual(['urn:svc:problem:version-conflict']);
  const answers = splitAnswers(stdout);
  expect(stdout.endsWith('}\n')).toBe(true);
  const rowsOf = (answer: Record<string, unknown> | undefined) => answer?.rows;
  const inOrder = answers.map(rowsOf).filter((rows) => rows !== undefined);
  expect(inOrder[0]).toContainEqual({ 店: '大阪', 期間: '2024年4月', 期間開始: '2024-04-01', 値: 90 });
  expect(answers.find(({ type }) => type === 'urn:svc:problem:version-conflict')).toMatchObject({
    current_version: 3,
    changed: [{ row_id: 1, columns: ['金額'] }],
  });
  expect(inOrder.slice(-2)).toEqual([[{ 件数: 3, 計: '3050.00' }], [{ 件数: 2, 計: '2100.00' }]]);
  expect(stdout).toMatch(/^ぶどう,950\.00,2024-04-03,3$/m);
  const once = answers.filter(({ title }) => title === 'once');
  expect(once).toHaveLength(2);
  expect(once[0]?.id).toBe(once[1]?.id);
  expect(answers.at(-1)).toMatchObject({ chain_valid: true });
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
