import { type Actor, commit } from '../../store/pg/commit.ts';
import { listStuckReservations } from '../../store/pg/credits.ts';
import type { Services } from '../../store/services.ts';
import { releaseCredits } from './releaseCredits.ts';

const actor: Actor = { name: 'system', userId: null, credential: 'none', requestId: 'release-stuck-credits' };

/**
 * Releases credits reserved by jobs that have ended or are gone; a job that was to be paid for has settled them with its
 * result. Returns how many jobs there were.
 */
export async function releaseStuckCredits(services: Services, heartbeat: () => void): Promise<number> {
  const stuck = await listStuckReservations(services.db.pool);
  for (const { accountId, jobId } of stuck) {
    heartbeat();
    await commit(
      services,
      actor,
      (tx) => releaseCredits(tx, jobId, accountId),
      async () => {},
    );
  }
  if (stuck.length > 0) services.log.warn({ jobs: stuck.map(({ jobId }) => jobId) }, 'credits given back that jobs had left reserved');
  return stuck.length;
}
