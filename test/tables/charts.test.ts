import { describe, expect, it } from 'vitest';
import { removeChart } from '../../activities/charts/removeChart.ts';
import { DomainError } from '../../core/errors.ts';
import { ok } from '../setup/api.ts';
import { makeChart } from '../setup/charts.ts';
import { setPolicy, showColumns } from '../setup/governance.ts';
import { useWorkbook } from './tableDriver.ts';

const { api, world } = await useWorkbook();

const sales = await world.makeTable('月次売上', [
  { name: '月', type: 'DATE' },
  { name: '部門', type: 'VARCHAR' },
  { name: '売上', type: 'DECIMAL(18,2)' },
  { name: 'No.', type: 'BIGINT' },
]);
ok(
  await sales.upsert([
    { 月: '2026-01-01', 部門: '営業', 売上: '1200.5', 'No.': 1 },
    { 月: '2026-02-01', 部門: '開発 <b>', 売上: '900', 'No.': 2 },
    { 月: '2026-03-01', 部門: 'url(https://example.com/x.svg)', 売上: '12345678901234.25', 'No.': 3 },
  ]),
);

const bars = {
  title: '部門別の売上高',
  mark: 'bar',
  encoding: { x: { field: '部門', type: 'nominal' }, y: { field: '売上', type: 'quantitative', aggregate: 'sum' } },
};
const make = (name: string, config: Record<string, unknown>, table = '月次売上') =>
  makeChart(api, world.owner.session, { workbookId: world.workbookId, name, table, config });

async function draw(name: string, as: 'svg' | 'png') {
  const path = `/api/v1/workbooks/${world.workbookId}/charts/${encodeURIComponent(name)}/${as}`;
  const answer = await api.fetch(path, { token: world.owner.session });
  const bytes = Buffer.from(await answer.arrayBuffer());
  return { status: answer.status, type: answer.headers.get('content-type'), bytes, text: bytes.toString() };
}

async function refusalOf(making: Promise<unknown>): Promise<DomainError> {
  const error = await making.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(DomainError);
  return error as DomainError;
}

describe('a chart', () => {
  it('is drawn over the rows that its table has now, with its recipe kept', async () => {
    const made = await make('売上の図', bars);
    expect(made).toMatchObject({ isNew: true, warnings: [], chart: { chartType: 'bar', title: '部門別の売上高', tableName: '月次売上' } });
    const before = await draw('売上の図', 'svg');
    expect([before.status, before.type]).toEqual([200, 'image/svg+xml']);
    for (const word of ['部門別の売上高', '営業', '開発 &lt;b&gt;', 'Sum of 売上']) expect(before.text).toContain(word);
    ok(await sales.upsert([{ 月: '2026-04-01', 部門: '管理', 売上: 5, 'No.': 4 }]));
    expect((await draw('売上の図', 'svg')).text).toContain('管理');
    const { charts } = ok(
      await world.owner.client.GET('/api/v1/workbooks/{workbook_id}/charts', { params: { path: { workbook_id: world.workbookId } } }),
    );
    expect(charts).toMatchObject([
      { name: '売上の図', config: bars, recipe: { tool: 'create_chart', table: '月次売上' }, config_omitted: null },
    ]);
  });

  it('is a PNG with Japanese glyphs', async () => {
    const { status, type, bytes } = await draw('売上の図', 'png');
    expect([status, type, bytes.subarray(1, 4).toString()]).toEqual([200, 'image/png', 'PNG']);
    await make('売上の図', { ...bars, title: 'ABCDEFG' });
    // The same picture with another title: the glyphs of the first were no empty boxes, or both would be alike.
    const other = await draw('売上の図', 'png');
    expect(other.bytes.equals(bytes)).toBe(false);
    await make('売上の図', { ...bars, title: '部門別の仕入高' });
    expect((await draw('売上の図', 'png')).bytes.equals(bytes)).toBe(false);
  });

  it('is replaced by one of the same name, noted in the journal, and deleted', async () => {
    const before = await make('線', {
      mark: 'line',
      encoding: { x: { field: '月', type: 'temporal' }, y: { field: '売上', type: 'quantitative' } },
    });
    const after = await make('線', { mark: { type: 'area' }, encoding: bars.encoding });
    expect(after).toMatchObject({ isNew: false, chart: { id: before.chart.id, chartType: 'area' } });
    expect((await refusalOf(make('月次売上', bars))).code).toBe('name-taken');
    const actor = { name: 'x', userId: null, credential: 'none', requestId: 'req_test' };
    await removeChart(api.services, actor, world.workbookId, '線');
    expect((await draw('線', 'svg')).status).toBe(404);
    const { rows } = await api.sql.query<{ type: string; name: string }>(
      `SELECT type, data->>'name' AS name FROM outbox WHERE data->>'kind' = 'chart' AND data->>'name' = '線' ORDER BY seq`,
    );
    expect(rows.map(({ type }) => type)).toEqual(['artifact.updated', 'artifact.updated', 'artifact.deleted']);
  });

  it('takes fields whose names must be escaped, and what transforms make', async () => {
    const config = {
      mark: 'point',
      transform: [{ calculate: "datum['売上'] * 2", as: '倍' }],
      encoding: { x: { field: 'No\\.', type: 'quantitative' }, y: { field: '倍', type: 'quantitative' } },
    };
    expect((await make('倍', config)).warnings).toEqual([]);
    expect((await draw('倍', 'svg')).text).toContain('No.');
  });

  it('says what Vega-Lite has left out', async () => {
    const { warnings } = await make('警告', { ...bars, encoding: { ...bars.encoding, shapes: { field: '部門' } } });
    expect(warnings.join()).toContain('shapes');
  });

  it('is told when its table is gone or has lost the column', async () => {
    const table = await world.makeTable('一時', [
      { name: 'a', type: 'BIGINT' },
      { name: 'b', type: 'BIGINT' },
    ]);
    await make('一時の図', { mark: 'bar', encoding: { x: { field: 'a', type: 'ordinal' } } }, '一時');
    expect((await draw('一時の図', 'svg')).status).toBe(200);
    ok(await table.drop('a'));
    const lost = await draw('一時の図', 'svg');
    expect([lost.status, lost.text]).toEqual([422, expect.stringContaining('is not a column of the table, which has b')]);
    const gone = { params: { path: { workbook_id: world.workbookId, name: '一時' }, query: { expected_version: 'null' } } };
    ok(await world.owner.client.DELETE('/api/v1/workbooks/{workbook_id}/tables/{name}', gone));
    const answer = await draw('一時の図', 'svg');
    expect([answer.status, answer.text]).toEqual([404, expect.stringContaining('was deleted')]);
  });

  it('is shown by nobody in a governed workbook', async () => {
    await setPolicy(world.owner.client, world.workbookId, 'pii', 'mask');
    for (const as of ['svg', 'png'] as const) {
      const { status, text } = await draw('売上の図', as);
      expect([status, text]).toEqual([403, expect.stringContaining('governed-workbook')]);
    }
    expect((await refusalOf(make('新しい図', bars))).code).toBe('governed-workbook');
    await showColumns(world.owner.client, world.workbookId);
  });
});

describe('a config that is refused changes nothing', () => {
  const point = { mark: 'point', encoding: { x: { field: '売上', type: 'quantitative' } } };
  it.each<[string, Record<string, unknown>, string]>([
    ['data from an address', { ...bars, data: { url: 'http://169.254.169.254/' } }, '/config/data: is not taken'],
    ['data of its own', { ...bars, data: { values: [{ a: 1 }] } }, '/config/data'],
    [
      'data of a lookup',
      { ...bars, transform: [{ lookup: '部門', from: { data: { url: 'x.csv' }, key: 'a' } }] },
      '/config/transform/0/from/data',
    ],
    ['named data', { ...bars, datasets: { a: [] } }, '/config/datasets'],
    ['images', { mark: { type: 'image' }, encoding: {} }, '/config/mark'],
    ['images in a layer', { layer: [{ mark: 'image' }] }, '/config/layer/0/mark'],
    ['addresses of images', { mark: 'point', encoding: { url: { value: 'http://example.com/a.png' } } }, '/config/encoding/url'],
    ['links', { mark: 'point', encoding: { href: { value: 'javascript:alert(1)' } } }, '/config/encoding/href'],
    ['links of marks', { mark: { type: 'bar', href: 'http://example.com' } }, '/config/mark/href'],
    [
      'colours that are addresses',
      { mark: { type: 'bar', fill: 'url(http://example.com/a.svg)' }, encoding: bars.encoding },
      'refer to something outside',
    ],
    [
      'colours from cells that are addresses',
      { mark: 'bar', encoding: { ...bars.encoding, color: { field: '部門', type: 'nominal', scale: null } } },
      'refer to something outside',
    ],
    [
      'columns that are not there',
      { mark: 'bar', encoding: { x: { field: '部', type: 'nominal' } } },
      '/config/encoding/x/field: is not a column of the table; did you mean 部門?',
    ],
    ['dots that are not escaped', { mark: 'bar', encoding: { x: { field: 'No.', type: 'ordinal' } } }, 'write No\\\\.'],
    ['no mark', { encoding: {} }, '/config: '],
    ['an unknown mark', { mark: 'pie', encoding: {} }, '/config: '],
    [
      'calls of what is no function',
      { ...point, transform: [{ calculate: "fetch('http://example.com')", as: 'x' }] },
      'Unrecognized function',
    ],
    ['constructors', { ...point, transform: [{ calculate: "datum.constructor.constructor('return process')()", as: 'x' }] }, '/config: '],
    ['assignments', { ...point, transform: [{ filter: 'datum.x = 1' }] }, '/config: '],
    ['nesting without end', JSON.parse(`${'{"layer":['.repeat(60)}${']}'.repeat(60)}`) as Record<string, unknown>, 'levels deep'],
    ['very long ones', { ...bars, description: 'x'.repeat(70_000) }, 'longer than 64 KiB'],
  ])('%s', async (_what, config, says) => {
    const { code, detail } = await refusalOf(make('悪い図', config));
    expect([code, detail]).toEqual(['validation-failed', expect.stringContaining(says.replaceAll('\\\\', '\\'))]);
    expect((await draw('悪い図', 'svg')).status).toBe(404);
  });

  it.each<[string, Record<string, unknown>]>([
    ['pictures as large as a house', { ...bars, width: 100_000, height: 100_000 }],
    ['rows without end', { ...point, transform: [{ calculate: 'sequence(0, 1e9)', as: 'x' }, { flatten: ['x'] }] }],
    ['patterns that never end', { ...point, transform: [{ filter: `test(/^(a+)+$/, '${'a'.repeat(60)}!')` }] }],
  ])('%s, while others are answered', async (_what, config) => {
    const refused = refusalOf(make('重い図', config));
    const me = api.fetch('/api/v1/me', { token: world.owner.session });
    // Nobody's request waits for it.
    expect((await me).status).toBe(200);
    expect((await refused).code).toBe('too-large');
  });

  it('a table of too many rows', async () => {
    await world.makeTable('長い', [{ name: 'a', type: 'BIGINT' }]);
    await api.sql.query(`UPDATE tables SET row_count = 100001 WHERE name = '長い'`).catch(() => null);
    const { code, detail } = await refusalOf(make('長い図', { mark: 'bar', encoding: { x: { field: 'a' } } }, '長い'));
    expect([code, detail]).toEqual(['too-large', expect.stringContaining('100001 rows')]);
  });
});
