import { notFound } from '../../core/errors.ts';
import type { Orm } from '../../store/pg/database.ts';
import { findSourceById, type LandedTable, listLanded, type SourceRecord, type SourceSummary } from '../../store/pg/sources.ts';

/** A source with its tables: the structured ones, or the raw ones if there are none. */
export interface DescribedSource<Source extends SourceSummary = SourceRecord> {
  source: Source;
  tables: LandedTable['table'][];
}

export async function describeSources<Source extends SourceSummary>(orm: Orm, sources: Source[]): Promise<DescribedSource<Source>[]> {
  const landed = await listLanded(
    orm,
    sources.map((source) => source.id),
  );
  return sources.map((source) => {
    const own = landed.filter(({ landing }) => landing.sourceId === source.id);
    const structured = own.filter(({ landing }) => landing.role !== 'raw');
    // The raw table of a sheet that was not understood is shown beside the structured tables of other sheets.
    const shown = structured.length === 0 ? own : own.filter(({ landing, table }) => landing.role !== 'raw' || table.state === 'active');
    return { source, tables: [...new Map(shown.map(({ table }) => [table.id, table])).values()] };
  });
}

export async function describeSource(orm: Orm, source: SourceRecord): Promise<DescribedSource> {
  const [described] = await describeSources(orm, [source]);
  return described as DescribedSource;
}

/** Only the raw tables, as they were first stored: the answer of a deferred ingest. */
export async function describeLanded(orm: Orm, sourceId: string): Promise<DescribedSource> {
  const source = await findSourceById(orm, sourceId);
  if (!source) throw notFound('source in this workbook');
  const raw = (await listLanded(orm, [source.id])).filter(({ landing }) => landing.role === 'raw');
  return {
    source: { ...source, status: 'materialized', structuring: 'deferred', structuringReason: null, spec: null },
    tables: raw.map(({ landing, table }) => ({ ...table, name: landing.builtName, state: 'active' as const })),
  };
}
