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
  /** The file was analysed or corrected elsewhere since these corrections were begun: they wait. */
  isOvertaken: boolean;
  change(region: Region): void;
  add(region: Region): void;
  setRange(id: string, range: Range, sheet: Sheet): void;
  reset(): void;
  /** Corrections that wait take the place of what was done elsewhere. */
  resume(): void;
  /** Keeps the corrections without making a table. */
  keep(): Promise<void>;
  /** Has the service propose regions. */
  analyze(): Promise<void>;
  /** Keeps the corrections and makes the table of a region. Returns the names of what was made. */
  apply(id: string): Promise<string[]>;
}

interface Draft {
  /** Of the spec that it corrects. */
  version: number;
  regions: Region[];
}

/** Corrections stay in this tab, also over a reload, until they are applied: nothing changes before. */
export function useCorrections(workbookId: string, name: string, spec: Schemas['ParseSpec'] | null): Corrections {
  const queries = useQueryClient();
  const storageKey = `console.corrections.${workbookId}.${name}`;
  const [kept, setKept] = useState<Draft | null>(() => load(storageKey));
  useEffect(() => {
    if (kept) sessionStorage.setItem(storageKey, JSON.stringify(kept));
    else sessionStorage.removeItem(storageKey);
  }, [storageKey, kept]);
  const draft = kept && kept.version === spec?.version ? kept.regions : null;
  const regions = draft ?? spec?.regions ?? null;
  const setDraft = useCallback(
    (make: (before: Region[]) => Region[]) => {
      if (!spec) return;
      const { version } = spec;
      setKept((before) => ({ version, regions: make(before?.version === version ? before.regions : spec.regions) }));
    },
    [spec],
  );
  const change = useCallback(
    // What somebody decides is not as sure as it was read, but decided.
    (region: Region) =>
      setDraft((before) => before.map((each) => (each.id === region.id ? { ...region, confidence: null, decisions: [] } : each))),
    [setDraft],
  );
  return useMemo<Corrections>(() => {
    const path = { workbook_id: workbookId, source_name: name };
    const refresh = () => queries.invalidateQueries({ queryKey: inWorkbook(workbookId) });
    /** Keeps the corrections, and does what is to be done with them. */
    const put = async <T>(then: () => Promise<T>): Promise<T> => {
      try {
        if (spec && draft) {
          const body = { ...spec, regions: draft };
          await ask(api.PUT('/api/v1/workbooks/{workbook_id}/sources/{source_name}/parse-spec', { params: { path }, body }));
          setKept(null);
        }
        return await then();
      } finally {
        await refresh();
      }
    };
    return {
      regions,
      isChanged: draft !== null,
      isOvertaken: kept !== null && spec !== null && kept.version !== spec.version,
      change,
      add: (region) => setDraft((before) => [...before, region]),
      setRange(id, range, sheet) {
        const region = regions?.find((each) => each.id === id);
        if (region) change(withRange(region, range, sheet));
      },
      reset: () => setKept(null),
      resume: () => setKept((before) => before && spec && { ...before, version: spec.version }),
      keep: () => put(async () => {}),
      async analyze() {
        const answer = await ask(api.POST('/api/v1/workbooks/{workbook_id}/sources/{source_name}/analyze', { params: { path } }));
        if ('job_id' in answer) await finish(answer.job_id);
        await refresh();
      },
      apply: (id) =>
        put(async () => {
          const body = { regions: [id] };
          const answer = await ask(
            api.POST('/api/v1/workbooks/{workbook_id}/sources/{source_name}/materialize', { params: { path }, body }),
          );
          return 'job_id' in answer ? finish(answer.job_id) : answer.artifacts.map((artifact) => artifact.name);
        }),
    };
  }, [workbookId, name, regions, kept, draft, spec, setDraft, change, queries]);
}

async function finish(jobId: string): Promise<string[]> {
  const job = await awaitJob(jobId, () => {});
  if (job.status === 'failed') throw new Error(job.error);
  return job.kind === 'materialize' ? (job.result?.artifacts.map((artifact) => artifact.name) ?? []) : [];
}

function load(storageKey: string): Draft | null {
  try {
    return JSON.parse(sessionStorage.getItem(storageKey) ?? 'null') as Draft | null;
  } catch {
    return null;
  }
}
