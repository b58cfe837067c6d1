import { setTimeout as delay } from 'node:timers/promises';

interface LoadOptions {
  url: string;
  key: string;
  workbookId: string;
  /** Whether a client sends a request again that failed for a passing reason, as clients do where processes are killed. */
  retries: boolean;
}

/** What clients did through the balancer. */
export interface Load {
  /** Numbers whose rows were acknowledged. */
  acknowledged: Set<number>;
  queries: number;
  /** Uploads, and what became of their jobs. */
  uploads: { name: string; status: string }[];
  /** What no client should have seen. */
  errors: string[];
  stop(): Promise<void>;
}

let made = 0;

/** Clients that write rows, count them and upload files until they are stopped. */
export function startLoad({ url, key, workbookId, retries }: LoadOptions): Load {
  const base = `/api/v1/workbooks/${workbookId}`;
  const load: Load = { acknowledged: new Set(), queries: 0, uploads: [], errors: [], stop: async () => {} };
  let isStopping = false;

  const tryOnce = async (path: string, init: RequestInit): Promise<{ status: number; body: Record<string, unknown> }> => {
    const answer = await fetch(`${url}${path}`, init);
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  /** The same request, under the same key, until it has an answer of its own. */
  const send = async (path: string, { json, ...init }: RequestInit & { json?: object } = {}, idempotencyKey?: string) => {
    const headers: Record<string, string> = { authorization: `Bearer ${key}` };
    if (json) headers['content-type'] = 'application/json';
    if (idempotencyKey) headers['idempotency-key'] = idempotencyKey;
    const body = json ? JSON.stringify(json) : init.body;
    for (;;) {
      const outcome = await tryOnce(path, { ...init, headers, ...(body ? { body } : {}) }).catch((error: Error) =>
        String(error.cause ?? error),
      );
      if (typeof outcome !== 'string' && outcome.status < 300) return outcome.body;
      const said = `${init.method ?? 'GET'} ${path}: ${typeof outcome === 'string' ? outcome : JSON.stringify(outcome)}`;
      // 409: the first try is still under way, or was when its process was killed.
      const isPassing = typeof outcome === 'string' || outcome.status >= 500 || outcome.status === 409 || outcome.status === 429;
      if (!retries || !isPassing) throw new Error(said);
      await delay(200);
    }
  };

  const write = async () => {
    const n = ++made;
    await send(`${base}/tables/numbers/rows`, { method: 'POST', json: { rows: [{ n }], expected_version: null } }, `row-${n}`);
    load.acknowledged.add(n);
  };
  const query = async () => {
    const before = load.acknowledged.size;
    const sql = 'SELECT count(*)::INT AS n FROM numbers';
    const { rows } = (await send(`${base}/query`, { method: 'POST', json: { sql } })) as { rows: { n: number }[] };
    if ((rows[0]?.n ?? 0) < before) throw new Error(`${before} rows were acknowledged, but a query saw ${rows[0]?.n}`);
    load.queries += 1;
  };
  const upload = async () => {
    const name = `upload-${++made}.csv`;
    const form = new FormData();
    form.set('async', 'true');
    form.set('file', new Blob([`品番,数量\nA-${made},1\nB-${made},2\n`]), name);
    const { job_id: jobId } = await send(`${base}/sources`, { method: 'POST', body: form }, name);
    for (;;) {
      const { finished_at: finishedAt, status } = await send(`/api/v1/jobs/${jobId}`);
      if (finishedAt !== null) {
        load.uploads.push({ name, status: String(status) });
        return;
      }
      await delay(100);
    }
  };
  const repeat = async (work: () => Promise<void>) => {
    while (!isStopping) {
      await work().catch((error: Error) => load.errors.push(error.message));
      await delay(20);
    }
  };
  const clients = [write, write, write, query, upload, upload].map(repeat);
  load.stop = async () => {
    isStopping = true;
    await Promise.all(clients);
  };
  return load;
}
