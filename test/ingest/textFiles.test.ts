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

describe('the language of generated names', () => {
  const statement = 'Item,2022,2023\nSales,150,180\nCost,90,100\nTotal,240,280\n';
  const setNaming = async (naming: 'ja' | 'en' | 'auto') => {
    const { workspaces } = ok(await world.owner.client.GET('/api/control/workspaces'));
    const path = { workspace_id: workspaces[0]?.id ?? '' };
    const changed = ok(await world.owner.client.PATCH('/api/control/workspaces/{workspace_id}', { params: { path }, body: { naming } }));
    expect(changed.naming).toBe(naming);
  };
  const columnsOf = async (filename: string, bytes: string) => {
    const { artifacts } = await world.upload(filename, bytes, { workbookId: await world.newWorkbook() });
    return artifacts.map(({ name, schema }) => [name, ...((schema ?? []) as { name: string }[]).map((column) => column.name)]);
  };

  it('is Japanese unless the workspace says otherwise', async () => {
    const [workspace] = ok(await world.owner.client.GET('/api/control/workspaces')).workspaces;
    expect(workspace?.naming).toBe('ja');
    expect(await columnsOf('pl.csv', statement)).toContainEqual(['pl', 'Item', '期間', '期間開始', '値']);
  });

  it('is English for a workspace that asks for it, also for content that was structured before', async () => {
    await setNaming('en');
    expect(await columnsOf('pl.csv', statement)).toEqual([
      ['pl', 'Item', 'period', 'period_start', 'value'],
      ['pl_computed', 'Item', 'period', 'period_start', 'value'],
    ]);
    expect(await columnsOf('log.ndjson', '{"": 1}')).toEqual([['log', 'column1']]);
  });

  it('goes by the file with auto', async () => {
    await setNaming('auto');
    expect(await columnsOf('auto.csv', statement)).toContainEqual(['auto', 'Item', 'period', 'period_start', 'value']);
    expect(await columnsOf('損益.csv', statement)).toContainEqual(['損益', 'Item', '期間', '期間開始', '値']);
    await setNaming('ja');
  });
});
