import { randomBytes } from 'node:crypto';
import type { LoadedRelation } from '../protocol.ts';
import { holdTables, queriesBefore } from './holdTables.ts';
import { openSession, type Session } from './session.ts';

/** A session that stays, with its tables and the folder of their files. */
interface Kept {
  session: Session;
  relations: LoadedRelation[];
  folder: string;
  queries: number;
}

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
    this.kept.set(id, { session: await this.prepared, relations, folder, queries: 0 });
  }

  /** Prepares another session in the place of the one that was used. A request that needs it waits for it; others do not. */
  async replace(): Promise<void> {
    const used = this.prepared;
    this.prepared = openSession();
    const old = await used;
    if (![...this.kept.values()].some(({ session }) => session === old)) old.close();
    await this.prepared;
  }

  /** After a query: what is asked often is held in memory. */
  async rest(id: string): Promise<void> {
    const kept = this.kept.get(id);
    if (!kept) return;
    kept.queries += 1;
    if (kept.queries === queriesBefore) await holdTables(kept.session, kept.relations, kept.folder, randomBytes(6).toString('hex'));
  }

  end(id: string): void {
    this.kept.get(id)?.session.close();
    this.kept.delete(id);
  }
}
