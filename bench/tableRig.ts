import { requireWorkbook } from '../activities/access.ts';
import { compactTable } from '../activities/compaction/compactTable.ts';
import { authenticate } from '../activities/identity/authenticate.ts';
import { requireTable } from '../activities/tables/openTable.ts';
import type { Principal } from '../core/access/principal.ts';
import { compactionLimits } from '../core/table/compactionLimits.ts';
import type { TableAt } from '../core/table/table.ts';
import type { VisibleWorkbook } from '../store/pg/workbooks.ts';
import type { Services } from '../store/services.ts';
import { type ComputedColumn, makeLargeTable } from '../test/setup/largeTable.ts';
import type { BenchRig } from './services.ts';

/** Twelve columns of common types. */
export const columns: ComputedColumn[] = [
  { name: 'c1', type: 'BIGINT', sql: 'i * 7' },
  { name: 'c2', type: 'VARCHAR', sql: "'text ' || i" },
  { name: 'c3', type: 'DECIMAL(18,2)', sql: '(i % 100000) / 100' },
  { name: 'c4', type: 'DATE', sql: "DATE '2020-01-01' + CAST(i % 2000 AS INTEGER)" },
  { name: 'c5', type: 'BOOLEAN', sql: 'i % 2 = 0' },
  { name: 'c6', type: 'DOUBLE', sql: 'i / 3.0' },
  { name: 'c7', type: 'VARCHAR', sql: "'支店' || (i % 47)" },
  { name: 'c8', type: 'BIGINT', sql: 'i % 1000' },
  { name: 'c9', type: 'TIMESTAMP', sql: "TIMESTAMP '2024-01-01' + to_seconds(i)" },
  { name: 'c10', type: 'BIGINT', sql: 'hash(i) % 1000000' },
  { name: 'c11', type: 'VARCHAR', sql: "'品目' || (i % 5000)" },
  { name: 'c12', type: 'DECIMAL(18,4)', sql: '(hash(i) % 1000000) / 10000' },
];

export class TableRig {
  private constructor(
    readonly rig: BenchRig,
    readonly services: Services,
    readonly principal: Principal,
    readonly workbook: VisibleWorkbook,
  ) {}

  static async open(rig: BenchRig): Promise<TableRig> {
    const { services } = rig.api;
    const principal = await authenticate(services, rig.token);
    const { id } = await post<{ id: string }>(rig, '/api/v1/workbooks', { title: 'bench' });
    return new TableRig(rig, services, principal, await requireWorkbook(services, principal, id, 'editor'));
  }

  get base(): string {
    return `/api/v1/workbooks/${this.workbook.id}`;
  }

  async makeTable(name: string, rows: number): Promise<void> {
    await makeLargeTable(this.services, this.workbook, { name, columns, rows, rowsPerFile: compactionLimits.fileRows });
  }

  /** Adds 2,000 changed rows as in a table in use: older ones frozen into a delta, newer ones in the log. */
  async addDeltas(name: string, rows: number): Promise<void> {
    const at = await this.open(name);
    let made = 0;
    const edit = async (count: number) => {
      const changed = Array.from({ length: count }, () => {
        made += 1;
        return { __svc_row_id: 1 + ((made * 104_729) % rows), c1: made, c2: `delta ${made}` };
      });
      await post(this.rig, `${this.base}/tables/${name}/rows`, { expected_version: null, rows: changed });
    };
    await edit(1000);
    await edit(100);
    await compactTable(this.services, at.table.id, { heartbeat() {} }, { ...compactionLimits, deltaShare: 1e9 });
    await edit(900);
  }

  open(name: string): Promise<TableAt> {
    return requireTable(this.services, this.workbook.id, name);
  }
}

export function post<T>(rig: BenchRig, path: string, body: unknown): Promise<T> {
  return send(rig, 'POST', path, body);
}

export function put<T>(rig: BenchRig, path: string, body: unknown): Promise<T> {
  return send(rig, 'PUT', path, body);
}

async function send<T>(rig: BenchRig, method: string, path: string, body: unknown): Promise<T> {
  const answer = await fetch(`${rig.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${rig.token}`, 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${answer.status}: ${(await answer.text()).slice(0, 500)}`);
  return (await answer.json()) as T;
}

export async function get(rig: BenchRig, path: string): Promise<string> {
  const answer = await fetch(`${rig.url}${path}`, { headers: { authorization: `Bearer ${rig.token}` } });
  if (!answer.ok) throw new Error(`${answer.status}: ${(await answer.text()).slice(0, 500)}`);
  return answer.text();
}
