import { index, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { at, bytea } from './columnTypes.ts';
import { accounts, users } from './identity.ts';

/** That a user lets the service read a drive, for what is done in an account. */
export const driveGrants = pgTable(
  'drive_grants',
  {
    userId: text('user_id')
      .notNull()
      .references(() => users.id),
    accountId: text('account_id')
      .notNull()
      .references(() => accounts.id),
    provider: text('provider', { enum: ['google_drive', 'onedrive'] }).notNull(),
    /** Encrypted. Null: the consent was withdrawn. The row stays, so that an old authorization cannot be used again. */
    tokens: bytea('tokens'),
    /** Of the drive. */
    email: text('email'),
    scopes: text('scopes').array().notNull(),
    authorizedAt: at('authorized_at').notNull(),
    updatedAt: at('updated_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.userId, t.accountId, t.provider] }), index('drive_grants_account').on(t.accountId)],
);
