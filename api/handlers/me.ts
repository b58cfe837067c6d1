import { describeSelf } from '../../activities/accounts/describeSelf.ts';
import { readOwnUsage } from '../../activities/usage/readOwnUsage.ts';
import { pageOwnWorkspaces } from '../../activities/workspaces/pageWorkspaces.ts';
import type { Handlers } from '../http/call.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { presentMe, presentMyWorkspace, presentUsage } from '../presenters/identity.ts';

export function makeMeHandlers({ services, counter }: ApiParts): Handlers<'getMe' | 'getMyUsage' | 'listMyWorkspaces'> {
  return {
    async getMe({ principal }) {
      return { status: 200, body: presentMe(principal, await describeSelf(services, principal)) };
    },

    async getMyUsage({ principal, query }) {
      await counter.flush();
      return { status: 200, body: presentUsage(await readOwnUsage(services, principal, query.days)) };
    },

    async listMyWorkspaces({ principal, query }) {
      const page = await pageOwnWorkspaces(services, principal, query);
      return { status: 200, body: { workspaces: page.items.map(presentMyWorkspace), next_cursor: page.nextCursor } };
    },
  };
}
