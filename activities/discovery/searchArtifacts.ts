import type { Principal } from '../../core/access/principal.ts';
import { cutPage, decodeCursor, type Page } from '../../core/paging.ts';
import { fold, type Match, rankArtifact, type Searchable, splitQuery } from '../../core/search/rankArtifact.ts';
import { type FoundArtifact, findArtifacts } from '../../store/pg/discovery.ts';
import type { Services } from '../../store/services.ts';
import { openVisibleColumns } from '../tables/openVisibleTable.ts';

export interface Hit {
  found: FoundArtifact;
  match: Match;
}

const candidatesAtATime = 2_000;

/** Best match first. The database finds candidates; only what the caller may see is ranked, so a denied column matches nothing. */
export async function searchArtifacts(
  services: Services,
  principal: Principal,
  query: { q: string; cursor?: string; limit: number },
): Promise<Page<Hit>> {
  const key = decodeCursor(query.cursor, ['number', 'string']);
  const words = splitQuery(query.q);
  if (words.length === 0) return { items: [], nextCursor: null };
  const terms = words.map(fold);
  const hits: Hit[] = [];
  for await (const found of listCandidates(services, principal, words)) {
    const match = rankArtifact(terms, await describeVisible(services, principal, found));
    if (match) hits.push({ found, match });
  }
  hits.sort((a, b) => b.match.score - a.match.score || (a.found.id < b.found.id ? -1 : 1));
  const start =
    key === null
      ? 0
      : hits.findIndex(({ match, found }) => match.score < (key[0] as number) || (match.score === key[0] && found.id > (key[1] as string)));
  return cutPage(start < 0 ? [] : hits.slice(start), query.limit, ({ match, found }) => [match.score, found.id]);
}

/** What a search may look at. */
async function describeVisible(services: Services, principal: Principal, found: FoundArtifact): Promise<Searchable> {
  if (!('columns' in found)) return { name: found.name, description: found.title, columns: [], source: null };
  const { columns } = await openVisibleColumns(services, principal, { table: found, columns: found.columns });
  const { name, description, source } = found;
  return { name, description, columns: columns.map((column) => column.name), source };
}

/** Lists all candidates, as the best may come last. */
async function* listCandidates(services: Services, principal: Principal, words: string[]): AsyncGenerator<FoundArtifact> {
  for (let after: [string, string, string] | null = null; ; ) {
    const found: FoundArtifact[] = await findArtifacts(services.db.pool, {
      userId: principal.userId,
      accountIds: principal.accountIds,
      reach: principal.reach,
      terms: words.map((written) => ({ written, folded: fold(written) })),
      state: 'active',
      after,
      limit: candidatesAtATime,
    });
    yield* found;
    const last = found.at(-1);
    if (!last || found.length < candidatesAtATime) return;
    after = [last.workbookId, last.name, last.id];
  }
}
