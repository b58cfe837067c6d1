import type { StorageLimits } from '../core/storage/limits.ts';
import { countRoom, type StorageUse } from '../core/storage/use.ts';
import type { Database } from './pg/database.ts';
import { findStored } from './pg/storage.ts';

/** Where there is much room, what other processes wrote in a minute matters little. */
const freshMs = { withRoom: 60_000, nearlyFull: 5_000 };
const mostRemembered = 10_000;

/**
 * What accounts store. It is added up in the database now and then for each account, which takes the longer the more it has; in
 * between, what this process writes is added to what was found. Writes and deletions of other processes are seen late, so nothing
 * may be refused before it was read again.
 */
export class StorageMeter {
  private readonly known = new Map<string, { use: Promise<StorageUse>; until: number }>();
  /** Bytes that are being written. */
  private readonly held = new Map<string, number>();
  private readonly tidying = new Map<string, Promise<void>>();

  constructor(
    private readonly db: Database,
    private readonly limits: StorageLimits,
  ) {}

  /** As found some time ago, with what was written since by this process. */
  recall(accountId: string): Promise<StorageUse> {
    const found = this.known.get(accountId);
    return found && found.until > Date.now() ? found.use : this.read(accountId);
  }

  /** As it is now. */
  read(accountId: string): Promise<StorageUse> {
    if (this.known.size >= mostRemembered) this.known.clear();
    const use = this.find(accountId);
    const found = { use, until: Number.POSITIVE_INFINITY };
    this.known.set(accountId, found);
    use.then(
      (now) => {
        found.until = Date.now() + (countRoom(now) >= now.limit / 10 ? freshMs.withRoom : freshMs.nearlyFull);
      },
      () => this.known.delete(accountId),
    );
    return use;
  }

  /** Whether there is room for so many bytes, beside those that are being written. */
  hasRoom(accountId: string, use: StorageUse, bytes: number): boolean {
    return countRoom(use) - (this.held.get(accountId) ?? 0) >= bytes;
  }

  /** Counts bytes that are about to be written. Call what is returned when they are, or will not be. */
  hold(accountId: string, bytes: number): () => void {
    this.addHeld(accountId, bytes);
    // Both at once: what is being read just now may have been read before the bytes were there.
    const settle = (found?: StorageUse) => {
      if (found) found.tables += bytes;
      this.addHeld(accountId, -bytes);
    };
    return () => {
      const found = this.known.get(accountId);
      if (found) void found.use.then(settle, () => settle());
      else settle();
    };
  }

  /** Makes room in an account by `work`. Who comes while that is being done waits for it, since once is enough for all. */
  tidy(accountId: string, work: () => Promise<void>): Promise<void> {
    const under = this.tidying.get(accountId) ?? work().finally(() => this.tidying.delete(accountId));
    this.tidying.set(accountId, under);
    return under;
  }

  private addHeld(accountId: string, bytes: number): void {
    const held = (this.held.get(accountId) ?? 0) + bytes;
    if (held > 0) this.held.set(accountId, held);
    else this.held.delete(accountId);
  }

  private async find(accountId: string): Promise<StorageUse> {
    const { plan, ...stored } = await findStored(this.db, accountId);
    return { ...stored, limit: this.limits[plan] };
  }
}
