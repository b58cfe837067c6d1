import type { Principal } from '../../core/access/principal.ts';
import { type Page, type PageQuery, pageById } from '../../core/paging.ts';
import { listVisibleWorkbooks, type WorkbookFilter } from '../../store/pg/workbooks.ts';
import type { Services } from '../../store/services.ts';
import { requireNamedWorkspace } from '../access.ts';
import { type DescribedWorkbook, describeWorkbooks } from './describeWorkbooks.ts';

export interface WorkbookQuery extends PageQuery {
  /** Refused if it cannot be reached. */
  workspace_id?: string;
}

/** The workbooks that the principal may see and reach, newest first. */
export async function pageWorkbooks(
  services: Services,
  principal: Principal,
  query: WorkbookQuery,
  filter: Pick<WorkbookFilter, 'ownedOnly' | 'workspaceId'> = {},
): Promise<Page<DescribedWorkbook>> {
  const named =
    query.workspace_id === undefined ? {} : { workspaceId: (await requireNamedWorkspace(services, principal, query.workspace_id)).id };
  const { reach, userId, accountIds } = principal;
  const pin: Pick<WorkbookFilter, 'id' | 'workspaceId'> =
    reach.kind === 'workbook' ? { id: reach.id } : reach.kind === 'workspace' ? { workspaceId: reach.id } : {};
  const page = await pageById(
    query,
    'wb',
    (before, limit) => listVisibleWorkbooks(services.db.orm, { userId, accountIds, before, limit, ...pin, ...named, ...filter }),
    (workbook) => workbook.id,
  );
  return { ...page, items: await describeWorkbooks(services.db.orm, page.items) };
}
