import { and, asc, eq, gte, sql } from 'drizzle-orm';
import { credentials, requestCounts } from '../../schema/index.ts';
import type { Orm } from './database.ts';

export async function insertRequestCounts(orm: Orm, counts: (typeof requestCounts.$inferInsert)[]): Promise<void> {
  if (counts.length > 0) await orm.insert(requestCounts).values(counts);
}

export interface DailyRequests {
  credentialId: string;
  kind: 'session' | 'access_token' | 'account_key';
  name: string | null;
  date: string;
  requests: number;
}

const day = sql<string>`to_char(${requestCounts.at} AT TIME ZONE 'UTC', 'YYYY-MM-DD')`;

/** Requests per credential and UTC day. */
export async function sumDailyRequests(
  orm: Orm,
  filter: { userId?: string; credentialId?: string; since: Date },
): Promise<DailyRequests[]> {
  return orm
    .select({
      credentialId: requestCounts.credentialId,
      kind: requestCounts.kind,
      name: credentials.name,
      date: day,
      requests: sql<number>`sum(${requestCounts.requests})::int`,
    })
    .from(requestCounts)
    .leftJoin(credentials, eq(credentials.id, requestCounts.credentialId))
    .where(
      and(
        gte(requestCounts.at, filter.since),
        filter.userId === undefined ? undefined : eq(requestCounts.userId, filter.userId),
        filter.credentialId === undefined ? undefined : eq(requestCounts.credentialId, filter.credentialId),
      ),
    )
    .groupBy(requestCounts.credentialId, requestCounts.kind, credentials.name, day)
    .orderBy(asc(requestCounts.credentialId), asc(day));
}
