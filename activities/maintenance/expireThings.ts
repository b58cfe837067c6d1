import { deleteExpired, type Expired } from '../../store/pg/expiry.ts';
import type { Services } from '../../store/services.ts';

/** Safe to run twice and to be cut off anywhere: it only deletes what is past its time. */
export async function expireThings(services: Services, heartbeat: () => void): Promise<Expired> {
  const expired = await deleteExpired(services.db, heartbeat, services.blobs);
  services.log.info({ expired }, 'expired things removed');
  return expired;
}
