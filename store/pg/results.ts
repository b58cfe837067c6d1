import { eq } from 'drizzle-orm';
import { results } from '../../schema/index.ts';
import type { Orm } from './database.ts';

export type ResultRecord = typeof results.$inferSelect;

export async function insertResult(orm: Orm, result: typeof results.$inferInsert): Promise<void> {
  await orm.insert(results).values(result);
}

export async function findResult(orm: Orm, id: string): Promise<ResultRecord | null> {
  const [row] = await orm.select().from(results).where(eq(results.id, id));
  return row ?? null;
}
