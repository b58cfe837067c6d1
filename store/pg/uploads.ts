import { eq } from 'drizzle-orm';
import { uploads } from '../../schema/index.ts';
import type { Tx } from './commit.ts';
import type { Orm } from './database.ts';

export type UploadRecord = typeof uploads.$inferSelect;

export async function insertUpload(tx: Tx, upload: typeof uploads.$inferInsert): Promise<UploadRecord> {
  const [row] = await tx.orm.insert(uploads).values(upload).returning();
  return row as UploadRecord;
}

export async function findUpload(orm: Orm, id: string): Promise<UploadRecord | null> {
  const [row] = await orm.select().from(uploads).where(eq(uploads.id, id));
  return row ?? null;
}

export async function lockUpload(tx: Tx, id: string): Promise<UploadRecord | null> {
  const [row] = await tx.orm.select().from(uploads).where(eq(uploads.id, id)).for('update');
  return row ?? null;
}

export async function updateUpload(tx: Tx, id: string, fields: Partial<typeof uploads.$inferInsert>): Promise<UploadRecord> {
  const [row] = await tx.orm.update(uploads).set(fields).where(eq(uploads.id, id)).returning();
  return row as UploadRecord;
}
