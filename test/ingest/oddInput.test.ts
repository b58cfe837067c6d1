import { describe, expect, it } from 'vitest';
import { escapeXml, makeBook } from '../xlsx/makeWorkbook.ts';
import { type UploadAnswer, useWorld } from './world.ts';

/** Files that look wrong and are not: they become tables. */

const world = await useWorld();

const get = (path: string) => world.api.fetch(path, { token: world.owner.session });
const textCell = (text: string) => `<c t="inlineStr"><is><t xml:space="preserve">${escapeXml(text)}</t></is></c>`;
const textRow = (texts: string[]) => `<row>${texts.map(textCell).join('')}</row>`;

/** Everything that an answer names can be asked for, and is named once. */
async function expectReachable(workbookId: string, answer: UploadAnswer): Promise<void> {
  const names = answer.artifacts.map(({ name }) => name);
  expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(names.length);
  for (const { name, schema } of answer.artifacts) {
    expect([name, name.length <= 200, name.isWellFormed(), name.trim() === name]).toEqual([name, true, true, true]);
    const columns = (schema ?? []).map((column) => column.name);
    expect(new Set(columns.map((column) => column.toLowerCase())).size).toBe(columns.length);
    expect(columns.filter((column) => column === '' || column === '.' || column === '..' || column === '__svc_row_id')).toEqual([]);
    const table = `/api/v1/workbooks/${workbookId}/tables/${encodeURIComponent(name)}`;
    expect([name, (await get(`${table}/rows?limit=2`)).status]).toEqual([name, 200]);
    expect([name, (await get(`${table}/rows/1/lineage`)).status]).toEqual([name, 200]);
  }
}

describe('uploadSource: names', () => {
  const sheets = [
    'データ',
    'data',
    'DATA',
    ' data ',
    '__svc_row_id',
    '"q"',
    "'q'",
    'a/b',
    'a\\b',
    '.',
    '..',
    '%2e',
    '😀'.repeat(120),
    '名'.repeat(250),
    'SELECT',
    '',
  ];
  const headers = [
    'Name',
    'name',
    ' name ',
    'NAME',
    '__svc_row_id',
    '__SVC_ROW_ID',
    '"',
    "'; DROP TABLE x; --",
    'a/b',
    '.',
    '..',
    '😀'.repeat(130),
    '名'.repeat(300),
    '',
    '列14',
    'select',
  ];
  const rows = (n: number) => [headers, headers.map((_, k) => `${n}-${k}`), headers.map((_, k) => `${n}+${k}`)].map(textRow).join('');
  const makeFile = () => makeBook({ sheets: sheets.map((name, n) => ({ name: escapeXml(name), xml: rows(n) })) });

  it.each(['skip', 'auto'])('of sheets and columns that collide or cannot be names, with %s', async (structuring) => {
    const workbookId = await world.newWorkbook();
    const answer = await world.upload('名前.xlsx', makeFile(), { workbookId, fields: { structuring } });
    expect([answer.structuring, answer.structuring_reason]).toEqual([structuring === 'skip' ? 'skipped' : 'structured', undefined]);
    expect(answer.artifacts.length).toBeGreaterThanOrEqual(sheets.length);
    await expectReachable(workbookId, answer);
    const archived = (await (await get(`/api/v1/workbooks/${workbookId}/tables?state=archived`)).json()) as { tables: { name: string }[] };
    for (const { name } of archived.tables) expect([name, name.length <= 200]).toEqual([name, true]);
  });

  it.each(['..xlsx', '.xlsx', '....xlsx', '__svc_row_id.xlsx', `${'😀'.repeat(150)}.xlsx`])('of a file, %.20s', async (filename) => {
    const workbookId = await world.newWorkbook();
    for (const structuring of ['skip', 'auto']) {
      const bytes = makeBook({
        sheets: [
          [
            ['a', 'b'],
            ['1', structuring],
            ['2', 'y'],
          ]
            .map(textRow)
            .join(''),
        ],
      });
      await expectReachable(workbookId, await world.upload(filename, bytes, { workbookId, fields: { structuring } }));
    }
  });

  it('with characters that are none', async () => {
    const workbookId = await world.newWorkbook();
    const odd = ['a&#0;b', '_x0000_c', 'd_xD800_', '&#xD800;e', '_xD83D__xDE00_'];
    const cells = (row: string) => odd.map((text) => `<c t="inlineStr"><is><t>${text}${row}</t></is></c>`).join('');
    const xml = `<row>${cells('h')}</row><row>${cells('1')}</row><row>${cells('2')}</row>`;
    for (const structuring of ['skip', 'auto']) {
      const bytes = makeBook({ sheets: [{ name: `x&#0;&#xD800;${structuring}`, xml }] });
      const answer = await world.upload('odd.xlsx', bytes, { workbookId, fields: { structuring } });
      expect(answer.structuring).toBe(structuring === 'skip' ? 'skipped' : 'structured');
      await expectReachable(workbookId, answer);
      const [row] = await world.readRows(answer.artifacts[0]?.name ?? '', workbookId);
      expect(Object.values(row ?? {}).filter((value) => typeof value === 'string')).toEqual(
        ['ab', 'c', 'd\ufffd', '\ufffde', '😀'].map((text) => `${text}${structuring === 'skip' ? 'h' : '1'}`),
      );
    }
  });
});

describe('uploadSource: a csv', () => {
  const text = '品目,数\nりんご,1\nみかん,2\n';
  const utf16 = (mark: string, isBig: boolean) =>
    isBig ? Buffer.from(`${mark}${text}`, 'utf16le').swap16() : Buffer.from(`${mark}${text}`, 'utf16le');
  const encodings: [string, Buffer][] = [
    ['UTF-8', Buffer.from(text)],
    ['UTF-8 with a mark', Buffer.from(`\ufeff${text}`)],
    ['UTF-16 LE', utf16('\ufeff', false)],
    ['UTF-16 BE', utf16('\ufeff', true)],
    ['UTF-16 LE without a mark', utf16('', false)],
    ['Shift_JIS', Buffer.from('956996da2c90940a82e882f182b22c310a82dd82a982f12c320a', 'hex')],
    ['EUC-JP', Buffer.from('c9caccdc2cbff40aa4eaa4f3a4b42c310aa4dfa4aba4f32c320a', 'hex')],
  ];
  it.each(encodings)('in %s', async (_, bytes) => {
    const workbookId = await world.newWorkbook();
    const answer = await world.upload('果物.csv', bytes, { workbookId });
    expect(answer.artifacts.map(({ name }) => name)).toEqual(['果物']);
    expect(await world.readRows('果物', workbookId)).toMatchObject([
      { 品目: 'りんご', 数: 1 },
      { 品目: 'みかん', 数: 2 },
    ]);
    const download = await get(`/api/v1/workbooks/${workbookId}/sources/${encodeURIComponent('果物.csv')}/download`);
    expect(download.headers.get('content-type')).toBe('text/csv');
    expect(Buffer.from(await download.arrayBuffer()).equals(bytes)).toBe(true);
  });

  it('with ragged rows keeps every field', async () => {
    const workbookId = await world.newWorkbook();
    const answer = await world.upload('ragged.csv', 'a,b,c\n1\n1,2,3,4\n\n,,x\n', { workbookId, fields: { structuring: 'skip' } });
    expect(answer.artifacts[0]?.row_count).toBe(4);
    expect(await world.readRows('ragged', workbookId)).toMatchObject([
      { A: 'a', B: 'b', C: 'c', D: null },
      { A: '1', B: null, C: null, D: null },
      { A: '1', B: '2', C: '3', D: '4' },
      { A: null, B: null, C: 'x', D: null },
    ]);
    const structured = await world.upload('ragged2.csv', 'a,b,c\n1\n1,2,3,4\n\n,,x\n5,6,7\n', { workbookId });
    await expectReachable(workbookId, structured);
  });

  it.each(['skip', 'auto'])('with a text of 5 MiB, with %s', async (structuring) => {
    const workbookId = await world.newWorkbook();
    const long = 'あ'.repeat(5 * 349_525);
    const answer = await world.upload('long.csv', `a,b\n"${long}",1\nx,2\n`, { workbookId, fields: { structuring } });
    expect([answer.structuring, answer.structuring_reason]).toEqual([structuring === 'skip' ? 'skipped' : 'structured', undefined]);
    const rows = await world.readRows('long', workbookId);
    expect(rows.map((row) => Object.values(row).find((value) => typeof value === 'string')?.length)).toContain(long.length);
  });

  it('with tabs, as .tsv', async () => {
    const workbookId = await world.newWorkbook();
    const { source } = await world.upload('tab.tsv', 'a\tb\n1,5\t2\n', { workbookId, fields: { structuring: 'skip' } });
    expect(source.content_type).toBe('text/tab-separated-values');
    expect(await world.readRows('tab', workbookId)).toMatchObject([
      { A: 'a', B: 'b' },
      { A: '1,5', B: '2' },
    ]);
  });
});

describe('uploadSource: a workbook', () => {
  it('with macros is read without them', async () => {
    const workbookId = await world.newWorkbook();
    const bytes = makeBook({
      sheets: [
        [
          ['a', 'b'],
          ['1', '2'],
        ]
          .map(textRow)
          .join(''),
      ],
      extra: [{ name: 'xl/vbaProject.bin', content: 'Sub AutoOpen()' }],
      change: (part) =>
        part.name === 'xl/_rels/workbook.xml.rels'
          ? {
              ...part,
              content: `${part.content}`.replace(
                '</Relationships>',
                '<Relationship Id="rIdV" Type="http://schemas.microsoft.com/office/2006/relationships/vbaProject" Target="vbaProject.bin"/></Relationships>',
              ),
            }
          : part,
    });
    const { source, artifacts } = await world.upload('makro.xlsm', bytes, { workbookId, fields: { structuring: 'skip' } });
    expect(source.content_type).toBe('application/vnd.ms-excel.sheet.macroEnabled.12');
    expect(artifacts.map(({ name }) => name)).toEqual(['makro']);
  });

  it('with errors in its formulas keeps them as they are shown', async () => {
    const workbookId = await world.newWorkbook();
    const error = (text: string) => `<c t="e"><f>1/0</f><v>${text}</v></c>`;
    const row = (n: number, text: string) => `<row>${textCell(`品${n}`)}<c><v>${n}</v></c>${error(text)}</row>`;
    const xml = `${textRow(['品目', '数', '比率'])}${row(1, '#DIV/0!')}${row(2, '#N/A')}${row(3, '#REF!')}`;
    const raw = await world.upload('errors.xlsx', makeBook({ sheets: [xml] }), { workbookId, fields: { structuring: 'skip' } });
    expect((await world.readRows(raw.artifacts[0]?.name ?? '', workbookId)).map(({ C }) => C)).toEqual([
      '比率',
      '#DIV/0!',
      '#N/A',
      '#REF!',
    ]);
    const answer = await world.upload('errors2.xlsx', makeBook({ sheets: [`${xml}${row(4, '#NAME?')}`] }), { workbookId });
    await expectReachable(workbookId, answer);
  });

  it('of a million styled blank rows is as quick as what it holds', { timeout: 240_000 }, async () => {
    const blank = (row: number) => `<row r="${row}" s="1" customFormat="1"><c r="A${row}" s="1"/><c r="B${row}" s="1"/></row>`;
    const rows = ['<row r="1"><c r="A1"><v>1</v></c></row>', ...Array.from({ length: 1_048_575 }, (_, k) => blank(k + 2))];
    const styles =
      '<styleSheet><fonts><font/></fonts><fills><fill/></fills><borders><border/><border><top style="thin"/></border></borders><cellXfs><xf/><xf borderId="1"/></cellXfs></styleSheet>';
    const bytes = makeBook({ sheets: [rows.join('')], styles });
    // Making the file has kept this process busy: connections have gone stale meanwhile.
    await new Promise((resume) => setTimeout(resume, 100));
    for (const structuring of ['skip', 'auto']) {
      const answer = await world.upload(`${structuring}.xlsx`, bytes, { workbookId: await world.newWorkbook(), fields: { structuring } });
      expect(answer.artifacts.map(({ row_count }) => row_count)).toEqual([1]);
    }
  });

  it('of 16,384 columns lands as it is', { timeout: 240_000 }, async () => {
    const workbookId = await world.newWorkbook();
    const row = (text: string) => `<row>${Array.from({ length: 16_384 }, (_, k) => `<c><v>${k}${text}</v></c>`).join('')}</row>`;
    const answer = await world.upload('wide.xlsx', makeBook({ sheets: [`${row('1')}${row('2')}`] }), { workbookId });
    expect(answer.artifacts.map(({ row_count, schema }) => [row_count, schema?.length])).toEqual([[2, 16_384]]);
    expect([answer.structuring, answer.structuring_reason]).toEqual(['raw_fallback', expect.stringMatching(/^failed:.*columns/)]);
    expect(answer.credits_charged).toBe(0);
    const rows = await get(`/api/v1/workbooks/${workbookId}/tables/wide/rows?columns=A,XFD`);
    expect([rows.status, await rows.json()]).toEqual([200, expect.objectContaining({ row_count: 2 })]);
    const preview = await get(`/api/v1/workbooks/${workbookId}/sources/wide.xlsx/preview?range=XFD1:XFD2`);
    expect(await preview.json()).toMatchObject({ values: [[163831], [163832]] });
  });
});
