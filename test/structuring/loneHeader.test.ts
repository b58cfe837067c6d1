import { describe, expect, it } from 'vitest';
import { analyze, build, listRows } from '../../core/structuring/index.ts';
import { readCsv } from '../../store/csv/index.ts';

async function structure(csv: string, filename = '顧客.csv') {
  const { grid } = await readCsv(Buffer.from(csv), { filename });
  const { tables, conservation } = build([grid], analyze([grid], filename), filename);
  return { tables: tables.map((table) => ({ name: table.name, columns: table.columns, rows: listRows(table) })), conservation };
}

describe('a text file of one line', () => {
  it('is a header: an empty table with its columns', async () => {
    const { tables, conservation } = await structure('id,名前,id\n');
    const columns = ['id', '名前', 'id_2'].map((name) => ({ name, type: 'VARCHAR' }));
    expect(tables).toEqual([{ name: '顧客', columns, rows: [] }]);
    expect(conservation).toMatchObject([{ cells: 3, headers: 3, lost: [], twice: [] }]);
  });

  it('is a header with one name, too', async () => {
    expect((await structure('名前')).tables).toEqual([{ name: '顧客', columns: [{ name: '名前', type: 'VARCHAR' }], rows: [] }]);
  });

  it('is a record when it holds numbers', async () => {
    expect((await structure('りんご,120\n')).tables[0]?.columns).not.toContainEqual({ name: 'りんご', type: 'VARCHAR' });
  });
});
