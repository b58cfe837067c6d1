import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { projectDir } from '../../store/config.ts';
import { usePython } from './world.ts';

/** The examples of docs/python.md run. */

const world = await usePython();
const page = readFileSync(join(projectDir, 'docs/python.md'), 'utf8');
const examples = [...page.matchAll(/^```python\n(.*?)^```$/gms)].map(([, code = '']): [string, string] => [
  code.trim().split('\n')[0] ?? '',
  code,
]);

const tables: Record<string, string> = {
  sales: `SELECT * FROM (VALUES (DATE '2024-04-01', '東京', '茶', 2::BIGINT, 1.50::DECIMAL(9,2), 300::BIGINT), (DATE '2024-04-02', '大阪', '米', NULL, 2.25, 100),
    (DATE '2024-05-01', '東京', '米', 1, NULL, 50)) t(日付, 店, 商品, 数量, 単価, 金額)`,
  stores: "SELECT * FROM (VALUES ('東京', '東京都'), ('大阪', '大阪府')) t(店, 県)",
};

const expected = [
  {
    columns: [
      ['月', 'VARCHAR'],
      ['金額', 'BIGINT'],
    ],
    values: [
      ['2024-04', '2024-05'],
      ['400', '50'],
    ],
  },
  {
    columns: [
      ['県', 'VARCHAR'],
      ['米', 'BIGINT'],
      ['茶', 'BIGINT'],
    ],
    values: [
      ['大阪府', '東京都'],
      ['0', '1'],
      ['0', '2'],
    ],
  },
  {
    columns: expect.arrayContaining([
      ['税込', 'DECIMAL(29,2)'],
      ['曜日', 'BIGINT'],
    ]),
    rowCount: 2,
  },
  {
    columns: [
      ['月', 'VARCHAR'],
      ['店', 'VARCHAR'],
      ['件数', 'BIGINT'],
    ],
    rowCount: 3,
  },
];

it('there is a result for each example', () => expect(expected).toHaveLength(examples.length));

it.skipIf(!world).each(examples.map((example, i) => [...example, expected[i]] as const))('%s', async (_, template, result) => {
  const names = /def transform\((.*?)\)/.exec(template)?.[1]?.split(', ') ?? [];
  const made = await (world as NonNullable<typeof world>).run(
    template,
    Object.fromEntries(names.map((name) => [name, tables[name] ?? ''])),
  );
  expect(made).toMatchObject(result as object);
});
