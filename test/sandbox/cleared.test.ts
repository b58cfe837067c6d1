import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findBubblewrap } from '../../store/duckdb/sandbox/isolation.ts';
import type { IsolationChoice } from '../../store/duckdb/sandbox/openIsolation.ts';
import type { Sandbox } from '../../store/duckdb/sandbox/sandbox.ts';
import { makeWorld, searchPath, type World } from './world.ts';

/** Somebody clears away folders of the sandbox while it is in use: no query fails of it. */

const isolations: IsolationChoice[] = [
  ...(findBubblewrap(searchPath) ? (['bubblewrap'] as const) : []),
  ...(process.getuid?.() === 0 ? (['user'] as const) : []),
];
const processes = 2;

let world: World;
beforeAll(async () => {
  world = await makeWorld();
});
afterAll(() => world?.close());

describe.each(isolations)('openSandbox, isolation %s', (isolation) => {
  let sandbox: Sandbox;
  let workDir: string;
  beforeAll(async () => {
    sandbox = await world.open({ dir: await mkdtemp(join(world.dir, 'cleared-')), isolation, processes });
    workDir = await findWorkDir();
  });
  afterAll(() => sandbox?.close());

  const keep = (sql: string) => world.run(sandbox, sql, { keepResult: true, userId: `usr_${Math.random()}` });
  const findWorkDir = async () => dirname((await keep('SELECT 1 AS a')).resultFile as string);
  const listChildren = async () => (await readdir(workDir)).filter((name) => name.startsWith('child-'));

  /** More queries than there are processes, with files to read and results to write. */
  async function expectAnswers(): Promise<void> {
    const answers = Array.from({ length: 3 * processes }, () => keep('SELECT sum(金額) AS s FROM 売上'));
    for (const { pageJson, rowCount } of await Promise.all(answers))
      expect([JSON.parse(String(pageJson)), rowCount]).toEqual([[{ s: 600 }], 1]);
    await expect.poll(() => sandbox.state.alive).toBe(processes + 1);
  }

  it.each(['in/open', 'in', 'out', ''])('the processes that stand ready lose "%s"', async (part) => {
    await expectAnswers();
    const children = await listChildren();
    expect(children.length).toBeGreaterThan(processes);
    for (const name of children) await rm(join(workDir, name, part), { recursive: true });
    await expectAnswers();
  });

  it('all of it goes', async () => {
    await rm(workDir, { recursive: true });
    await expectAnswers();
    const next = await findWorkDir();
    // In a folder that is everybody's, somebody else could have taken the old name meanwhile.
    expect(next).not.toBe(workDir);
    workDir = next;
    await expectAnswers();
  });

  it.runIf(isolation === 'user')('the programs that it starts go', async () => {
    await rm(join(workDir, 'app', 'native'), { recursive: true });
    for (const name of await listChildren()) await rm(join(workDir, name), { recursive: true });
    await expectAnswers();
    workDir = await findWorkDir();
    expect((await readdir(workDir)).includes('app')).toBe(true);
  });

  it('and an end leaves nothing behind', async () => {
    await sandbox.close();
    await expect(readdir(workDir)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
