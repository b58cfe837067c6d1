import { deleteExpired, type Expired } from '../../store/pg/expiry.ts';
import type { Services } from '../../store/services.ts';
import { releaseStuckCredits } from '../credits/releaseStuckCredits.ts';

/** Safe to run twice and to be cut off anywhere: it only ends what is past its time. */
export async function expireThings(services: Services, heartbeat: () => void): Promise<Expired & { reservations: number }> {
  const expired = {
    ...(await deleteExpired(services.db, heartbeat, services.blobs)),
    reservations: await releaseStuckCredits(services, heartbeat),
  };
  services.log.info({ expired }, 'expired things removed');
  return expired;
}
