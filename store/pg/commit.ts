import type pg from 'pg';
import type { MakeId } from '../../core/ids/ids.ts';
import type { Notes } from '../../core/journal/notes.ts';
import { opKinds } from '../../core/journal/opKinds.ts';
import type { HmacPads } from '../secrets.ts';
import { bindOrm, type Database, explainDatabaseError, type Orm, patience } from './database.ts';
import { flush, sendTogether } from './sendTogether.ts';
import { joinAccounts } from './whoseRows.ts';

/** Whom a change is written down for. */
export interface Actor {
  name: string;
  userId: string | null;
  credential: string;
  requestId: string;
}

/** The numbers that the journal gave; they count on from here within one change. */
export interface JournalNumbers {
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
}

/** A change that is one statement, and what the journal says of it. */
export interface WholeChange<T> {
  scope: string;
  notes: Notes;
  statement(at: Date): { name: string; text: string; values: unknown[] };
  read(row: Record<string, string>): T;
  explain(error: unknown): unknown;
}

type Steps<T> = (tx: Tx) => Promise<T>;
export type Change<T> = Steps<T> | WholeChange<T>;

export interface Committer {
  db: Database;
  auditPads: HmacPads;
  /** Gives events their ids. */
  makeId: MakeId;
}

/** With the accounts that it is for: they are the transaction's own, whatever the connection was used for before. */
const begin = (accounts: string) =>
  `BEGIN; SET LOCAL lock_timeout = '${patience.lock}'; SET LOCAL transaction_timeout = '${patience.transaction}'; SET LOCAL synchronous_commit = off; SET LOCAL svc.accounts = '${accounts}'`;
const commitAndFlush = `COMMIT; ${flush}`;

export interface Committed<T> {
  result: T;
  numbers: Map<string, JournalNumbers>;
}

/** Commits a change; its answer is made in the same transaction, so that a request can keep it for whoever repeats the request. */
export type WriteAnswer<Answer> = <T>(
  change: Change<T>,
  answer: (result: T, numbers: Map<string, JournalNumbers>) => Answer,
) => Promise<Answer>;

type Finish<T, R> = (result: T, numbers: Map<string, JournalNumbers>, tx: Tx) => Promise<R>;

/**
 * The one way to write. `change` does its statements and says with `tx.note` what it did; then the journal is written,
 * `finish` may add what needs the journal's numbers, and the caller hears of it when it is on disk. Statements that need
 * nothing of the answer to the one before are sent right behind it: the beginning with the first, the journal with the end.
 * Whatever fails, the end behind it takes everything back. A change that is one statement is sent in one batch with others of its kind.
 */
export function commit<T>(committer: Committer, actor: Actor, change: Change<T>): Promise<Committed<T>>;
export function commit<T, R>(committer: Committer, actor: Actor, change: Steps<T>, finish: Finish<T, R>): Promise<R>;
export async function commit<T, R>(
  committer: Committer,
  actor: Actor,
  change: Change<T>,
  finish?: Finish<T, R>,
): Promise<R | Committed<T>> {
  return typeof change === 'function' ? commitSteps(committer, actor, change, finish) : commitWhole(committer, actor, change);
}

/** A whole change as a step among others. */
export async function applyWhole<T>(tx: Tx, change: WholeChange<T>): Promise<T> {
  tx.note(change.scope, change.notes);
  const { rows } = await tx.client.query<Record<string, string>>(change.statement(tx.at)).catch((error: unknown) => {
    throw change.explain(error);
  });
  return change.read(rows[0] as Record<string, string>);
}

async function commitWhole<T>(committer: Committer, actor: Actor, change: WholeChange<T>): Promise<Committed<T>> {
  const { db } = committer;
  const at = new Date();
  const { name, text, values } = change.statement(at);
  const journal = journalValues(committer, { actor, at }, change.scope, [change.notes]);
  const places = journal.map((_, i) => `$${values.length + i + 1}`);
  // The journal's head is what all changes of a workbook wait for: it is taken last. The scope makes it wait for the change.
  const [scope, ...others] = places;
  try {
    const { rows } = await db.sendBatched(db.pool.accounts(), change.scope, {
      name: `${name}_whole`,
      text: `WITH changed AS MATERIALIZED (${text})
             SELECT changed.*, noted.*, set_config('synchronous_commit', 'off', true) AS unflushed
             FROM changed CROSS JOIN LATERAL svc_journal(CASE WHEN changed IS NULL THEN NULL ELSE ${scope} END, ${others.join(', ')}) AS noted`,
      values: [...values, ...journal],
    });
    const row = rows[0] as Record<string, string>;
    return { result: change.read(row), numbers: new Map([[change.scope, readNumbers(row)]]) };
  } catch (error) {
    throw explainDatabaseError(change.explain(error));
  }
}

async function commitSteps<T, R>(committer: Committer, actor: Actor, change: Steps<T>, finish?: Finish<T, R>): Promise<R | Committed<T>> {
  const { db, auditPads } = committer;
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
    };
    const numbers = new Map<string, JournalNumbers>();
    const write = async (scope: string) => {
      numbers.set(scope, await writeJournal(committer, tx, scope, journal.get(scope) ?? []));
    };
    // Heads are locked in one order everywhere, so that two changes cannot wait for each other.
    const scopes = () => [...journal.keys()].sort();
    const { begun, changed } = sendTogether(client, () => ({ begun: client.query(begin(accounts)), changed: change(tx) }));
    // Whoever waits for the statement behind it hears of its failure, too.
    begun.catch(() => {});
    const result = await changed;
    await begun;
    if (finish) {
      for (const scope of scopes()) await write(scope);
      const answer = await finish(result, numbers, tx);
      await client.query(commitAndFlush);
      return answer;
    }
    await inOrder(sendTogether(client, () => [...scopes().map(write), client.query(commitAndFlush)]));
    return { result, numbers };
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

async function writeJournal(committer: Committer, tx: Tx, scope: string, notes: Notes[]): Promise<JournalNumbers> {
  const { rows } = await tx.client.query<Record<string, string>>({
    name: 'svc_journal',
    text: 'SELECT * FROM svc_journal($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)',
    values: journalValues(committer, tx, scope, notes),
  });
  return readNumbers(rows[0] as Record<string, string>);
}

/** What `svc_journal` takes. */
function journalValues(
  { auditPads, makeId }: Committer,
  { actor, at }: Pick<Tx, 'actor' | 'at'>,
  scope: string,
  notes: Notes[],
): unknown[] {
  const ops = notes
    .flatMap((note) => note.ops ?? [])
    .map((op) => ({
      kind: op.kind,
      table_id: op.tableId,
      table_name: op.tableName,
      edit_version: op.editVersion,
      code_ref: op.codeRef,
      undoable: opKinds[op.kind].undoable,
    }));
  const audit = notes.flatMap((note) => note.audit ?? []).map((entry) => ({ ...entry, detail: entry.detail ?? {} }));
  const events = notes.flatMap((note) => note.events ?? []).map((event) => ({ id: makeId('evt'), ...event }));
  return [
    scope,
    at,
    actor.name,
    actor.userId,
    actor.credential,
    actor.requestId,
    JSON.stringify(ops),
    JSON.stringify(audit),
    JSON.stringify(events),
    JSON.stringify(notes.flatMap((note) => note.usage ?? [])),
    auditPads.inner,
    auditPads.outer,
  ];
}

/** What it answers. */
function readNumbers(row: Record<string, string>): JournalNumbers {
  return { firstOp: Number(row.first_op), firstAudit: Number(row.first_audit), firstEvent: Number(row.first_event) };
}
