import { describeErrorForLog } from '../../store/log.ts';
import { pingDatabase } from '../../store/pg/database.ts';
import type { Services } from '../../store/services.ts';

const patienceMs = 3_000;
/** The first query has to start a process. */
const patienceWithQueriesMs = 10_000;
/** Key of a blob that does not exist: the store only has to say so. */
const nobodysBlob = `readiness/${'0'.repeat(64)}.none`;

const parts = ['database', 'blobs', 'temporal', 'queries', 'workers'] as const;
type Part = (typeof parts)[number];

export interface Readiness {
  /** Parts that do not answer. */
  away: Part[];
  /** Without workers the API goes on: rows, queries and all other readings need none, and jobs wait. */
  isReady: boolean;
}

/** Checks every part that the service needs. */
export async function checkReadiness(services: Services): Promise<Readiness> {
  const checks: Record<Part, () => Promise<unknown>> = {
    database: () => pingDatabase(services.db),
    blobs: () => services.blobs.exists(nobodysBlob),
    temporal: async () => (await services.temporal()).describeNamespace(),
    queries: async () => {
      if ((await services.sandbox()).state.alive === 0) throw new Error('no query process is alive');
    },
    workers: async () => {
      const { taskQueue } = services.config.temporal;
      if (!(await (await services.temporal()).hasWorkers(taskQueue))) throw new Error(`no worker asks for tasks of ${taskQueue}`);
    },
  };
  const results = await Promise.all(
    parts.map(async (part) => {
      try {
        await withPatience(checks[part](), part === 'queries' ? patienceWithQueriesMs : patienceMs);
        return null;
      } catch (error) {
        services.log.warn({ away: part, ...describeErrorForLog(error) }, 'not ready');
        return part;
      }
    }),
  );
  const silent = results.filter((result) => result !== null);
  // While Temporal is away its workers cannot be seen.
  const away = silent.includes('temporal') ? silent.filter((part) => part !== 'workers') : silent;
  return { away, isReady: away.every((part) => part === 'workers') };
}

async function withPatience(answer: Promise<unknown>, patienceMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no answer in time')), patienceMs);
  });
  await Promise.race([answer, late]).finally(() => clearTimeout(timer));
}
