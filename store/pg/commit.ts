import type pg from 'pg';
import type { MakeId } from '../../core/ids/ids.ts';
import type { EventNote } from '../../core/journal/events.ts';
import type { Notes } from '../../core/journal/notes.ts';
import { opKinds } from '../../core/journal/opKinds.ts';
import type { HmacPads } from '../secrets.ts';
import { addAccount } from './accountScope.ts';
import { bindOrm, type Database, explainDatabaseError, type Orm, timeouts } from './database.ts';
import { explainKeyError, type KeptDraft, KeyTaken, keepDraft } from './keepDraft.ts';
import { flushSql, sendTogether } from './sendTogether.ts';

/** Who made a change, as the journal records it. */
export interface Actor {
  name: string;
  userId: string | null;
  credential: string;
  requestId: string;
}

/** The numbers of a change's first op, audit entry and event; further ones follow without gaps. */
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
  /** Lets the rest of the transaction touch the rows of another account: one that it creates, or that shares a card. */
  admitAccount(accountId: string): Promise<void>;
  /** Starts the journal of a new workbook or account. */
  openHead(scope: string, accountId: string): Promise<void>;
  note(scope: string, notes: Notes): void;
  /** Runs when everything is on disk, if this process lives so long; never when the change fails. */
  afterCommit(work: () => void): void;
}

/** A change that is one statement, with its journal notes. */
export interface StatementChange<T> {
  scope: string;
  notes: Notes;
  statement(at: Date): { name: string; text: string; values: unknown[] };
  read(row: Record<string, string>): T;
  explain(error: unknown): unknown;
  /** A column of the statement's result with further events, which only the database can know. */
  eventsFrom?: string;
  /** SQL: what completes a draft of its answer, a JSON object made of what it has `changed` and the journal has `noted`. */
  outcome?: string;
}

type Steps<T> = (tx: Tx) => Promise<T>;
export type Change<T> = Steps<T> | StatementChange<T>;

export interface Committer {
  db: Database;
  auditPads: HmacPads;
  /** Gives events their ids. */
  makeId: MakeId;
}

/** Sets the accounts for this transaction, because the connection may have served others before. */
const begin = (accounts: string) =>
  `BEGIN; SET LOCAL lock_timeout = '${timeouts.lock}'; SET LOCAL transaction_timeout = '${timeouts.transaction}'; SET LOCAL synchronous_commit = off; SET LOCAL svc.accounts = '${accounts}'`;
const commitAndFlush = `COMMIT; ${flushSql}`;

export interface Committed<T> {
  result: T;
  numbers: Map<string, JournalNumbers>;
}

/**
 * Commits a change and makes the answer in the same transaction, so that it can be stored for repeated requests. Where a draft of
 * the answer can be given before, a change that is one statement stores that, together with its outcome.
 */
export type WriteAnswer<Answer> = <T>(
  change: Change<T>,
  answer: (result: T, numbers: Map<string, JournalNumbers>) => Answer,
  draft?: () => Answer | undefined,
) => Promise<Answer>;

type Finish<T, R> = (result: T, numbers: Map<string, JournalNumbers>, tx: Tx) => Promise<R>;

/**
 * The only way to write. `change` runs its statements and calls `tx.note` to say what it did; then the journal is written,
 * `finish` may write what needs the journal's numbers, and the promise resolves when everything is on disk. To save round
 * trips, BEGIN is sent together with the first statement, and the journal together with COMMIT. If any statement fails,
 * PostgreSQL turns that COMMIT into a rollback. A change that is one statement is sent in a batch with others like it.
 */
export function commit<T>(committer: Committer, actor: Actor, change: Change<T>): Promise<Committed<T>>;
export function commit<T, R>(committer: Committer, actor: Actor, change: Steps<T>, finish: Finish<T, R>): Promise<R>;
export async function commit<T, R>(
  committer: Committer,
  actor: Actor,
  change: Change<T>,
  finish?: Finish<T, R>,
): Promise<R | Committed<T>> {
  return typeof change === 'function' ? commitSteps(committer, actor, change, finish) : commitStatement(committer, actor, change, null);
}

/** Keys under which this process is committing. The database would see the second only after the first, on the same connection. */
const keysUnderWay = new Set<string>();

/** Commits a change together with a draft of its answer. Fails with `KeyTaken` if the same request was answered, or is being answered. */
export async function commitWithDraft<T>(
  committer: Committer,
  actor: Actor,
  change: StatementChange<T>,
  draft: KeptDraft,
): Promise<Committed<T>> {
  const key = `${draft.scope} ${draft.keyHash.toString('base64')}`;
  if (keysUnderWay.has(key)) throw new KeyTaken();
  keysUnderWay.add(key);
  try {
    return await commitStatement(committer, actor, change, draft);
  } finally {
    keysUnderWay.delete(key);
  }
}

/** Runs a change that is one statement as a step of a larger one. */
export async function applyStatementChange<T>(tx: Tx, change: StatementChange<T>): Promise<T> {
  tx.note(change.scope, change.notes);
  const { rows } = await tx.client.query<Record<string, string>>(change.statement(tx.at)).catch((error: unknown) => {
    throw change.explain(error);
  });
  const row = rows[0] as Record<string, string>;
  if (change.eventsFrom) tx.note(change.scope, { events: row[change.eventsFrom] as unknown as EventNote[] });
  return change.read(row);
}

async function commitStatement<T>(
  committer: Committer,
  actor: Actor,
  change: StatementChange<T>,
  draft: KeptDraft | null,
): Promise<Committed<T>> {
  const { db } = committer;
  const at = new Date();
  const { name, text, values } = change.statement(at);
  const journal = journalValues(committer, { actor, at }, change.scope, [change.notes]);
  const places = journal.map((_, i) => `$${values.length + i + 1}`);
  if (change.eventsFrom) places[eventsPlace] = `${places[eventsPlace]}::jsonb || changed.${change.eventsFrom}`;
  // All changes of a workbook wait for its journal's head, so it is locked last. The CASE makes `svc_journal` run after the change.
  const [scope, ...others] = places;
  const kept = draft && keepDraft(draft, change.outcome ?? "'{}'", values.length + journal.length);
  try {
    const { rows } = await db.sendBatched(db.pool.accounts(), change.scope, {
      name: kept ? `${name}_commit_once` : `${name}_commit`,
      text: `WITH changed AS MATERIALIZED (${text})
             SELECT changed.*, noted.*, set_config('synchronous_commit', 'off', true) AS unflushed
             FROM changed CROSS JOIN LATERAL svc_journal(CASE WHEN changed IS NULL THEN NULL ELSE ${scope} END, ${others.join(', ')}) AS noted
             ${kept?.join ?? ''}`,
      values: [...values, ...journal, ...(kept?.values ?? [])],
    });
    const row = rows[0] as Record<string, string>;
    return { result: change.read(row), numbers: new Map([[change.scope, readNumbers(row)]]) };
  } catch (error) {
    throw explainDatabaseError(change.explain(explainKeyError(error)));
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
    const afterwards: (() => void)[] = [];
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
        accounts = addAccount(accounts, accountId);
        await client.query("SELECT set_config('svc.accounts', $1, true)", [accounts]);
      },
      async openHead(scope, accountId) {
        await client.query('SELECT svc_open_head($1, $2, $3, $4)', [scope, accountId, auditPads.inner, auditPads.outer]);
      },
      note(scope, notes) {
        journal.set(scope, [...(journal.get(scope) ?? []), notes]);
      },
      afterCommit(work) {
        afterwards.push(work);
      },
    };
    const numbers = new Map<string, JournalNumbers>();
    const write = async (scope: string) => {
      numbers.set(scope, await writeJournal(committer, tx, scope, journal.get(scope) ?? []));
    };
    // Heads are always locked in the same order, so that two changes cannot deadlock.
    const scopes = () => [...journal.keys()].sort();
    const { begun, changed } = sendTogether(client, () => ({ begun: client.query(begin(accounts)), changed: change(tx) }));
    // If BEGIN fails, the next statement fails too, and its error is the one reported.
    begun.catch(() => {});
    const result = await changed;
    await begun;
    if (finish) {
      for (const scope of scopes()) await write(scope);
      const answer = await finish(result, numbers, tx);
      await client.query(commitAndFlush);
      for (const work of afterwards) work();
      return answer;
    }
    await inOrder(sendTogether(client, () => [...scopes().map(write), client.query(commitAndFlush)]));
    for (const work of afterwards) work();
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

/** Waits for all; throws the first failure, which is the cause of the later ones. */
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

/** Where the events stand among them. */
const eventsPlace = 8;

/** The parameters of `svc_journal`. */
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

/** The result of `svc_journal`. */
function readNumbers(row: Record<string, string>): JournalNumbers {
  return { firstOp: Number(row.first_op), firstAudit: Number(row.first_audit), firstEvent: Number(row.first_event) };
}
