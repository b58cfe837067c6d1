import type { Principal } from '../../core/access/principal.ts';
import { cutPage, decodeCursor, type Page } from '../../core/paging.ts';
import { fold, type Match, rankTable, splitQuery } from '../../core/search/rankTable.ts';
import { type FoundTable, findTables } from '../../store/pg/discovery.ts';
import type { Services } from '../../store/services.ts';
import { openVisibleColumns } from '../tables/openVisibleTable.ts';

export interface Hit {
  table: FoundTable;
  match: Match;
}

const candidatesAtATime = 2_000;

/** Best match first. The database finds candidates; only what the caller may see is ranked, so a denied column matches nothing. */
export async function searchTables(
  services: Services,
  principal: Principal,
  query: { q: string; cursor?: string; limit: number },
): Promise<Page<Hit>> {
  const key = decodeCursor(query.cursor, ['number', 'string']);
  const words = splitQuery(query.q);
  if (words.length === 0) return { items: [], nextCursor: null };
  const terms = words.map(fold);
  const hits: Hit[] = [];
  for await (const table of listCandidates(services, principal, words)) {
    const { columns } = await openVisibleColumns(services, principal, { table, columns: table.columns });
    const match = rankTable(terms, {
      name: table.name,
      description: table.description,
      columns: columns.map((column) => column.name),
      source: table.source,
    });
    if (match) hits.push({ table, match });
  }
  hits.sort((a, b) => b.match.score - a.match.score || (a.table.id < b.table.id ? -1 : 1));
  const start =
    key === null
      ? 0
      : hits.findIndex(({ match, table }) => match.score < (key[0] as number) || (match.score === key[0] && table.id > (key[1] as string)));
  return cutPage(start < 0 ? [] : hits.slice(start), query.limit, ({ match, table }) => [match.score, table.id]);
}

/** Lists all candidates, as the best may come last. */
async function* listCandidates(services: Services, principal: Principal, words: string[]): AsyncGenerator<FoundTable> {
  for (let after: [string, string, string] | null = null; ; ) {
    const found: FoundTable[] = await findTables(services.db.pool, {
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
