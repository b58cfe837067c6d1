import { sql } from 'drizzle-orm';
import { boolean, check, index, integer, jsonb, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { at } from './columnTypes.ts';

export const users = pgTable(
  'users',
  {
    id: text('id').primaryKey(),
    email: text('email').notNull(),
    /** Whether an OIDC issuer confirmed the address. One typed in at sign-up is unverified. */
    emailVerified: boolean('email_verified').notNull().default(false),
    name: text('name'),
    /** scrypt. Null: the user logs in through an OIDC issuer only. */
    passwordHash: text('password_hash'),
    createdAt: at('created_at').notNull().defaultNow(),
  },
  // Two unique indexes: somebody who signs up with another person's address must not lock out its verified owner.
  (t) => [
    uniqueIndex('users_login_email').on(sql`lower(${t.email})`).where(sql`password_hash IS NOT NULL`),
    uniqueIndex('users_verified_email').on(sql`lower(${t.email})`).where(sql`email_verified`),
    index('users_email').on(sql`lower(${t.email})`),
  ],
);

/** Identities of users at OIDC issuers. */
export const userIdentities = pgTable(
  'user_identities',
  {
    issuer: text('issuer').notNull(),
    subject: text('subject').notNull(),
    userId: text('user_id')
      .notNull()
      .references(() => users.id),
    createdAt: at('created_at').notNull().defaultNow(),
  },
  (t) => [primaryKey({ columns: [t.issuer, t.subject] })],
);

/** Sessions by `jti`. Those of OIDC issuers have a row only after log-out. */
export const sessions = pgTable(
  'sessions',
  {
    jti: text('jti').primaryKey(),
    userId: text('user_id')
      .notNull()
      .references(() => users.id),
    createdAt: at('created_at').notNull().defaultNow(),
    expiresAt: at('expires_at').notNull(),
    revokedAt: at('revoked_at'),
  },
  (t) => [index('sessions_expiry').on(t.expiresAt)],
);

export const accounts = pgTable(
  'accounts',
  {
    id: text('id').primaryKey(),
    ownerId: text('owner_id')
      .notNull()
      .references(() => users.id),
    name: text('name').notNull(),
    kind: text('kind', { enum: ['default', 'developer'] }).notNull(),
    plan: text('plan', { enum: ['free', 'payg', 'solo', 'pro'] })
      .notNull()
      .default('free'),
    planStatus: text('plan_status', { enum: ['none', 'trialing', 'active', 'past_due', 'canceled'] })
      .notNull()
      .default('none'),
    createdAt: at('created_at').notNull().defaultNow(),
    deletedAt: at('deleted_at'),
  },
  (t) => [index('accounts_owner').on(t.ownerId, t.id), uniqueIndex('accounts_one_default').on(t.ownerId).where(sql`kind = 'default'`)],
);

export const workspaces = pgTable(
  'workspaces',
  {
    id: text('id').primaryKey(),
    accountId: text('account_id')
      .notNull()
      .references(() => accounts.id),
    name: text('name').notNull(),
    kind: text('kind', { enum: ['personal', 'managed'] }).notNull(),
    residency: text('residency'),
    /** The language of names that structuring makes up. */
    naming: text('naming', { enum: ['ja', 'en', 'auto'] })
      .notNull()
      .default('ja'),
    preprocessRules: text('preprocess_rules'),
    idpConfig: jsonb('idp_config').$type<Record<string, unknown>>(),
    createdAt: at('created_at').notNull().defaultNow(),
    deletedAt: at('deleted_at'),
  },
  (t) => [index('workspaces_account').on(t.accountId, t.id)],
);

export const members = pgTable(
  'members',
  {
    workspaceId: text('workspace_id')
      .notNull()
      .references(() => workspaces.id),
    userId: text('user_id')
      .notNull()
      .references(() => users.id),
    role: text('role', { enum: ['viewer', 'editor', 'admin'] }).notNull(),
    /** Custom roles; policies name them. */
    roles: text('roles').array().notNull().default(sql`'{}'`),
    createdAt: at('created_at').notNull().defaultNow(),
  },
  (t) => [primaryKey({ columns: [t.workspaceId, t.userId] }), index('members_user').on(t.userId)],
);

/** Personal access tokens and account keys. Only a hash of the secret is stored. */
export const credentials = pgTable(
  'credentials',
  {
    id: text('id').primaryKey(),
    kind: text('kind', { enum: ['access_token', 'account_key'] }).notNull(),
    accountId: text('account_id')
      .notNull()
      .references(() => accounts.id),
    /** The user that it acts as. */
    userId: text('user_id')
      .notNull()
      .references(() => users.id),
    name: text('name'),
    secretHash: text('secret_hash').notNull(),
    /** The first characters, for recognition by people. */
    prefix: text('prefix').notNull(),
    scopes: text('scopes').array().notNull(),
    /** `account`, `workspace:<id>` or `workbook:<id>`. */
    resource: text('resource').notNull(),
    rateLimitPerMinute: integer('rate_limit_per_minute').notNull(),
    issuedBy: text('issued_by').notNull(),
    /** The tokens and keys by which it was minted, the first one first. It ends with each of them and shares their allowances. */
    ancestors: text('ancestors').array().notNull().default(sql`'{}'`),
    createdAt: at('created_at').notNull().defaultNow(),
    expiresAt: at('expires_at'),
    revokedAt: at('revoked_at'),
  },
  (t) => [
    index('credentials_account').on(t.accountId, t.kind, t.id),
    index('credentials_user').on(t.userId, t.kind, t.id),
    check('credentials_rate', sql`rate_limit_per_minute between 1 and 10000`),
  ],
);
