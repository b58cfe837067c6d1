import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { api, ask, type Schemas } from '../../api/client.ts';
import { awaitJob } from '../../api/jobs.ts';
import { inWorkbook } from '../workbook/asks.ts';
import type { Range } from './a1.ts';
import { type Region, type Sheet, withRange } from './spec.ts';

export interface Corrections {
  /** The regions as corrected; null before the source was analysed. */
  regions: Region[] | null;
  isChanged: boolean;
  change(region: Region): void;
  add(region: Region): void;
  setRange(id: string, range: Range, sheet: Sheet): void;
  reset(): void;
  /** Has the service propose regions. */
  analyze(): Promise<void>;
  /** Keeps the corrections and makes the table of a region. Returns the names of what was made. */
  apply(id: string): Promise<string[]>;
}

/** Corrections are kept here until they are applied: nothing changes before. */
export function useCorrections(workbookId: string, name: string, spec: Schemas['ParseSpec'] | null): Corrections {
  const queries = useQueryClient();
  const [draft, setDraft] = useState<Region[] | null>(null);
  // Another version of the spec: somebody has analysed or corrected it since.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the version alone says that it is another
  useEffect(() => setDraft(null), [spec?.version]);
  const regions = draft ?? spec?.regions ?? null;

  const change = useCallback(
    (region: Region) => setDraft((before) => (before ?? spec?.regions ?? []).map((each) => (each.id === region.id ? region : each))),
    [spec],
  );
  return useMemo<Corrections>(() => {
    const path = { workbook_id: workbookId, source_name: name };
    const refresh = () => queries.invalidateQueries({ queryKey: inWorkbook(workbookId) });
    return {
      regions,
      isChanged: draft !== null,
      change,
      add: (region) => setDraft([...(regions ?? []), region]),
      setRange(id, range, sheet) {
        const region = regions?.find((each) => each.id === id);
        if (region) change(withRange(region, range, sheet));
      },
      reset: () => setDraft(null),
      async analyze() {
        const answer = await ask(api.POST('/api/v1/workbooks/{workbook_id}/sources/{source_name}/analyze', { params: { path } }));
        if ('job_id' in answer) await finish(answer.job_id);
        await refresh();
      },
      async apply(id) {
        if (!spec || !regions) return [];
        if (draft) {
          await ask(
            api.PUT('/api/v1/workbooks/{workbook_id}/sources/{source_name}/parse-spec', {
              params: { path },
              body: { ...spec, regions: draft },
            }),
          );
        }
        const answer = await ask(
          api.POST('/api/v1/workbooks/{workbook_id}/sources/{source_name}/materialize', { params: { path }, body: { regions: [id] } }),
        );
        const made = 'job_id' in answer ? await finish(answer.job_id) : answer.artifacts.map((artifact) => artifact.name);
        await refresh();
        return made;
      },
    };
  }, [workbookId, name, regions, draft, spec, change, queries]);
}

async function finish(jobId: string): Promise<string[]> {
  const job = await awaitJob(jobId, () => {});
  if (job.status === 'failed') throw new Error(job.error);
  return job.kind === 'materialize' ? (job.result?.artifacts.map((artifact) => artifact.name) ?? []) : [];
}
