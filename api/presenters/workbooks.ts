import type { DescribedWorkbook } from '../../activities/workbooks/describeWorkbooks.ts';
import type { Page } from '../../core/paging.ts';
import type { components } from '../../schema/contract.ts';
import type { JobRecord } from '../../store/pg/jobs.ts';
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

/** `result` is made for who asks, from what the job has kept. */
export function presentJob(job: JobRecord, result: object | null): Schemas['Job'] {
  return {
    job_id: job.id,
    kind: job.kind as Schemas['Job']['kind'],
    status: job.status,
    workbook_id: job.workbookId,
    progress: { stage: job.stage ?? job.status, done: job.done, total: job.total },
    ...(result === null ? {} : { result: result as Record<string, unknown> }),
    ...(job.error === null ? {} : { error: job.error }),
    created_at: job.createdAt.toISOString(),
    finished_at: job.finishedAt?.toISOString() ?? null,
  };
}
