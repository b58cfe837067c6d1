import type { Finding } from '../../core/review/finding.ts';
import type { components } from '../../schema/contract.ts';
import type { JobRecord } from '../../store/pg/jobs.ts';

type Schemas = components['schemas'];

export function presentReview({
  input,
  result,
}: {
  input: JobRecord<'review'>['input'];
  result: NonNullable<JobRecord<'review'>['result']>;
}): Schemas['Review'] {
  const { target, findings, coverage, judged, report, creditsCharged, createdAt } = result;
  const { tables, rules, rowsChecked, skipped, statement } = coverage;
  return {
    mode: input.mode,
    target,
    findings: findings.map(presentFinding),
    coverage: { tables, rules, rows_checked: rowsChecked, skipped, statement },
    judged,
    report,
    credits_charged: creditsCharged,
    created_at: createdAt,
  };
}

function presentFinding({ rule, severity, table, message, evidence, suggestedFix }: Finding, k: number): Schemas['Finding'] {
  return {
    id: `f${k + 1}`,
    rule,
    severity,
    table,
    message,
    evidence: evidence.map(({ rowId, column, cell, value }) => ({
      ...(rowId === undefined ? {} : { row_id: rowId }),
      ...(column === undefined ? {} : { column }),
      ...(cell === undefined ? {} : { cell }),
      value,
    })),
    suggested_fix: suggestedFix,
  };
}
