import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import type { BackupParts } from '../../activities/backup/makeBackup.ts';
import type { BlobStore } from '../../store/blobs/blobStore.ts';
import { openFolderStore } from '../../store/blobs/folderStore.ts';
import { openS3Store } from '../../store/blobs/s3Store.ts';
import { inheritEnvWithout } from '../../store/childEnv.ts';
import { projectDir } from '../../store/config.ts';
import { variableNames } from '../../store/variables.ts';
import { bucket, type S3Server, s3Servers } from '../blobs/s3Servers.ts';
import { nowhere } from '../contract/webhookSamples.ts';
import { type ApiClient, ok, type TestApi } from '../setup/api.ts';
import { makeWorkbook } from '../setup/credentials.ts';
import { createDatabase, type TestDatabase } from '../setup/database.ts';
import { openSql } from '../setup/everybody.ts';
import { setPolicy, tagColumn } from '../setup/governance.ts';
import { editRows, makeTable } from '../setup/tables.ts';

const base = '/api/v1/workbooks/{workbook_id}' as const;

/** Folders, buckets and empty databases, all of which go with the tests. */
export interface Places {
  folder(): Promise<{ dir: string; store: BlobStore }>;
  bucket(): Promise<{ env: Record<string, string>; prefix: string; server: S3Server; store: BlobStore }>;
  /** Without a table. */
  database(): Promise<TestDatabase>;
  remove(): Promise<void>;
}

export async function openPlaces(): Promise<Places> {
  const root = await mkdtemp(join(tmpdir(), 'svc-test-backup-'));
  const server = await (s3Servers[0] as (typeof s3Servers)[number]).start(join(root, 's3'));
  const endings: (() => Promise<void>)[] = [];
  const name = () => randomBytes(4).toString('hex');
  return {
    async folder() {
      const dir = join(root, name());
      return { dir, store: await openFolderStore(dir) };
    },
    async bucket() {
      const prefix = name();
      const { accessKeyId, secretAccessKey } = server;
      const endpoint = `http://127.0.0.1:${server.port}`;
      const store = await openS3Store(
        { kind: 's3', bucket, prefix, endpoint, region: 'us-east-1', accessKeyId, secretAccessKey },
        join(root, 'caches', prefix),
      );
      endings.push(() => store.close());
      const env = {
        BLOB_URL: `s3://${bucket}/${prefix}`,
        S3_ENDPOINT: endpoint,
        S3_ACCESS_KEY_ID: accessKeyId,
        S3_SECRET_ACCESS_KEY: secretAccessKey,
      };
      return { env, prefix, server, store };
    },
    async database() {
      const made = await createDatabase(inject('postgresUrl'));
      endings.push(made.drop);
      return made;
    },
    async remove() {
      for (const end of endings) await end();
      await server.stop();
      await rm(root, { recursive: true, force: true });
    },
  };
}

export function partsOf(api: TestApi, place: BlobStore): BackupParts {
  const { databaseUrl, secret } = api.config;
  return { databaseUrl, secret, blobs: api.services.blobs, place, say() {}, progress() {} };
}

/** A number for the content of each table that survives a crash, in any order of rows. */
export async function digestTables(databaseUrl: string): Promise<Record<string, string>> {
  const sql = openSql(databaseUrl, 1);
  try {
    const { rows } = await sql.query<{ name: string }>(
      "SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relpersistence = 'p' ORDER BY 1",
    );
    const digests: Record<string, string> = {};
    for (const { name } of rows) {
      const found = await sql.query<{ digest: string }>(
        `SELECT count(*) || ' rows ' || coalesce(md5(string_agg(md5(t::text), '' ORDER BY md5(t::text))), '') AS digest FROM "${name}" t`,
      );
      digests[name] = found.rows[0]?.digest ?? '';
    }
    return digests;
  } finally {
    await sql.end();
  }
}

/** Some of everything that is kept: a file, tables with edits and versions, a derived one, results, rules, a webhook. */
export async function fillWorkbook(api: TestApi, session: string, client: ApiClient): Promise<string> {
  const workbookId = await makeWorkbook(client, '控え');
  const path = { workbook_id: workbookId };
  const form = new FormData();
  form.set('file', new Blob(['品目,金額\nりんご,120\n"み\tか\\ん",80\n']), '売上.csv');
  const uploaded = await api.fetch(`/api/v1/workbooks/${workbookId}/sources`, { method: 'POST', token: session, body: form });
  if (uploaded.status >= 300) throw new Error(`${uploaded.status} ${await uploaded.text()}`);
  const rows = Array.from({ length: 3000 }, (_, n) => ({ 名: `行 ${n}`, 値: n }));
  await makeTable(client, workbookId, '表', [{ name: '名' }, { name: '値', type: 'BIGINT' }], rows);
  for (let n = 1; n <= 3; n += 1) await editRows(client, workbookId, '表', [{ __svc_row_id: n, 名: `変更 ${n}` }]);
  ok(
    await client.POST(`${base}/transforms`, {
      params: { path },
      body: { name: '合計', language: 'sql', template: 'SELECT sum(値) AS 合計 FROM {{ t }}', args: { t: '表' }, run: true },
    }),
  );
  ok(await client.POST(`${base}/snapshots`, { params: { path }, body: { summary: 'ある時' } }));
  ok(await client.POST(`${base}/versions`, { params: { path }, body: { label: '初版' } }));
  ok(await client.POST(`${base}/query`, { params: { path }, body: { sql: 'SELECT * FROM 表, range(20)' } }));
  await tagColumn(client, workbookId, '表', '値', 'secret');
  await setPolicy(client, workbookId, 'secret', 'mask', 'viewer');
  ok(await client.POST('/api/v1/me/webhooks', { body: { url: nowhere } }));
  return workbookId;
}

export async function listKeys(store: BlobStore): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of store.list('')) keys.push(key);
  return keys.sort();
}

/** Changes one byte. */
export async function damage(path: string): Promise<void> {
  const bytes = await readFile(path);
  bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 0xff;
  await writeFile(path, bytes);
}

/** `npm run …` without npm. */
export function runCommand(words: string[], env: Record<string, string>): Promise<{ code: number; text: string }> {
  const cleared = inheritEnvWithout([...variableNames, 'VITEST', 'NODE_ENV', 'NODE_OPTIONS'], env);
  return new Promise((done) => {
    execFile(process.execPath, [join(projectDir, 'scripts/start.mjs'), ...words], { env: cleared }, (error, stdout, stderr) =>
      done({ code: error ? Number(error.code) : 0, text: `${stdout}${stderr}` }),
    );
  });
}
