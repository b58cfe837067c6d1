import type { DescribedWorkbook } from '../../activities/workbooks/describeWorkbooks.ts';
import type { Page } from '../../core/paging.ts';
import type { components } from '../../schema/contract.ts';
import { presentUser } from './identity.ts';

type Schemas = components['schemas'];

export function presentWorkbook({ workbook, owner, governed, counts }: DescribedWorkbook): Schemas['Workbook'] {
  return {
    id: workbook.id,
    title: workbook.title,
    workspace_id: workbook.workspaceId,
    account_id: workbook.accountId,
    visibility: workbook.visibility,
    owner: presentUser(owner),
    governed,
    created_at: workbook.createdAt.toISOString(),
    updated_at: workbook.updatedAt.toISOString(),
    counts,
  };
}

export function presentWorkbooks(page: Page<DescribedWorkbook>): Schemas['WorkbookList'] {
  return { workbooks: page.items.map(presentWorkbook), next_cursor: page.nextCursor };
}
