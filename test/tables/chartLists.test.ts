import { afterEach, describe, expect, it } from 'vitest';
import { makeId } from '../../store/services.ts';
import { ok } from '../setup/api.ts';
import { setPolicy, showColumns } from '../setup/governance.ts';
import { useWorkbook } from './tableDriver.ts';

const { api, world } = await useWorkbook();
const { client } = world.owner;
const base = '/api/v1/workbooks/{workbook_id}' as const;
const workbook = { workbook_id: world.workbookId };
const listed = { params: { path: workbook } };
const named = (name: string) => ({ params: { path: { ...workbook, name } } });
await world.makeTable('経費', [{ name: '科目' }, { name: '額', type: 'DOUBLE' }]);

describe('charts', () => {
  afterEach(() => showColumns(client, world.workbookId));
  const makeChart = async (name: string, table: string | null) => {
    const id = makeId('cht');
    await api.sql.query(
      `INSERT INTO charts (id, workbook_id, account_id, name, chart_type, table_id, title, config, recipe, created_at, updated_at)
       SELECT $1, w.id, w.account_id, $2, 'bar', t.id, '題', '{"mark": "bar", "encoding": {"x": {"field": "科目"}}}',
         '{"tool": "create_chart", "x": "科目"}', now(), now()
       FROM workbooks w LEFT JOIN tables t ON t.workbook_id = w.id AND t.name = $4 WHERE w.id = $3`,
      [id, name, world.workbookId, table],
    );
    return id;
  };

  it('are listed by name, with config and recipe unless the workbook is governed', async () => {
    const id = await makeChart('経費の図', '経費');
    await makeChart('Bars', null);
    const { charts } = ok(await client.GET(`${base}/charts`, listed));
    expect(charts.map(({ name }) => name)).toEqual(['Bars', '経費の図']);
    const shown = { name: '経費の図', artifact_id: id, chart_type: 'bar', source_table: '経費', title: '題' };
    expect(charts[1]).toEqual({
      ...shown,
      config: { mark: 'bar', encoding: { x: { field: '科目' } } },
      recipe: { tool: 'create_chart', x: '科目' },
      config_omitted: null,
    });
    await setPolicy(client, world.workbookId, 'pii', 'mask');
    const governed = ok(await client.GET(`${base}/charts`, listed));
    expect(governed.charts[1]).toEqual({ ...shown, config: null, recipe: null, config_omitted: 'governed' });
    expect(JSON.stringify(governed)).not.toContain('科目');
  });

  it('are counted, listed among the artifacts and shown by lineage, and keep their names', async () => {
    const { counts } = ok(await client.GET(base, { params: { path: workbook } }));
    expect(counts.charts).toBe(2);
    const { artifacts } = ok(await client.GET(`${base}/artifacts`, listed));
    expect(artifacts.filter(({ type }) => type === 'chart').map(({ name }) => name)).toEqual(['経費の図', 'Bars']);
    const { error: problem } = await client.PUT(`${base}/sheets/{name}`, { ...named('bars'), body: { spec: { blocks: [] } } });
    expect(problem).toMatchObject({ status: 409, detail: expect.stringContaining('A chart named bars') });
    const graph = ok(await client.GET(`${base}/tables/{name}/lineage`, named('経費'))) as { nodes: { kind: string; name: string }[] };
    expect(graph.nodes.find(({ kind }) => kind === 'chart')?.name).toBe('経費の図');
  });
});
