import { beforeAll, describe, expect, it } from 'vitest';
import type { components } from '../../schema/contract.ts';
import { ok, refused } from '../setup/api.ts';
import { makeTable } from '../setup/tables.ts';
import { makeBook } from '../xlsx/makeWorkbook.ts';
import { bare, makeIncomeStatement, makeXlsx, useWorld } from './world.ts';

type Schemas = components['schemas'];

const world = await useWorld();
const statement = await makeIncomeStatement();
beforeAll(() => world.upload('損益.xlsx', statement));

const preview = async (name: string, query: { sheet?: string; range?: string } = {}, workbookId = world.workbookId) => {
  const params = { path: { workbook_id: workbookId, source_name: name }, query };
  const answer = await world.owner.client.GET('/api/v1/workbooks/{workbook_id}/sources/{source_name}/preview', { params });
  return { ...answer, data: answer.data as Schemas['SourcePreview'] | undefined };
};
const draw = (name: string, query: string, workbookId = world.workbookId) =>
  world.api.fetch(`/api/v1/workbooks/${workbookId}/sources/${encodeURIComponent(name)}/preview?${query}`, { token: world.owner.session });
const download = (name: string, workbookId = world.workbookId) =>
  world.api.fetch(`/api/v1/workbooks/${workbookId}/sources/${encodeURIComponent(name)}/download`, { token: world.owner.session });

/** Which columns of the structured table come from which of the raw one. */
function flowsFromRaw({ nodes, edges }: Schemas['TableLineage']) {
  const nameOf = new Map(nodes.map(({ id, name }) => [id, name]));
  const structured = edges.find(({ from, to }) => nameOf.get(from) === '損益_原本' && nameOf.get(to) === '損益計算書_階層2');
  return structured?.columns?.map(({ column, to }) => [column, [...to].sort()]);
}

async function lineageOf(name: string, workbookId = world.workbookId): Promise<Schemas['TableLineage']> {
  const params = { path: { workbook_id: workbookId, name } };
  const graph = ok(await world.owner.client.GET('/api/v1/workbooks/{workbook_id}/tables/{name}/lineage', { params }));
  if (typeof graph === 'string') throw new Error('not JSON');
  return graph;
}

describe('previewSource: a preview', () => {
  it('shows the cells of the sheet', async () => {
    const shown = ok(await preview('損益.xlsx'));
    expect(shown).toMatchObject({ sheet: 'PL', sheets: ['PL'], range: 'A1:AX100', truncated: false });
    expect(shown.values.map((row) => row.slice(0, 3))).toEqual([
      ['損益計算書', null, null],
      ['(単位：千円)', null, null],
      ['科目', '2022年度', '2023年度'],
      ['売上高', 150, 180],
      ['製品売上', 100, 120],
      ['商品売上', 50, 60],
      ['売上原価', 90, 100],
      ['売上総利益', 60, 80],
      ['※監査前', null, null],
    ]);
  });

  it('shows a range, and says that there is more', async () => {
    expect(ok(await preview('損益.xlsx', { range: 'B4:C5' }))).toMatchObject({
      range: 'B4:C5',
      values: [
        [150, 180],
        [100, 120],
      ],
      truncated: true,
    });
    expect(ok(await preview('損益.xlsx', { range: 'A1:C9' })).truncated).toBe(false);
    expect(ok(await preview('損益.xlsx', { range: 'A1:B9' })).truncated).toBe(true);
    expect(ok(await preview('損益.xlsx', { range: 'F50:G60' }))).toMatchObject({ values: [], truncated: true });
  });

  it('tells how the sheet looks: merged cells, widths, heights and styles', async () => {
    const workbookId = await world.newWorkbook();
    // Longer than what is read at a time, so that the merged cells stand behind rows that nobody asked for.
    const rows = Array.from({ length: 3000 }, (_, n) => `<row r="${n + 3}"><c r="A${n + 3}" s="1"><v>${n}</v></c></row>`).join('');
    const top =
      '<row r="1" ht="30.5"><c r="A1" t="inlineStr"><is><t>表題</t></is></c></row><row r="2" hidden="1"><c r="A2"><v>1</v></c></row>';
    const xml = `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetFormatPr defaultColWidth="11" defaultRowHeight="13.5"/><cols><col min="2" max="3" width="20.5"/><col min="4" max="4" hidden="1" width="9"/></cols><sheetData>${top}${rows}</sheetData><mergeCells><mergeCell ref="A1:C1"/><mergeCell ref="A2000:B2000"/></mergeCells></worksheet>`;
    await world.upload('見た目.xlsx', makeBook({ sheets: [xml], styles: ['0', '#,##0'] }), { workbookId, fields: { mode: 'staged' } });
    const shown = ok(await preview('見た目.xlsx', { range: 'A1:D4' }, workbookId));
    expect(shown).toMatchObject({
      merges: ['A1:C1'],
      column_widths: [11, 20.5, 20.5, 0],
      row_heights: [30.5, 0, 13.5, 13.5],
      truncated: true,
    });
    expect(shown.style_ids.map(([id]) => shown.styles[id ?? -1]?.align)).toEqual(['left', 'right', 'right', 'right']);
    expect(ok(await preview('見た目.xlsx', { range: 'A1900:B2100' }, workbookId))).toMatchObject({ merges: ['A2000:B2000'] });
    expect(ok(await preview('見た目.xlsx', { range: 'A2001:B2002' }, workbookId)).values).toEqual([
      ['1,998', null],
      ['1,999', null],
    ]);
  });

  it('is drawn with what was found in it, as SVG and as PNG', async () => {
    const svg = await draw('損益.xlsx', 'format=svg');
    expect(svg.headers.get('content-type')).toContain('image/svg+xml');
    const picture = await svg.text();
    for (const text of ['損益計算書', '売上総利益', '2023年度', 'doubtful']) expect(picture).toContain(text);
    expect(picture.match(/fill="#cfe2ff"/g)?.length).toBeGreaterThan(1);
    const png = await draw('損益.xlsx', 'format=png&range=A1:C9');
    expect(png.headers.get('content-type')).toContain('image/png');
    expect(
      Buffer.from(await png.arrayBuffer())
        .subarray(1, 4)
        .toString(),
    ).toBe('PNG');
    expect((await draw('損益.xlsx', 'format=png&range=A1:CV200')).status).toBe(413);
    expect((await draw('損益.xlsx', 'format=gif')).status).toBe(422);
  });

  it('of more than 16 MiB is refused, and shown in part', async () => {
    const workbookId = await world.newWorkbook();
    const cells = Array.from({ length: 50 }, () => '<c t="s"><v>0</v></c>').join('');
    const bytes = makeBook({ strings: `<si><t>${'x'.repeat(30_000)}</t></si>`, sheets: [`<row>${cells}</row>`.repeat(100)] });
    await world.upload('long.xlsx', bytes, { workbookId, fields: { mode: 'staged' } });
    expect(refused(await preview('long.xlsx', {}, workbookId), 413, 'too-large')).toMatchObject({
      detail: 'The answer would hold more than 16 MiB.',
      suggested_fix: 'Name a smaller block with `range`, such as A1:F50.',
    });
    expect(ok(await preview('long.xlsx', { range: 'A1:B3' }, workbookId)).values.length).toBe(3);
  });

  it('knows its sheets', async () => {
    const workbookId = await world.newWorkbook();
    const bytes = await makeXlsx({ 東京: bare(1), 大阪: bare(2) });
    await world.upload('支店.xlsx', bytes, { workbookId, fields: { mode: 'staged' } });
    expect(ok(await preview('支店.xlsx', {}, workbookId)).sheet).toBe('東京');
    expect(ok(await preview('支店.xlsx', { sheet: '大阪' }, workbookId))).toMatchObject({ sheet: '大阪', sheets: ['東京', '大阪'] });
    expect(refused(await preview('支店.xlsx', { sheet: '大坂' }, workbookId), 404, 'not-found').suggested_fix).toContain('大阪');
    refused(await preview('ない.xlsx', {}, workbookId), 404, 'not-found');
  });

  it.each(['B4:', 'xx', 'A1:XFD1048576', 'A0:B1'])('refuses the range %s', async (range) => {
    expect(refused(await preview('損益.xlsx', { range }), 422, 'validation-failed').errors).toMatchObject([{ pointer: '/query/range' }]);
  });

  it('of a csv has one sheet, named as in its parse spec', async () => {
    const workbookId = await world.newWorkbook();
    await world.upload('表.csv', '品名,数量\n鉛筆,3\n', { workbookId, fields: { mode: 'staged' } });
    const path = { workbook_id: workbookId, source_name: '表.csv' };
    const spec = ok(await world.owner.client.POST('/api/v1/workbooks/{workbook_id}/sources/{source_name}/analyze', { params: { path } }));
    const shown = ok(await preview('表.csv', { sheet: (spec as Schemas['ParseSpec']).regions[0]?.sheet as string }, workbookId));
    expect(shown).toMatchObject({ sheet: '表', sheets: ['表'] });
    expect(shown.values.map((row) => row.slice(0, 2))).toEqual([
      ['品名', '数量'],
      ['鉛筆', '3'],
    ]);
  });
});

describe('downloadSource: a download', () => {
  it('is byte for byte what was sent', async () => {
    const response = await download('損益.xlsx');
    expect(response.status).toBe(200);
    expect(Buffer.from(await response.arrayBuffer()).equals(statement)).toBe(true);
    expect(response.headers.get('content-type')).toBe('application/vnd.openxmlformats-officedocument.spreadsheetml.sheet');
    expect(response.headers.get('content-disposition')).toBe("attachment; filename*=UTF-8''%E6%90%8D%E7%9B%8A.xlsx");
  });

  it('keeps the encoding of a csv', async () => {
    const workbookId = await world.newWorkbook();
    const bytes = new Uint8Array([0x95, 0x69, 0x96, 0xbc, 0x2c, 0x61, 0x0d, 0x0a, 0x89, 0x94, 0x95, 0x4d, 0x2c, 0x31, 0x0d, 0x0a]);
    await world.upload("品'名 (1).csv", bytes, { workbookId });
    const response = await download("品'名 (1).csv", workbookId);
    expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true);
    expect(response.headers.get('content-type')).toContain('text/csv');
    expect(response.headers.get('content-disposition')).toBe("attachment; filename*=UTF-8''%E5%93%81%27%E5%90%8D%20(1).csv");
  });

  it('follows a revision', async () => {
    const workbookId = await world.newWorkbook();
    await world.upload('在庫.xlsx', await makeXlsx({ S: bare(1) }), { workbookId });
    const bytes = await makeXlsx({ S: bare(2) });
    await world.send('在庫.xlsx', bytes, { path: `/api/v1/workbooks/${workbookId}/sources/${encodeURIComponent('在庫.xlsx')}/revise` });
    expect(Buffer.from(await (await download('在庫.xlsx', workbookId)).arrayBuffer()).equals(bytes)).toBe(true);
  });
});

describe('getRowLineage and getTableLineage: lineage', () => {
  const ofRow = async (name: string, rowId: number, workbookId = world.workbookId) =>
    ok(
      await world.owner.client.GET('/api/v1/workbooks/{workbook_id}/tables/{name}/rows/{row_id}/lineage', {
        params: { path: { workbook_id: workbookId, name, row_id: rowId } },
      }),
    );

  it('of a structured row names its cells and what they filled', async () => {
    const [row] = (await world.readRows('損益計算書_階層2')).filter((each) => each.科目 === '商品売上' && each.期間 === '2023年度');
    const { cells, truncated } = await ofRow('損益計算書_階層2', row?.__svc_row_id as number);
    expect(truncated).toBe(false);
    const byRange = Object.fromEntries(cells.map(({ range, columns }) => [range, columns]));
    expect(cells.every(({ source, sheet }) => source === '損益.xlsx' && sheet === 'PL')).toBe(true);
    expect(byRange.C6).toEqual(['値']);
    expect(byRange.A6).toEqual(['科目']);
    expect(byRange.A4).toEqual(['科目_階層1']);
    expect(byRange.C3).toContain('期間');
  });

  it('of a raw row names its cells', async () => {
    const { cells } = await ofRow('損益_原本', 5);
    expect(cells).toEqual([{ source: '損益.xlsx', sheet: 'PL', range: 'A5:C5', columns: ['A', 'B', 'C'] }]);
  });

  it('of an appended row names its cells', async () => {
    const workbookId = await world.newWorkbook();
    const { client } = world.owner;
    await world.upload('在庫.xlsx', await makeXlsx({ S: bare(3) }), { workbookId, fields: { mode: 'staged' } });
    const path = { workbook_id: workbookId, source_name: '在庫.xlsx' };
    ok(await client.POST('/api/v1/workbooks/{workbook_id}/sources/{source_name}/analyze', { params: { path } }));
    const columns = ['数', 'コード', '品名'].map((name) => ({ name, type: 'VARCHAR' }));
    await makeTable(client, workbookId, '台帳', columns, [{ コード: '手で' }]);
    const body = {
      target: { mode: 'append' as const, table: '台帳', expected_version: 2 },
      column_mapping: { 品番: 'コード', 数量: '数' },
    };
    ok(await client.POST('/api/v1/workbooks/{workbook_id}/sources/{source_name}/materialize', { params: { path }, body }));
    expect((await ofRow('台帳', 3, workbookId)).cells).toEqual([
      { source: '在庫.xlsx', sheet: 'S', range: 'A3:C3', columns: ['コード', '品名', '数'] },
    ]);
    expect((await ofRow('台帳', 1, workbookId)).cells).toEqual([]);
    const graph = await lineageOf('台帳', workbookId);
    expect(graph.nodes.map(({ kind, name }) => [kind, name])).toEqual([
      ['source', '在庫.xlsx'],
      ['region', 'A1:C4'],
      ['table', '台帳'],
    ]);
  });

  it('of a table goes back to the raw table, the regions and the source', async () => {
    const graph = await lineageOf('損益計算書_階層2');
    const nameOf = new Map(graph.nodes.map(({ id, name }) => [id, name]));
    const edges = graph.edges.map(({ from, to }) => `${nameOf.get(from)} → ${nameOf.get(to)}`);
    expect(edges).toContain('損益_原本 → 損益計算書_階層2');
    expect(edges).toContain('損益.xlsx → 損益_原本');
    expect(edges).toContain('A3:C8 → 損益計算書_階層2');
    expect(edges).toContain('損益.xlsx → A3:C8');
    expect(graph.nodes.find(({ name }) => name === '損益_原本')).toMatchObject({ kind: 'table', state: 'archived' });
    const byColumn = [
      ['A', ['科目', '科目_階層1']],
      ['B', ['値', '期間']],
      ['C', ['値', '期間']],
    ];
    expect(flowsFromRaw(graph)).toEqual(byColumn);
  });

  it.each([
    ['by its name', '?format=svg', undefined],
    ['by the media type', '', 'image/svg+xml'],
  ])('of a table as a picture, asked for %s', async (_, query, accept) => {
    const path = `/api/v1/workbooks/${world.workbookId}/tables/${encodeURIComponent('損益計算書_階層2')}/lineage${query}`;
    const answer = await world.api.fetch(path, { token: world.owner.session, headers: accept ? { Accept: accept } : {} });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, expect.stringContaining('image/svg+xml')]);
    const picture = await answer.text();
    for (const text of ['損益.xlsx', 'PL A3:C8', '損益_原本', '損益計算書_階層2', 'archived']) expect(picture).toContain(text);
  });

  it('of the raw table goes on to what was made of it', async () => {
    const graph = await lineageOf('損益_原本');
    const tables = graph.nodes.filter(({ kind }) => kind === 'table').map(({ name }) => name);
    expect(tables.sort()).toEqual([
      'PL_補足情報',
      '損益_原本',
      '損益計算書_科目',
      '損益計算書_階層1',
      '損益計算書_階層1_計算項目',
      '損益計算書_階層2',
    ]);
  });

  it('of a row that is not there is 404', async () => {
    const path = { workbook_id: world.workbookId, name: '損益計算書_階層2', row_id: 4000 };
    refused(
      await world.owner.client.GET('/api/v1/workbooks/{workbook_id}/tables/{name}/rows/{row_id}/lineage', { params: { path } }),
      404,
      'not-found',
    );
  });
});

describe('uploadSource: formulas', () => {
  it('are kept beside the values, and written down as ops', async () => {
    const params = { path: { workbook_id: world.workbookId } };
    const { ops } = ok(await world.owner.client.GET('/api/v1/workbooks/{workbook_id}/ops', { params }));
    const set = ops.filter(({ kind }) => kind === 'formula.set');
    expect(set.map(({ table, undoable }) => [table, undoable]).sort()).toEqual([
      ['損益', false],
      ['損益計算書_階層1', false],
      ['損益計算書_階層1_計算項目', false],
    ]);
    const kept = async (name: string) => {
      const key = set.find(({ table }) => table === name)?.code_ref as string;
      const { blobs, engine } = world.api.services;
      const opened = await blobs.open([key]);
      try {
        return await engine.use(async (connection) => {
          const reader = await connection.runAndReadAll(`SELECT * FROM read_parquet('${opened.pathOf(key)}') ORDER BY 1, 2`);
          return reader.getRowsJson();
        });
      } finally {
        opened.release();
      }
    };
    // (row, column, stored where it differs from what is shown, formula)
    expect(await kept('損益')).toEqual([
      ['4', 2, '150', 'SUM(B5:B6)'],
      ['4', 3, '180', 'SUM(C5:C6)'],
      ['8', 2, '60', 'B4-B7'],
      ['8', 3, '80', 'C4-C7'],
    ]);
    expect(await kept('損益計算書_階層1_計算項目')).toEqual([
      ['1', 4, null, 'B4-B7'],
      ['2', 4, null, 'C4-C7'],
    ]);
    const { rows } = await world.api.sql.query(
      'SELECT sum(kept_formulas)::int AS n FROM landings l JOIN tables t ON t.id = l.table_id WHERE t.workbook_id = $1',
      [world.workbookId],
    );
    expect(rows).toEqual([{ n: 8 }]);
  });
});

describe('a column of a structured table that gets another type', () => {
  it('goes back to the raw columns as before', async () => {
    const path = { workbook_id: world.workbookId, name: '損益計算書_階層2', column: '値' };
    const before = flowsFromRaw(await lineageOf(path.name));
    const body = { type: 'VARCHAR', expected_version: null };
    ok(await world.owner.client.PATCH('/api/v1/workbooks/{workbook_id}/tables/{name}/columns/{column}', { params: { path }, body }));
    expect(before?.length).toBe(3);
    expect(flowsFromRaw(await lineageOf(path.name))).toEqual(before);
  });
});
