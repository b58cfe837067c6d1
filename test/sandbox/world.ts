import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll } from 'vitest';
import type { DomainError } from '../../core/errors.ts';
import { quoteName, quoteText, type Relation, type RelationColumn } from '../../store/duckdb/relation.ts';
import type { SandboxResult } from '../../store/duckdb/sandbox/runInProcess.ts';
import { openSandbox, type Sandbox, type SandboxOptions, type SandboxQuery } from '../../store/duckdb/sandbox/sandbox.ts';

/** Tables as the store gives them, from small Parquet files with field ids, and a sandbox over them. */
export interface World {
  dir: string;
  relations: Relation[];
  pathOf(key: string): string;
  /** The rows of a result, from its page. */
  rows(sandbox: Sandbox, sql: string, more?: Partial<SandboxQuery>): Promise<Record<string, unknown>[]>;
  run(sandbox: Sandbox, sql: string, more?: Partial<SandboxQuery>): Promise<SandboxResult>;
  open(options?: Partial<SandboxOptions>): Promise<Sandbox>;
  close(): Promise<void>;
}

export const searchPath = (process.env.PATH ?? '').split(delimiter);

/** What must never be seen: in a denied column, in a masked one, and in a file of somebody else's workbook. */
export const secrets = { denied: 'DENIED-7731', masked: 'MASKED-4420', foreign: 'FOREIGN-9155' };

interface TableSpec {
  name: string;
  /** Name, type, and what the reader may see of it. */
  columns: [name: string, type: string, effect?: 'mask' | 'deny'][];
  rows: string;
  /** Rows that are not in the file yet: row id, then the columns. */
  tail?: (string | null)[][];
}

const specs: TableSpec[] = [
  {
    name: '売上',
    columns: [
      ['月', 'VARCHAR'],
      ['店', 'VARCHAR'],
      ['金額', 'BIGINT'],
      ['単価', 'DECIMAL(12,2)'],
      ['日付', 'DATE'],
    ],
    rows: "VALUES (1, '2024-04', '東京', 100, 1.50, DATE '2024-04-01'), (2, '2024-04', '大阪', 200, 2.25, DATE '2024-04-02'), (3, '2024-05', '東京', 300, 3.00, DATE '2024-05-01')",
  },
  {
    name: '店舗',
    columns: [
      ['店', 'VARCHAR'],
      ['県', 'VARCHAR'],
    ],
    rows: "VALUES (1, '東京', '東京都'), (2, '大阪', '大阪府'), (3, '名古屋', '愛知県')",
  },
  {
    name: 'select',
    columns: [
      ['from', 'VARCHAR'],
      ['group by', 'BIGINT'],
      ['user', 'VARCHAR'],
    ],
    rows: "VALUES (1, 'a', 1, 'ann'), (2, 'b', 2, 'bob')",
  },
  {
    name: 'odd "name".csv; DROP',
    columns: [
      ['a"b', 'BIGINT'],
      ["c'd", 'VARCHAR'],
    ],
    rows: "VALUES (1, 10, 'x'), (2, 20, 'y')",
  },
  { name: 'pg_class', columns: [['n', 'BIGINT']], rows: 'VALUES (1, 7)' },
  {
    name: 'Edited',
    columns: [
      ['k', 'VARCHAR'],
      ['v', 'BIGINT'],
    ],
    rows: "VALUES (1, 'a', 1), (2, 'b', 2), (3, 'c', 3)",
    tail: [
      ['2', 'b', '20'],
      ['4', 'd', '4'],
    ],
  },
  {
    name: '給与',
    columns: [
      ['名前', 'VARCHAR'],
      ['部署', 'VARCHAR'],
      ['月給', 'VARCHAR', 'deny'],
      ['電話', 'VARCHAR', 'mask'],
      ['年齢', 'BIGINT'],
    ],
    rows: `VALUES (1, '佐藤', '営業', '${secrets.denied}-1', '${secrets.masked}-1', 31), (2, '鈴木', '開発', '${secrets.denied}-2', '${secrets.masked}-2', 45)`,
    tail: [['3', '高橋', '営業', '52']],
  },
];

/** A world with its sandbox, for the tests of one file. */
export async function useSandbox(): Promise<{ world: World; sandbox: Sandbox }> {
  const world = await makeWorld();
  const sandbox = await world.open();
  afterAll(async () => {
    await sandbox.close();
    await world.close();
  });
  return { world, sandbox };
}

export async function makeWorld(): Promise<World> {
  const dir = await mkdtemp(join(tmpdir(), 'svc-sandbox-test-'));
  const blobs = join(dir, 'blobs');
  await mkdir(blobs);
  const pathOf = (key: string) => join(blobs, key);
  const relations: Relation[] = [];
  for (const [i, spec] of specs.entries()) relations.push(await makeRelation(spec, `t${i}.parquet`, pathOf));
  await writeParquet(pathOf('foreign.parquet'), `SELECT '${secrets.foreign}' AS secret`, {});
  const world: World = {
    dir,
    relations,
    pathOf,
    open: (options) => openSandbox({ dir: join(dir, 'sandbox'), searchPath, processes: 2, ...options }),
    run: (sandbox, sql, more) =>
      sandbox.run({
        userId: 'usr_1',
        sql,
        relations,
        pathOf,
        pageLimit: 1000,
        timeoutMs: 20_000,
        maxRows: 1_000_000,
        maxBytes: 200_000_000,
        keepResult: false,
        ...more,
      }),
    rows: async (sandbox, sql, more) => JSON.parse(String((await world.run(sandbox, sql, more)).pageJson)) as Record<string, unknown>[],
    close: () => rm(dir, { recursive: true, force: true }),
  };
  return world;
}

export async function writeParquet(path: string, select: string, fieldIds: Record<string, number>): Promise<void> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const ids = Object.entries(fieldIds).map(([name, id]) => `${quoteText(name)}: ${id}`);
  await connection.run(`COPY (${select}) TO ${quoteText(path)} (FORMAT parquet${ids.length > 0 ? `, FIELD_IDS {${ids.join(', ')}}` : ''})`);
  connection.closeSync();
  instance.closeSync();
}

/** The same form as the store's own: files read by field id, later rows of the tail win, hidden columns never read. */
export async function makeRelation(spec: TableSpec, key: string, pathOf: (key: string) => string): Promise<Relation> {
  const inner = spec.columns.map((_, i) => `c${i + 1}`);
  const typed = spec.columns.map(([, type], i) => `CAST(col${i + 1} AS ${type}) AS c${i + 1}`);
  await writeParquet(
    pathOf(key),
    `SELECT CAST(col0 AS BIGINT) AS __svc_row_id, ${typed.join(', ')} FROM (${spec.rows})`,
    Object.fromEntries([['__svc_row_id', 0], ...inner.map((name, i) => [name, i + 1])]),
  );
  const visible = spec.columns
    .map(([name, type, effect], i) => ({ name, type, effect, inner: inner[i] as string, id: i + 1 }))
    .filter(({ effect }) => effect !== 'deny');
  const stored = visible.filter(({ effect }) => effect !== 'mask');
  const columns: RelationColumn[] = [
    ...visible.map(({ name, type, effect }) => ({ name, type, masked: effect === 'mask' })),
    { name: '__svc_row_id', type: 'BIGINT', masked: false },
  ];
  const schema = [['__svc_row_id', 'BIGINT', 0] as const, ...stored.map(({ inner: name, type, id }) => [name, type, id] as const)];
  const list = stored.map(({ inner: name }) => name).join(', ');
  const tailJson = spec.tail ? JSON.stringify(spec.tail) : null;
  return {
    name: spec.name,
    columns,
    files: [key],
    tailFile: null,
    tail:
      tailJson === null
        ? null
        : {
            columns: [{ name: '__svc_row_id', type: 'BIGINT' }, ...stored.map(({ inner: name, type }) => ({ name, type }))],
            json: tailJson,
          },
    governed: spec.columns.some(([, , effect]) => effect !== undefined),
    versionUid: `ver_${key}`,
    editVersion: 1,
    rowCount: 0,
    select(toPath, tailName) {
      const map = schema.map(
        ([name, type, id]) => `${id}: {name: ${quoteText(name)}, type: ${quoteText(type)}, default_value: NULL::VARCHAR}`,
      );
      const base = `SELECT __svc_row_id, ${list} FROM read_parquet([${quoteText(toPath(key))}], schema = MAP {${map.join(', ')}})`;
      const tail = quoteName(tailName);
      const all =
        tailJson === null
          ? base
          : `SELECT __svc_row_id, ${list} FROM (${base}) ANTI JOIN ${tail} USING (__svc_row_id) UNION ALL SELECT __svc_row_id, ${list} FROM ${tail}`;
      const outer = visible.map(
        ({ name, type, effect, inner: id }) => `${effect === 'mask' ? `CAST(NULL AS ${type})` : id} AS ${quoteName(name)}`,
      );
      return `SELECT ${outer.join(', ')}, __svc_row_id FROM (${all})`;
    },
  };
}

/** What a refusal says; fails when the work succeeded or failed otherwise. */
export async function refusal(work: Promise<unknown>): Promise<DomainError> {
  const outcome = await work.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if ('value' in outcome) throw new Error(`expected a refusal, got ${JSON.stringify(outcome.value)?.slice(0, 300)}`);
  const { error } = outcome;
  if (error instanceof Error && error.name === 'DomainError') return error as DomainError;
  throw error;
}
