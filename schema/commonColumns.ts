import { sql } from 'drizzle-orm';
import { text } from 'drizzle-orm/pg-core';
import { at } from './columnTypes.ts';
import { workbooks } from './workbooks.ts';

export const workbookId = () =>
  text('workbook_id')
    .notNull()
    .references(() => workbooks.id);

/** Of what belongs to a workbook. The account is copied from it, because row security checks every row. */
export const inWorkbook = () => ({ workbookId: workbookId(), accountId: text('account_id').notNull() });

/** A name, and the form in which it is compared. That is stored: with row security no index on `lower(name)` would be used. */
export const namedIgnoringCase = () => ({
  name: text('name').notNull(),
  nameKey: text('name_key').notNull().generatedAlwaysAs(sql`lower(name)`),
});

export const changeTimes = () => ({ createdAt: at('created_at').notNull(), updatedAt: at('updated_at').notNull() });
