import { reachesWorkspace } from '../../core/access/reach.ts';
import { cutPage, decodeIdCursor } from '../../core/paging.ts';
import { findMe } from '../../store/pg/me.ts';
import { type DailyRequests, sumDailyRequests } from '../../store/pg/usage.ts';
import { listVisibleWorkspaces } from '../../store/pg/workspaces.ts';
import type { Handlers } from '../http/call.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { presentMe, presentMyWorkspace } from '../presenters/identity.ts';

const dayMs = 24 * 3_600_000;

export function makeMeHandlers({ services, counter }: ApiParts): Handlers<'getMe' | 'getMyUsage' | 'listMyWorkspaces'> {
  const { orm } = services.db;
  return {
    async getMe({ principal }) {
      const me = await findMe(services.db, principal.userId, principal.accountId);
      return { status: 200, body: presentMe(principal, me) };
    },

    async getMyUsage({ principal, query }) {
      await counter.flush();
      const days = query.days ?? 30;
      const today = new Date(Math.floor(Date.now() / dayMs) * dayMs);
      const since = new Date(today.getTime() - (days - 1) * dayMs);
      // A session sees its user's credentials; a token or key sees itself.
      const whose = principal.kind === 'session' ? { userId: principal.userId } : { credentialId: principal.credentialId };
      const rows = await sumDailyRequests(orm, { ...whose, since });
      const dates = { from: since.toISOString().slice(0, 10), to: today.toISOString().slice(0, 10) };
      return { status: 200, body: { days, ...dates, tokens: groupByCredential(rows) } };
    },

    async listMyWorkspaces({ principal, query }) {
      const limit = query.limit ?? 50;
      const { reach } = principal;
      const rows =
        reach.kind === 'workbook'
          ? []
          : await listVisibleWorkspaces(services.db.orm, {
              userId: principal.userId,
              accountIds: principal.accountIds,
              after: decodeIdCursor(query.cursor, 'ws'),
              limit: limit + 1,
              ...(reach.kind === 'workspace' ? { id: reach.id } : {}),
            });
      const page = cutPage(rows, limit, (workspace) => [workspace.id]);
      const lands = (id: string, isOldest: boolean, accountId: string) =>
        reach.kind === 'workspace' ? reachesWorkspace(reach, id) : isOldest && accountId === principal.accountId;
      return {
        status: 200,
        body: {
          workspaces: page.items.map((workspace) =>
            presentMyWorkspace(workspace, lands(workspace.id, workspace.isDefault, workspace.accountId)),
          ),
          next_cursor: page.nextCursor,
        },
      };
    },
  };
}

function groupByCredential(rows: DailyRequests[]) {
  const ids = [...new Set(rows.map((row) => row.credentialId))];
  return ids.map((id) => {
    const days = rows.filter((row) => row.credentialId === id);
    const [first] = days as [DailyRequests];
    return {
      token_id: id,
      name: first.name,
      kind: first.kind,
      daily: days.map(({ date, requests }) => ({ date, requests })),
      total: days.reduce((sum, day) => sum + day.requests, 0),
    };
  });
}
