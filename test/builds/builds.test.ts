import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleCode } from '../../store/builds/bundleCode.mjs';
import { keepBuild } from '../../store/builds/keepBuild.mjs';
import { prepareProgram } from '../../store/builds/programs.mjs';
import { inheritEnv } from '../../store/childEnv.ts';
import { projectDir } from '../../store/config.ts';
import { variableNames } from '../../store/variables.ts';

const run = promisify(execFile);
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-test-builds-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A source of its own, and a folder of its own for what is made of it. */
async function makeSource(name: string, text: string): Promise<{ source: string; dir: string; change(text: string): Promise<void> }> {
  const path = join(folder, `${name}.txt`);
  const change = (next: string) => writeFile(path, next);
  await change(text);
  return { source: relative(projectDir, path), dir: join(folder, `build-${name}`), change };
}

describe('a build', () => {
  it('is made once, and anew when its sources change', async () => {
    const { source, dir, change } = await makeSource('once', 'one');
    let made = 0;
    const keep = () => keepBuild({ name: 'thing', sources: [source], dir, make: async () => ({ 'number.txt': String(++made) }) });
    const first = await keep();
    expect(await keep()).toBe(first);
    await change('two');
    const second = await keep();
    expect(second).not.toBe(first);
    expect([await readFile(join(first, 'number.txt'), 'utf8'), await readFile(join(second, 'number.txt'), 'utf8')]).toEqual(['1', '2']);
    await change('one');
    expect([await keep(), made]).toEqual([first, 2]);
  });

  it('that failed leaves nothing', async () => {
    const { source, dir } = await makeSource('failing', 'one');
    const make = () => Promise.reject(new Error('no'));
    await expect(keepBuild({ name: 'thing', sources: [source], dir, make })).rejects.toThrow('no');
    expect(existsSync(dir)).toBe(false);
  });

  it('is removed an hour after its last use, when the next is made', async () => {
    const { source, dir, change } = await makeSource('stale', '1');
    const keep = (name = 'thing') => keepBuild({ name, sources: [source], dir, make: async () => ({ 'file.txt': '' }) });
    const longAgo = new Date(Date.now() - 61 * 60_000);
    const unused = await keep();
    const other = await keep('other');
    await mkdir(join(dir, 'draft-killed'));
    await change('2');
    const used = await keep();
    for (const path of [unused, other, used, join(dir, 'draft-killed')]) await utimes(path, longAgo, longAgo);
    // Asking for it counts as using it.
    await keep();
    await change('3');
    const current = await keep();
    expect((await readdir(dir)).map((name) => join(dir, name)).sort()).toEqual([other, used, current].sort());
  });

  it('is whole for each of several processes that make it at once', async () => {
    const { source, dir } = await makeSource('race', 'one');
    const mechanism = join(projectDir, 'store/builds/keepBuild.mjs');
    const code = `
      const { keepBuild } = await import(${JSON.stringify(mechanism)});
      const content = 'x'.repeat(4_000_000);
      const make = async () => { await new Promise((done) => setTimeout(done, 300)); return { 'a.txt': content, 'b.txt': content }; };
      console.log(await keepBuild({ name: 'thing', sources: ${JSON.stringify([source])}, dir: ${JSON.stringify(dir)}, make }));`;
    const children = await Promise.all([1, 2, 3, 4].map(() => run(process.execPath, ['--input-type=module', '-e', code])));
    const paths = new Set(children.map(({ stdout }) => stdout.trim()));
    expect(paths.size).toBe(1);
    const [path = ''] = paths;
    for (const file of ['a.txt', 'b.txt']) expect((await readFile(join(path, file))).length).toBe(4_000_000);
    expect((await readdir(dir)).length).toBe(1);
  });
});

describe('a bundle', () => {
  it('may not have code that is not among its sources: a change of it would go unnoticed', async () => {
    const options = { entries: { a1: 'core/a1/address.ts' }, settings: {} };
    expect(Object.keys(await bundleCode({ ...options, sources: ['core'] }))).toEqual(['a1.mjs']);
    await expect(bundleCode({ ...options, sources: ['core/sql'] })).rejects.toThrow('core/a1/address.ts must be among the sources');
  });

  it.each(['api', 'worker'] as const)('of the %s has all the packages that it needs', async (name) => {
    const unset = Object.fromEntries(variableNames.map((variable) => [variable, undefined]));
    const { stderr } = (await run(process.execPath, [await prepareProgram(name)], { env: inheritEnv(unset) }).catch(
      (error: unknown) => error,
    )) as { stderr: string };
    expect(stderr).toMatch(new RegExp(`^${name}: cannot start: DATABASE_URL is not set`));
  });

  it('shows errors at their place in the sources', async () => {
    const { stderr } = (await run(process.execPath, ['--enable-source-maps', await prepareProgram('one'), 'nonsense'], {
      env: inheritEnv({ SVC_LOG_LEVEL: 'debug' }),
    }).catch((error: unknown) => error)) as { stderr: string };
    expect(stderr).toContain('Say which part to run');
    expect(stderr).toContain(join(projectDir, 'scripts/one.ts'));
  });
});
