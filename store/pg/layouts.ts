import { createHash } from 'node:crypto';
import { desc, eq } from 'drizzle-orm';
import { fingerprintOf, type KnownLayout, type Layout } from '../../core/structuring/learning/layouts.ts';
import { layouts } from '../../schema/index.ts';
import type { Tx } from './commit.ts';
import type { Orm } from './database.ts';
import type { SourceRecord } from './sources.ts';

/** Layouts that a file is held against; those that were corrected longer ago are left out. */
const mostLayouts = 200;

/** The next sheet of this layout in the account is read the same way; an earlier correction of the layout is replaced. */
export async function rememberLayout(tx: Tx, { accountId, workbookId }: SourceRecord, layout: Layout): Promise<void> {
  const fingerprint = createHash('sha256').update(fingerprintOf(layout)).digest('hex');
  await tx.orm
    .insert(layouts)
    .values({ accountId, fingerprint, workbookId, layout, correctedAt: tx.at })
    .onConflictDoUpdate({ target: [layouts.accountId, layouts.fingerprint], set: { workbookId, layout, correctedAt: tx.at } });
}

/** The layouts that people of an account corrected, latest first. */
export async function listLayouts(orm: Orm, accountId: string): Promise<KnownLayout[]> {
  const rows = await orm
    .select({ layout: layouts.layout, correctedAt: layouts.correctedAt })
    .from(layouts)
    .where(eq(layouts.accountId, accountId))
    .orderBy(desc(layouts.correctedAt))
    .limit(mostLayouts);
  return rows.map(({ layout, correctedAt }) => ({ layout, correctedAt: correctedAt.toISOString() }));
}
