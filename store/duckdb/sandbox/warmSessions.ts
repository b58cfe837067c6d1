import { createHash } from 'node:crypto';
import type { Relation } from '../relation.ts';

/**
 * Sessions of a query process that stay for later queries over the same tables. What a session shows is fixed when it is made,
 * so it is known by all that decides this: two callers share one only if they see exactly the same.
 */
export class WarmSessions {
  /** In the order of their last use. */
  private readonly byKey = new Map<string, { id: string; madeAt: number; usedAt: number }>();

  get size(): number {
    return this.byKey.size;
  }

  /** So many that the old ones should end at once. */
  get isCrowded(): boolean {
    return this.byKey.size > limits.crowd;
  }

  has(key: string): boolean {
    return this.byKey.has(key);
  }

  /** The id of a session for the next query. */
  find(key: string, now: number): string | null {
    const session = this.byKey.get(key);
    if (!session) return null;
    session.usedAt = now;
    this.byKey.delete(key);
    this.byKey.set(key, session);
    return session.id;
  }

  add(key: string, id: string, now: number): void {
    this.byKey.set(key, { id, madeAt: now, usedAt: now });
  }

  remove(key: string): void {
    this.byKey.delete(key);
  }

  /** Takes out those that are too old, and the longest unused of too many. */
  takeOld(now: number): string[] {
    let surplus = this.byKey.size - limits.sessions;
    const old = [...this.byKey].filter(([, { madeAt, usedAt }]) => {
      surplus -= 1;
      return surplus >= 0 || now - usedAt > limits.idleMs || now - madeAt > limits.lifeMs;
    });
    for (const [key] of old) this.byKey.delete(key);
    return old.map(([, { id }]) => id);
  }

  takeAll(): string[] {
    const ids = [...this.byKey.values()].map(({ id }) => id);
    this.byKey.clear();
    return ids;
  }
}

const limits = { sessions: 8, crowd: 12, idleMs: 60_000, lifeMs: 600_000 };

/** What decides what a session shows. Null: it must not stay, because hidden columns have to be taken out of its tables first. */
export function keySession(accountId: string, relations: Relation[]): string | null {
  if (relations.some(({ governed }) => governed)) return null;
  const hash = createHash('sha256').update(accountId);
  for (const { name, versionUid, columns } of relations) hash.update(JSON.stringify([name, versionUid, columns]));
  return hash.digest('base64url');
}
