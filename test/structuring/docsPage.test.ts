import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { analyze, build } from '../../core/structuring/index.ts';
import { projectDir } from '../../store/config.ts';
import { readCsv } from '../../store/csv/index.ts';

it('the example of docs/structuring.md gives the tables that the page lists', async () => {
  const page = await readFile(join(projectDir, 'docs/structuring.md'), 'utf8');
  const [, text = '', name = ''] = /printf '(.*)' > (\S+)/.exec(page) ?? [];
  const listed = /## An example.*?(?=\n## )/s.exec(page)?.[0].matchAll(/^\| `([^`]+)`/gm) ?? [];
  const folder = await mkdtemp(join(tmpdir(), 'svc-test-page-'));
  try {
    const path = join(folder, name);
    await writeFile(path, text.replaceAll('\\n', '\n'));
    const grids = [(await readCsv(path)).grid];
    const { tables, conservation } = build(grids, analyze(grids, name), name);
    expect(tables.map((table) => table.name).sort()).toEqual([...listed].map(([, table]) => table).sort());
    expect(tables.length).toBe(5);
    expect(conservation.flatMap(({ lost, twice }) => [...lost, ...twice])).toEqual([]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
