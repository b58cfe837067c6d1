import { describe, expect, it } from 'vitest';
import { ok } from '../setup/api.ts';
import { useWorld } from './world.ts';

const world = await useWorld();

describe('uploadSource: a csv that holds no more than its header', () => {
  it('is an empty table with its columns, and costs nothing', async () => {
    const before = await world.readCredits();
    const answer = await world.upload('顧客.csv', 'id,名前,登録日\n');
    expect(answer).toMatchObject({ structuring: 'structured', credits_charged: 0 });
    const schema = ['id', '名前', '登録日'].map((name) => expect.objectContaining({ name, type: 'VARCHAR' }));
    expect(answer.artifacts).toMatchObject([{ name: '顧客', row_count: 0, schema }]);
    expect(await world.readCredits()).toEqual(before);
  });

  it('takes rows like any other table, and records by a revision', async () => {
    const at = { params: { path: { workbook_id: world.workbookId, name: '顧客' } } };
    const revised = await world.send('顧客.csv', 'id,名前,登録日\n1,青木,2024-04-01\n', {
      path: `/api/v1/workbooks/${world.workbookId}/sources/${encodeURIComponent('顧客.csv')}/revise`,
    });
    expect(revised.status).toBe(200);
    expect(await world.readCells('顧客')).toEqual([{ id: 1, 名前: '青木', 登録日: '2024-04-01' }]);
    const body = { expected_version: null, rows: [{ id: 2, 名前: '馬場' }] };
    ok(await world.owner.client.POST('/api/v1/workbooks/{workbook_id}/tables/{name}/rows', { ...at, body }));
  });
});

describe('uploadSource: texts of a csv', () => {
  it('become booleans, and numbers with decimal commas', async () => {
    await world.upload('Umsatz.csv', 'Kunde;Betrag;bezahlt\nA;1.234,50;TRUE\nB;12,50;FALSE\nC;1.000;\n');
    expect(await world.readCells('Umsatz')).toEqual([
      { Kunde: 'A', Betrag: 1234.5, bezahlt: true },
      { Kunde: 'B', Betrag: 12.5, bezahlt: false },
      { Kunde: 'C', Betrag: 1000, bezahlt: null },
    ]);
  });
});
