import { requireNamedWorkspace, requireWorkbook, requireWorkspace } from '../../activities/access.ts';
import { requireJob } from '../../activities/jobs/requireJob.ts';
import type { Principal } from '../../core/access/principal.ts';
import { DomainError } from '../../core/errors.ts';
import type { Services } from '../../store/services.ts';

/** What a request names, in its address or its body. */
export interface NamedThings {
  params: Record<string, unknown>;
  body: unknown;
}

/**
 * A stored answer shows what its caller could read then, so it is repeated only to a caller who can read that
 * now. Answers may hold cells and names of columns: none is repeated once tags, policies or roles of its workbook have changed.
 */
export async function requireReplayable(
  services: Services,
  principal: Principal,
  policyVersion: number | null,
  { params, body }: NamedThings,
): Promise<void> {
  const { workbook_id: workbookId, workspace_id: workspaceId, job_id: jobId } = params as Record<string, string | undefined>;
  if (workbookId !== undefined) {
    const workbook = await requireWorkbook(services, principal, workbookId, 'viewer');
    if (workbook.policyVersion !== (policyVersion ?? 0)) throw answerHidden();
  }
  if (workspaceId !== undefined) await requireWorkspace(services, principal, workspaceId, 'viewer');
  if (jobId !== undefined) await requireJob(services, principal, jobId);
  const { workspace_id: named } = (body ?? {}) as { workspace_id?: unknown };
  if (typeof named === 'string') await requireNamedWorkspace(services, principal, named);
}

function answerHidden(): DomainError {
  return new DomainError(
    'idempotency-mismatch',
    'This request was carried out before. Its answer is not shown again, because what may be seen of the workbook has changed since.',
    'Do not send it under another key: it would be carried out twice. Read what you need instead.',
  );
}
