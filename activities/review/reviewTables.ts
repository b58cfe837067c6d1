import { isFinal, toProblem } from '../../core/jobs/endings.ts';
import type { Coverage, ReviewInput } from '../../core/jobs/reviewJobs.ts';
import type { Finding } from '../../core/review/finding.ts';
import type { TableSample } from '../../core/review/model/prompts.ts';
import { reviewRegion, ruleNames, sortFindings } from '../../core/review/reviewRegion.ts';
import type { TableAt } from '../../core/table/table.ts';
import type { JobRecord } from '../../store/pg/jobs.ts';
import { listCurrentTables } from '../../store/pg/tables.ts';
import { listInputs, listTableNames } from '../../store/pg/transforms.ts';
import { findWorkspaceOf } from '../../store/pg/workspaces.ts';
import type { Services } from '../../store/services.ts';
import type { ActivityContext } from '../activityContext.ts';
import { releaseCredits } from '../credits/releaseCredits.ts';
import { settleCredits } from '../credits/settleCredits.ts';
import { commitForJob, openJob } from '../jobs/commitForJob.ts';
import { succeedJob } from '../jobs/endJob.ts';
import { reportProgress } from '../jobs/reportProgress.ts';
import { requireAsker } from '../jobs/requireAsker.ts';
import { refreshAllViews } from '../transforms/refreshViews.ts';
import { refuseGovernedReview } from './beginReview.ts';
import { type Consulted, consultModel } from './consultModel.ts';
import { refuseReview } from './endReview.ts';
import { groupTables, readRegions } from './readRegions.ts';
import { saveReport } from './saveReport.ts';

/** Findings that are told; the worst come first. */
const mostFindings = 300;

interface Looked {
  findings: Finding[];
  coverage: Omit<Coverage, 'statement'>;
  partly: string[];
  samples: TableSample[];
  targets: { id: string; editVersion: number }[];
  target: string | null;
}

/** Reviews what the one who asked may see now, and ends the job with what was found. */
export async function reviewTables(services: Services, jobId: string, activity: ActivityContext): Promise<void> {
  const job = await openJob(services, jobId, 'review');
  if (!job || job.workbookId === null) return;
  try {
    const looked = await lookAtTables(services, job, activity);
    const { mode, judge } = job.input;
    const isAsked = mode === 'agent' || judge;
    const rules = (await findWorkspaceOf(services.db.orm, job.workbookId))?.preprocessRules ?? null;
    const consulted: Consulted = isAsked
      ? await consultModel(services.config.model, mode, { findings: looked.findings, samples: looked.samples, rules }, activity.signal)
      : { findings: looked.findings, judged: false, statement: '' };
    await endReview(services, job, looked, consulted);
  } catch (error) {
    if (!isFinal(error)) throw error;
    await refuseReview(services, job, toProblem(error));
  }
}

async function lookAtTables(services: Services, job: JobRecord<'review'>, { signal }: ActivityContext): Promise<Looked> {
  const workbookId = job.workbookId as string;
  const { tableId, mode } = job.input;
  const principal = await requireAsker(services, job as JobRecord, 'viewer');
  await refuseGovernedReview(services, workbookId);
  // A view that cannot be made is reviewed as it was, and named as stale.
  await refreshAllViews(services, principal.userId, workbookId);
  const all = await listCurrentTables(services.db.pool, workbookId, null);
  const target = tableId === null ? null : (all.find(({ table }) => table.id === tableId)?.table.name ?? null);
  const { groups, skipped } = await groupTables(services, all);
  const chosen = tableId === null ? groups : groups.filter(({ members }) => members.some(({ at }) => at.table.id === tableId));
  const progress = reportProgress(services, job.id, 'review');
  const looked: Looked = {
    findings: await findStaleInputs(
      services,
      chosen.flatMap(({ members }) => members.map(({ at }) => at)),
    ),
    coverage: { tables: [], rules: [...ruleNames], rowsChecked: 0, skipped: tableId === null ? skipped : [] },
    partly: [],
    samples: [],
    targets: [],
    target,
  };
  for (const [k, group] of chosen.entries()) {
    progress.step(k, chosen.length);
    signal?.throwIfAborted();
    const { regions, samples } = await readRegions(services, principal, group, mode === 'agent', signal);
    for (const { region, tables } of regions) {
      looked.findings.push(...reviewRegion(region));
      for (const { name, rowsRead, rowCount } of tables) {
        looked.coverage.tables.push(name);
        looked.coverage.rowsChecked += rowsRead;
        if (rowsRead < rowCount) looked.partly.push(`the first ${rowsRead} of ${rowCount} rows of ${name}`);
      }
    }
    looked.samples.push(...samples);
    looked.targets.push(...group.members.map(({ at }) => ({ id: at.table.id, editVersion: at.editVersion })));
  }
  await progress.settle();
  // Tables of the same region vouch for each other's totals; what they hold beside that was not asked for.
  const isAsked = ({ table, evidence }: Finding) => target === null || table === target || evidence.length === 0;
  looked.findings = sortFindings(looked.findings.filter(isAsked));
  return looked;
}

/** Derived tables that do not agree with what they are made from. */
async function findStaleInputs(services: Services, tables: TableAt[]): Promise<Finding[]> {
  const ids = tables.map(({ table }) => table.id);
  const stale = (await listInputs(services.db.orm, ids)).filter(({ staleSince }) => staleSince !== null);
  const names = await listTableNames(
    services.db.orm,
    stale.map(({ inputId }) => inputId),
  );
  return tables.flatMap(({ table }): Finding[] => {
    const own = stale.filter(({ tableId }) => tableId === table.id).map(({ inputId }) => names.get(inputId) ?? '');
    if (own.length === 0) return [];
    return [
      {
        rule: 'stale-inputs',
        severity: 'warning',
        table: table.name,
        message: `${table.name} was made before ${own.join(', ')} changed.`,
        evidence: own.map((value) => ({ value })),
        suggestedFix: 'Recompute the workbook.',
      },
    ];
  });
}

async function endReview(services: Services, job: JobRecord<'review'>, looked: Looked, consulted: Consulted): Promise<void> {
  const findings = sortFindings(consulted.findings).slice(0, mostFindings);
  const coverage = { ...looked.coverage, statement: writeStatement(looked, consulted, job.input) };
  // Asked here, because it may have become governed while tables were read.
  await refuseGovernedReview(services, job.workbookId as string);
  if (job.input.save) await requireAsker(services, job as JobRecord, 'editor');
  await commitForJob(services, job, async (tx, current) => {
    const workbook = { id: current.workbookId as string, accountId: current.accountId };
    const report = current.input.save ? await saveReport(tx, workbook, looked.targets, { target: looked.target, findings }) : null;
    const creditsCharged = consulted.judged ? await settleCredits(tx, current.id, current.accountId) : 0;
    if (!consulted.judged) await releaseCredits(tx, current.id, current.accountId);
    const { judged } = consulted;
    const createdAt = tx.at.toISOString();
    await succeedJob(tx, current, { target: looked.target, findings, coverage, judged, report, creditsCharged, createdAt });
  });
}

function writeStatement({ coverage, partly, findings }: Looked, { statement }: Consulted, { tableId }: ReviewInput): string {
  const { tables, rowsChecked, rules, skipped } = coverage;
  const parts = [`${tables.length} tables, ${rowsChecked} rows, ${rules.length} rules.`];
  if (partly.length > 0) parts.push(`Only ${partly.join(', ')} were looked at.`);
  if (skipped.length > 0) parts.push(`${skipped.length} tables of accounts, notes and reports were left out.`);
  if (tableId !== null && tables.length > 1) parts.push('Tables of the same region of the sheet were read to check totals.');
  if (findings.length > mostFindings) parts.push(`${findings.length - mostFindings} more findings are not told.`);
  if (statement !== '') parts.push(statement);
  return parts.join(' ');
}
