import { notFound } from '../../core/errors.ts';
import type { Orm } from '../../store/pg/database.ts';
import { findSourceById, type LandedTable, listLanded, type SourceRecord, type SourceSummary } from '../../store/pg/sources.ts';

/** A source with the tables that stand for it: structured ones where there are any, its raw tables otherwise. */
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
    // A sheet that was not understood stays as its raw table beside the structured ones of the others.
    const shown = structured.length === 0 ? own : own.filter(({ landing, table }) => landing.role !== 'raw' || table.state === 'active');
    return { source, tables: [...new Map(shown.map(({ table }) => [table.id, table])).values()] };
  });
}

export async function describeSource(orm: Orm, source: SourceRecord): Promise<DescribedSource> {
  const [described] = await describeSources(orm, [source]);
  return described as DescribedSource;
}

/** The raw tables alone, as they were when they landed: what a deferred ingest answers with. */
export async function describeLanded(orm: Orm, sourceId: string): Promise<DescribedSource> {
  const source = await findSourceById(orm, sourceId);
  if (!source) throw notFound('source in this workbook');
  const raw = (await listLanded(orm, [source.id])).filter(({ landing }) => landing.role === 'raw');
  return {
    source: { ...source, status: 'materialized', structuring: 'deferred', structuringReason: null, spec: null },
    tables: raw.map(({ landing, table }) => ({ ...table, name: landing.builtName, state: 'active' as const })),
  };
}
