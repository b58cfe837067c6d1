import type pg from 'pg';
import type { HmacPads } from '../secrets.ts';
import { bindOrm, type Database, explainDatabaseError, type Orm } from './database.ts';
import { joinAccounts } from './whoseRows.ts';

/** Whom a change is written down for. */
export interface Actor {
  name: string;
  userId: string | null;
  credential: string;
  requestId: string;
}

export interface OpNote {
  kind: string;
  tableId?: string;
  tableName?: string;
  editVersion?: number;
  codeRef?: string;
  undoable?: boolean;
}

export interface AuditNote {
  action: string;
  target: string;
  detail?: Record<string, unknown>;
}

export interface EventNote {
  id: string;
  type: string;
  data: Record<string, unknown>;
}

export interface UsageNote {
  kind: string;
  amount: number;
}

/** What a change leaves behind in the journal of one workbook or account. */
export interface Notes {
  ops?: OpNote[];
  audit?: AuditNote[];
  events?: EventNote[];
  usage?: UsageNote[];
}

/** The numbers that the journal gave; they count on from here within one change. */
export interface Marks {
  firstOp: number;
  firstAudit: number;
  firstEvent: number;
}

export interface Tx {
  orm: Orm;
  client: pg.PoolClient;
  actor: Actor;
  at: Date;
  /** An account that this change makes: from here to its end, the rows of it may be touched too. */
  admitAccount(accountId: string): Promise<void>;
  /** Starts the journal of a new workbook or account. */
  openHead(scope: string, accountId: string): Promise<void>;
  note(scope: string, notes: Notes): void;
  /** Said before anything was waited for: all is sent and noted, so that the journal and the end can go right behind. */
  nothingElse(): void;
}

export interface Committer {
  db: Database;
  auditPads: HmacPads;
}

/** With the accounts that it is for: they are the transaction's own, whatever the connection was used for before. */
const begin = (accounts: string) =>
  `BEGIN; SET LOCAL lock_timeout = '3s'; SET LOCAL transaction_timeout = '10s'; SET LOCAL synchronous_commit = off; SET LOCAL svc.accounts = '${accounts}'`;
// The locks go with COMMIT; the flush that follows makes it, and all before it, durable. On the same connection: one that
// lived through both was served by one run of the server, so a crash in between cannot go unnoticed.
const commitAndFlush = `COMMIT; SELECT pg_logical_emit_message(true, 'flush', '')`;

export interface Committed<T> {
  result: T;
  marks: Map<string, Marks>;
}

type Finish<T, R> = (result: T, marks: Map<string, Marks>, tx: Tx) => Promise<R>;

/**
 * The one way to write. `change` does its statements and says with `tx.note` what it did; then the journal is written,
 * `finish` may add what needs the journal's numbers, and the caller hears of it when it is on disk. Statements that need
 * nothing of the answer to the one before are sent right behind it: the beginning with the first, the journal with the end,
 * and a change that says so all at once. Whatever fails, the end behind it takes everything back.
 */
export function commit<T>(committer: Committer, actor: Actor, change: (tx: Tx) => Promise<T>): Promise<Committed<T>>;
export function commit<T, R>(committer: Committer, actor: Actor, change: (tx: Tx) => Promise<T>, finish: Finish<T, R>): Promise<R>;
export async function commit<T, R>(
  { db, auditPads }: Committer,
  actor: Actor,
  change: (tx: Tx) => Promise<T>,
  finish?: Finish<T, R>,
): Promise<R | Committed<T>> {
  let accounts = db.pool.accounts();
  let client: pg.PoolClient;
  try {
    client = await db.pool.connectForTransaction();
  } catch (error) {
    throw explainDatabaseError(error);
  }
  let broken: Error | undefined;
  try {
    const journal = new Map<string, Notes[]>();
    let isAll = false;
    let orm: Orm | undefined;
    const tx: Tx = {
      get orm() {
        orm ??= bindOrm(client);
        return orm;
      },
      client,
      actor,
      at: new Date(),
      async admitAccount(accountId) {
        accounts = joinAccounts(accounts, accountId);
        await client.query("SELECT set_config('svc.accounts', $1, true)", [accounts]);
      },
      async openHead(scope, accountId) {
        await client.query('SELECT svc_open_head($1, $2, $3, $4)', [scope, accountId, auditPads.inner, auditPads.outer]);
      },
      note(scope, notes) {
        journal.set(scope, [...(journal.get(scope) ?? []), notes]);
      },
      nothingElse() {
        isAll = true;
      },
    };
    const marks = new Map<string, Marks>();
    const write = async (scope: string) => {
      marks.set(scope, await writeJournal(tx, auditPads, scope, journal.get(scope) ?? []));
    };
    // Heads are locked in one order everywhere, so that two changes cannot wait for each other.
    const scopes = () => [...journal.keys()].sort();
    const sendEnd = () => [...scopes().map(write), client.query(commitAndFlush)];
    const { begun, changed, ended } = sendTogether(client, () => ({
      begun: client.query(begin(accounts)),
      changed: change(tx),
      ended: isAll && !finish ? sendEnd() : null,
    }));
    if (ended) {
      await inOrder([begun, changed, ...ended]);
      return { result: await changed, marks };
    }
    // Whoever waits for the statement behind it hears of its failure, too.
    begun.catch(() => {});
    const result = await changed;
    await begun;
    if (finish) {
      for (const scope of scopes()) await write(scope);
      const answer = await finish(result, marks, tx);
      await client.query(commitAndFlush);
      return answer;
    }
    await inOrder(sendTogether(client, sendEnd));
    return { result, marks };
  } catch (error) {
    try {
      await client.query('ROLLBACK');
    } catch (failure) {
      broken = failure as Error;
    }
    throw explainDatabaseError(error);
  } finally {
    client.release(broken);
  }
}

/** Waits for all; fails as the first that failed, which is what the others failed of. */
async function inOrder(sent: Promise<unknown>[]): Promise<void> {
  for (const outcome of await Promise.allSettled(sent)) if (outcome.status === 'rejected') throw outcome.reason;
}

/** In one packet, as far as it is sent without waiting. */
function sendTogether<T>(client: pg.PoolClient, send: () => T): T {
  const { stream } = (client as pg.Client).connection;
  stream.cork();
  try {
    return send();
  } finally {
    stream.uncork();
  }
}

async function writeJournal(tx: Tx, pads: HmacPads, scope: string, notes: Notes[]): Promise<Marks> {
  const { actor } = tx;
  const ops = notes
    .flatMap((note) => note.ops ?? [])
    .map((op) => ({
      kind: op.kind,
      table_id: op.tableId,
      table_name: op.tableName,
      edit_version: op.editVersion,
      code_ref: op.codeRef,
      undoable: op.undoable,
    }));
  const audit = notes.flatMap((note) => note.audit ?? []).map((entry) => ({ ...entry, detail: entry.detail ?? {} }));
  const { rows } = await tx.client.query<{ first_op: string; first_audit: string; first_event: string }>({
    name: 'svc_journal',
    text: 'SELECT * FROM svc_journal($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)',
    values: [
      scope,
      tx.at,
      actor.name,
      actor.userId,
      actor.credential,
      actor.requestId,
      JSON.stringify(ops),
      JSON.stringify(audit),
      JSON.stringify(notes.flatMap((note) => note.events ?? [])),
      JSON.stringify(notes.flatMap((note) => note.usage ?? [])),
      pads.inner,
      pads.outer,
    ],
  });
  const row = rows[0] as (typeof rows)[number];
  return { firstOp: Number(row.first_op), firstAudit: Number(row.first_audit), firstEvent: Number(row.first_event) };
}
