import type { Principal } from '../../core/access/principal.ts';
import { DomainError } from '../../core/errors.ts';
import { isId } from '../../core/ids/ids.ts';
import type { EventType } from '../../core/journal/events.ts';
import type { StoredEvent } from '../../core/journal/serviceEvent.ts';
import { decodeCursor, type Page, type PageQuery, pageOf, usualLimit } from '../../core/paging.ts';
import { findPosition, listEvents, type PublishedEvent } from '../../store/pg/events.ts';
import { listVisibleWorkbooks } from '../../store/pg/workbooks.ts';
import type { Services } from '../../store/services.ts';
import { listReachableAccounts, requireNamedWorkbook } from '../access.ts';
import type { Place } from '../webhooks/mayHear.ts';

export interface EventQuery extends PageQuery {
  /** All kinds without it. */
  types?: readonly EventType[];
  workbookId?: string;
  /** The last event that was seen. */
  lastEventId?: string | null;
}

/** An event that the caller may see, with its place. */
export interface SeenEvent extends StoredEvent {
  position: number;
}

/** Events that the caller may see, oldest first. */
export async function pageEvents(services: Services, principal: Principal, query: EventQuery, after: number): Promise<Page<SeenEvent>> {
  if (query.workbookId !== undefined) await requireNamedWorkbook(services, principal, query.workbookId);
  const places = await listPlaces(services, principal, query.workbookId);
  const page = await pageOf(
    query.limit ?? usualLimit,
    (limit) => listEvents(services.db.pool, { scopes: [...places.keys()], after, types: query.types ?? [], limit }),
    (event) => [event.position],
  );
  return { ...page, items: page.items.map((event) => placeEvent(event, places)) };
}

/** The place after which to read. */
export async function findStart(services: Services, { cursor, lastEventId }: EventQuery): Promise<number> {
  const key = decodeCursor(cursor, ['number']);
  if (key !== null) return key[0] as number;
  if (lastEventId == null) return 0;
  if (!isId(lastEventId, 'evt'))
    throw new DomainError(
      'validation-failed',
      'Last-Event-ID is not the id of an event.',
      'Send the id of an event that you have seen, or leave it out.',
      {
        errors: [{ pointer: '/header/Last-Event-ID', detail: 'is not the id of an event' }],
      },
    );
  const position = await findPosition(services.db.pool, lastEventId);
  if (position !== null) return position;
  throw new DomainError(
    'expired',
    'The event is not kept any more.',
    'Leave Last-Event-ID out, to begin with the oldest event that is kept.',
  );
}

type Places = ReadonlyMap<string, Place>;

/** More than anybody has; none may be left out. */
const mostWorkbooks = 1_000_000;

/** The workbooks and accounts of which the caller may hear now. */
async function listPlaces(services: Services, principal: Principal, workbookId: string | undefined): Promise<Places> {
  const { userId, accountIds, reach } = principal;
  const id = workbookId ?? (reach.kind === 'workbook' ? reach.id : undefined);
  const workspaceId = reach.kind === 'workspace' ? reach.id : undefined;
  const workbooks = await listVisibleWorkbooks(services.db.orm, { userId, accountIds, id, workspaceId, limit: mostWorkbooks });
  const isWide = reach.kind === 'account' && workbookId === undefined;
  const accounts = isWide ? await listReachableAccounts(services, principal) : [];
  const places = new Map<string, Place>(accounts.map((account) => [account.id, { workbookId: null, workspaceId: null }]));
  for (const workbook of workbooks) places.set(workbook.id, { workbookId: workbook.id, workspaceId: workbook.workspaceId });
  return places;
}

function placeEvent({ scope, ...event }: PublishedEvent, places: Places): SeenEvent {
  return { ...event, workbookId: null, workspaceId: null, ...places.get(scope) };
}
