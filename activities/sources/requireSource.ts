import type { Principal } from '../../core/access/principal.ts';
import type { BaseRole } from '../../core/access/roles.ts';
import { nearestName } from '../../core/cells/nearestName.ts';
import { notFound } from '../../core/errors.ts';
import { findSource, listSourceNames, type SourceRecord } from '../../store/pg/sources.ts';
import type { VisibleWorkbook } from '../../store/pg/workbooks.ts';
import type { Services } from '../../store/services.ts';
import { requireWorkbook } from '../access.ts';

export async function requireSource(
  services: Services,
  principal: Principal,
  params: { workbook_id: string; source_name: string },
  needed: BaseRole,
): Promise<{ workbook: VisibleWorkbook; source: SourceRecord }> {
  const workbook = await requireWorkbook(services, principal, params.workbook_id, needed);
  const source = await findSource(services.db.orm, workbook.id, params.source_name);
  if (source) return { workbook, source };
  const names = await listSourceNames(services.db.orm, workbook.id);
  const near = nearestName(params.source_name, [...names].slice(0, 1000));
  throw notFound('source in this workbook', near ? `Did you mean ${near}?` : 'GET …/sources lists the sources of the workbook.');
}

/** Refuses a source that has not been analyzed. */
export function requireAnalyzed(source: SourceRecord): void {
  if (!source.spec) throw notFound('parse spec yet', 'Analyze the source first with POST …/sources/{source_name}/analyze.');
}
