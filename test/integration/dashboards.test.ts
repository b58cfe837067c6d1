import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { projectDir } from '../../store/config.ts';
import { makeJob } from '../contract/world.ts';
import { ok, startTestApi, type TestApi } from '../setup/api.ts';
import { makeWorkbook } from '../setup/credentials.ts';
import { editRows, makeTable } from '../setup/tables.ts';

/** The dashboard and the alerts ask for nothing that /metrics does not give. */

interface Dashboard {
  panels: { id: number; title: string; targets: { expr: string }[] }[];
}
interface Rules {
  groups: { rules: { alert: string; expr: string; for: string; labels: { severity: string }; annotations: Record<string, string> }[] }[];
}

const read = (path: string) => readFile(join(projectDir, path), 'utf8');
const dashboard = JSON.parse(await read('deploy/grafana/dashboard.json')) as Dashboard;
const { groups } = parse(await read('deploy/prometheus/alerts.yaml')) as Rules;
const alerts = groups.flatMap(({ rules }) => rules);
const questions = [
  ...dashboard.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const)),
  ...alerts.map(({ alert, expr }) => [alert, expr] as const),
];

let api: TestApi;
let samples: string[];

beforeAll(async () => {
  api = await startTestApi({ SVC_RATE_LIMITS: 'off' });
  const owner = await api.signUp('Owner');
  const workbookId = await makeWorkbook(owner.client, 'figures');
  const { account_id: accountId } = ok(await owner.client.GET('/api/v1/me'));
  for (const status of ['pending', 'running', 'failed'] as const)
    await makeJob(api, { accountId, userId: owner.userId, workbookId, kind: 'ingest', status });
  await makeTable(owner.client, workbookId, 't', [{ name: 'a' }]);
  await editRows(
    owner.client,
    workbookId,
    't',
    Array.from({ length: 2000 }, (_, n) => ({ a: String(n) })),
  );
  const params = { path: { workbook_id: workbookId, name: 't' }, query: { limit: 2, offset: 1000 } };
  for (let n = 0; n < 2; n += 1) ok(await owner.client.GET('/api/v1/workbooks/{workbook_id}/tables/{name}/rows', { params }));
  samples = (await (await api.fetch('/metrics')).text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
});
afterAll(() => api.stop());

/** The metrics that an expression names, with the labels that it wants of them. */
function listSelectors(expr: string): { metric: string; labels: { name: string; wants: string; value: string }[] }[] {
  return [...expr.matchAll(/\b((?:svc|process|nodejs)_\w+)(?:\{([^}]*)\})?/g)].map(([, metric = '', inside = '']) => ({
    metric,
    labels: [...inside.matchAll(/(\w+)(=~|=)"([^"]*)"/g)].map(([, name = '', wants = '', value = '']) => ({ name, wants, value })),
  }));
}

describe.each(questions)('%s', (_, expr) => {
  it(`asks for what there is: ${expr}`, () => {
    const selectors = listSelectors(expr);
    expect(selectors.length).toBeGreaterThan(0);
    for (const { metric, labels } of selectors) {
      const found = samples.filter((line) => line.startsWith(`${metric}{`) || line.startsWith(`${metric} `));
      expect([metric, found.length > 0]).toEqual([metric, true]);
      for (const { name, wants, value } of labels) {
        const values = found.map((line) => new RegExp(`[{,]${name}="([^"]*)"`).exec(line)?.[1]);
        expect([metric, name, values.some((each) => each !== undefined)]).toEqual([metric, name, true]);
        // Errors cannot be made to order; all else that is named must be there, every choice of a pattern included.
        const wanted = wants === '=' ? [value] : value === '5..' ? [] : value.split('|');
        const known = name === 'operation' ? api.contract.operations.map(({ id }) => id as string) : values;
        for (const each of wanted) expect(known).toContain(each);
      }
    }
    for (const [, names = ''] of expr.matchAll(/\bby \(([^)]*)\)/g))
      for (const name of names.split(', ')) {
        // Prometheus itself adds the instance.
        if (name === 'instance') continue;
        expect(samples.some((line) => selectors.some(({ metric }) => line.startsWith(metric)) && line.includes(`${name}="`))).toBe(true);
      }
  });
});

it('panels and alerts are whole', () => {
  const ids = dashboard.panels.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length);
  for (const { for: time, labels, annotations } of alerts) {
    expect(time).toMatch(/^\d+m$/);
    expect(['critical', 'warning']).toContain(labels.severity);
    expect(Object.keys(annotations)).toEqual(['summary', 'description']);
  }
});
