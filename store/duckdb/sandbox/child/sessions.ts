import { randomBytes } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { LoadedRelation } from '../protocol.ts';
import { holdTables } from './holdTables.ts';
import { openSession, type Session } from './session.ts';

/** A session that stays, with its tables and the folder of their files. */
interface Kept {
  session: Session;
  relations: LoadedRelation[];
  /** Bytes of these files. */
  bytes: number;
  /** What its queries took. */
  spentMs: number;
  /** What its tables take in memory. Null: they were not held yet. */
  heldBytes: number | null;
}

/** What holding takes. It is worth it once queries took as long, whatever is asked later. */
const holdMs = (bytes: number) => 20 + (12 * bytes) / 1_048_576;
/** Files whose tables may be held, of one session and of all of a process; they take about as much memory, of that which queries have. */
const mostHeld = { ofOne: 192 * 1024 * 1024, ofAll: 256 * 1024 * 1024 };

/** The sessions of a query process: those that stay, by their ids, and one that is prepared in advance. */
export class Sessions {
  private readonly kept = new Map<string, Kept>();
  private prepared = openSession();

  /** The prepared one, with nothing in it, unless it was loaded for a query alone. */
  get next(): Promise<Session> {
    return this.prepared;
  }

  find(id: string | null): Kept | undefined {
    return id === null ? undefined : this.kept.get(id);
  }

  /** Lets the prepared session stay under this id. `replace` is to be called once there is time. */
  async keep(id: string, relations: LoadedRelation[], folder: string): Promise<void> {
    const bytes = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
    this.kept.set(id, { session: await this.prepared, relations, bytes, spentMs: 0, heldBytes: null });
  }

  /** Prepares another session in the place of the one that was used. A request that needs it waits for it; others do not. */
  async replace(): Promise<void> {
    const used = this.prepared;
    this.prepared = openSession();
    const old = await used;
    if (![...this.kept.values()].some(({ session }) => session === old)) old.close();
    await this.prepared;
  }

  /** After a query that took so long: whether the tables should be held in memory, because much is asked of them. */
  spend(id: string | null, ms: number): boolean {
    const kept = this.find(id);
    if (!kept) return false;
    kept.spentMs += ms;
    return kept.heldBytes === null && kept.spentMs >= holdMs(kept.bytes) && kept.bytes <= Math.min(mostHeld.ofOne, this.room);
  }

  async hold(id: string): Promise<void> {
    const kept = this.kept.get(id);
    if (!kept || kept.heldBytes !== null) return;
    const { session, relations, bytes } = kept;
    kept.heldBytes = bytes;
    kept.heldBytes = await holdTables(session, relations, { mark: randomBytes(6).toString('hex'), bytes, room: this.room });
  }

  /** What may be held yet. */
  private get room(): number {
    return [...this.kept.values()].reduce((left, { heldBytes }) => left - (heldBytes ?? 0), mostHeld.ofAll);
  }

  end(id: string): void {
    this.kept.get(id)?.session.close();
    this.kept.delete(id);
  }
}
