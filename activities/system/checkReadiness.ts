import { describeErrorForLog } from '../../store/log.ts';
import { pingDatabase } from '../../store/pg/database.ts';
import type { Services } from '../../store/services.ts';

const patienceMs = 3_000;
/** The first query has to start a process. */
const patienceWithQueriesMs = 10_000;
/** Key of a blob that does not exist: the store only has to say so. */
const nobodysBlob = `readiness/${'0'.repeat(64)}.none`;

/** Checks every part that the service needs; returns those that do not answer. */
export async function checkReadiness(services: Services): Promise<{ part: string }[]> {
  const checks: Record<string, () => Promise<unknown>> = {
    database: () => pingDatabase(services.db),
    blobs: () => services.blobs.exists(nobodysBlob),
    temporal: async () => (await services.temporal()).describeNamespace(),
    queries: async () => {
      if ((await services.sandbox()).state.alive === 0) throw new Error('no query process is alive');
    },
  };
  const results = await Promise.all(
    Object.entries(checks).map(async ([part, ask]) => {
      try {
        await withPatience(ask(), part === 'queries' ? patienceWithQueriesMs : patienceMs);
        return null;
      } catch (error) {
        services.log.warn({ away: part, ...describeErrorForLog(error) }, 'not ready');
        return { part };
      }
    }),
  );
  return results.filter((result) => result !== null);
}

async function withPatience(answer: Promise<unknown>, patienceMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no answer in time')), patienceMs);
  });
  await Promise.race([answer, late]).finally(() => clearTimeout(timer));
}
