import { countAdded } from '../../core/storage/use.ts';
import type { PreparedEdit } from '../../core/table/edit.ts';
import { type EditOutcome, foreseeOutcome } from '../../core/table/editOutcome.ts';
import type { Change, JournalNumbers, WriteAnswer } from '../../store/pg/commit.ts';
import { type EditedTable, VersionMoved } from '../../store/pg/tableEdits.ts';
import type { Services } from '../../store/services.ts';
import { requestCompaction } from '../compaction/startCompaction.ts';
import { withRoom } from '../storage/withRoom.ts';
import { commitPlan, retryOnMove } from './editTable.ts';

type Planned = Pick<PreparedEdit, 'at' | 'plan'>;

export interface Edit<Prepared extends Planned> {
  /** Plans the edit on the current version. */
  prepare(): Promise<Prepared>;
  /** Runs in the transaction; by default it applies the plan. */
  change?(prepared: Prepared): Change<EditedTable>;
}

/** Edits one table. `draft`: the answer may be written before the edit is made, and completed by `completeAnswer`. */
export async function commitEdit<Prepared extends Planned, Answer>(
  services: Services,
  write: WriteAnswer<Answer>,
  edit: Edit<Prepared>,
  answer: (prepared: Prepared, outcome: EditOutcome) => Answer,
  { draft = false } = {},
): Promise<Answer> {
  const change = edit.change ?? commitPlan;
  return commitEdits(
    services,
    write,
    {
      prepare: async () => [await edit.prepare()],
      change: ([prepared]) => change(prepared as Prepared),
      countTails: ({ tailCount }) => [tailCount],
      draft: ([prepared]) => (draft ? answer(prepared as Prepared, foreseeOutcome((prepared as Prepared).at.editVersion)) : undefined),
    },
    ([prepared], { editVersion, firstRowId, stale }, numbers) => {
      const { workbookId } = (prepared as Prepared).at.table;
      return answer(prepared as Prepared, { editVersion, opId: numbers.get(workbookId)?.firstOp ?? 0, firstRowId, stale });
    },
  );
}

/** Edits of tables of one account that are committed together. */
interface Edits<Prepared extends Planned, Done, Answer> {
  /** Plans them on the current versions. */
  prepare(): Promise<Prepared[]>;
  /** Runs in the transaction. */
  change(prepared: Prepared[]): Change<Done>;
  /** The log entries that each table has now; null for one that was not edited. */
  countTails(done: Done): (number | null)[];
  /** The answer as far as it is known before. */
  draft?(prepared: Prepared[]): Answer | undefined;
}

/**
 * The one way to edit tables: plans on the current versions, commits, retries if a table changed meanwhile, and requests a
 * compaction of tables that are over the limits. Retries hold a lock per table, and new edits wait for it: so many concurrent
 * writers take turns instead of making each other fail.
 */
export async function commitEdits<Prepared extends Planned, Done, Answer>(
  services: Services,
  write: WriteAnswer<Answer>,
  edits: Edits<Prepared, Done, Answer>,
  answer: (prepared: Prepared[], done: Done, numbers: Map<string, JournalNumbers>) => Answer,
): Promise<Answer> {
  const turns: (() => void)[] = [];
  // In order of ids, so that nobody waits for somebody who waits for them.
  const takeTurns = async (prepared: Prepared[]) => {
    for (const id of prepared.map(({ at }) => at.table.id).sort()) turns.push(await services.editLocks.acquire(id));
  };
  try {
    return await retryOnMove(async () => {
      let prepared = await edits.prepare();
      if (turns.length === 0 && prepared.some(({ at }) => services.editLocks.isHeld(at.table.id))) {
        await takeTurns(prepared);
        prepared = await edits.prepare();
      }
      const [first] = prepared;
      if (!first) throw new Error('there is nothing to edit');
      const bytes = prepared.reduce((sum, { plan }) => sum + countAdded(plan), 0);
      let tails: (number | null)[] = [];
      const writing = withRoom(services, first.at.table.accountId, bytes, () =>
        write(
          edits.change(prepared),
          (done, numbers) => {
            tails = edits.countTails(done);
            return answer(prepared, done, numbers);
          },
          () => edits.draft?.(prepared),
        ),
      );
      const answered = await writing.catch(async (error: unknown) => {
        if (error instanceof VersionMoved && turns.length === 0) await takeTurns(prepared);
        throw error;
      });
      for (const [i, { at, plan }] of prepared.entries()) {
        const layers = plan.appended ? [...at.layers, plan.appended.layer] : (plan.layers ?? at.layers);
        const tail = tails[i] ?? null;
        if (tail !== null) requestCompaction(services, at.table, tail, layers);
      }
      return answered;
    });
  } finally {
    for (const end of turns) end();
  }
}
