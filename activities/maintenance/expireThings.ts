import { deleteExpired, type Expired } from '../../store/pg/expiry.ts';
import type { Services } from '../../store/services.ts';
import { releaseStuckCredits } from '../credits/releaseStuckCredits.ts';

/** Removes only what has expired, so it can be repeated or interrupted anywhere. */
export async function expireThings(services: Services, heartbeat: () => void): Promise<Expired & { reservations: number }> {
  const expired = {
    ...(await deleteExpired(services.db, heartbeat, services.blobs)),
    reservations: await releaseStuckCredits(services, heartbeat),
  };
  if (Object.values(expired).some((count) => count > 0)) services.log.info({ expired }, 'expired things removed');
  return expired;
}
