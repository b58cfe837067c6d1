import { useQueries, useQuery } from '@tanstack/react-query';
import { api, ask, type Schemas } from '../../api/client.ts';
import { awaitReview } from '../../api/jobs.ts';
import { isProblem } from '../../api/problem.ts';
import { askTable, inWorkbook } from '../workbook/asks.ts';
import { parseRange } from './a1.ts';
import type { Look } from './look.ts';
import type { Sheet } from './spec.ts';

const path = (workbookId: string, name: string) => ({ workbook_id: workbookId, source_name: name });

export const useSource = (workbookId: string, name: string) =>
  useQuery({
    queryKey: inWorkbook(workbookId, 'source', name),
    queryFn: () => ask(api.GET('/api/v1/workbooks/{workbook_id}/sources/{source_name}', { params: { path: path(workbookId, name) } })),
  });

export interface Preview extends Sheet, Look {
  name: string;
  sheets: string[];
  isTruncated: boolean;
}

export const usePreview = (workbookId: string, name: string, sheet: string | null) =>
  useQuery({
    queryKey: inWorkbook(workbookId, 'preview', name, sheet),
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async (): Promise<Preview> => {
      const found = await ask(
        api.GET('/api/v1/workbooks/{workbook_id}/sources/{source_name}/preview', {
          params: { path: path(workbookId, name), query: sheet ? { sheet } : {} },
        }),
      );
      if (typeof found === 'string') throw new Error('cells were asked for, not a picture');
      const range = parseRange(found.range) ?? { left: 1, top: 1, right: 1, bottom: 1 };
      return {
        name: found.sheet,
        sheets: found.sheets,
        range,
        values: found.values as unknown[][],
        isTruncated: found.truncated,
        merges: found.merges.flatMap((each) => parseRange(each) ?? []),
        widths: found.column_widths,
        heights: found.row_heights,
        styles: found.styles,
        styleIds: found.style_ids,
      };
    },
  });

/** What a review finds in the tables that came of a file; it changes nothing. Totals have tables of their own, so all are looked at. */
export const useFindings = (workbookId: string, tables: string[]) =>
  useQuery({
    queryKey: inWorkbook(workbookId, 'findings', tables),
    queryFn: async () => {
      const answer = await ask(
        api.POST('/api/v1/workbooks/{workbook_id}/review', { params: { path: { workbook_id: workbookId } }, body: { mode: 'lint' } }),
      );
      const { findings } = 'job_id' in answer ? await awaitReview(answer.job_id) : answer;
      return findings.filter(({ table }) => tables.includes(table));
    },
  });

/** The spec; null before the source was analysed. */
export const useSpec = (workbookId: string, name: string) =>
  useQuery({
    queryKey: inWorkbook(workbookId, 'spec', name),
    queryFn: async (): Promise<Schemas['ParseSpec'] | null> => {
      try {
        return await ask(
          api.GET('/api/v1/workbooks/{workbook_id}/sources/{source_name}/parse-spec', { params: { path: path(workbookId, name) } }),
        );
      } catch (error) {
        if (isProblem(error, 'not-found')) return null;
        throw error;
      }
    },
  });

/** The tables that were made from the source, each with the cells that it came from. */
export const useMadeTables = (workbookId: string, names: string[]) =>
  useQueries({
    queries: names.map((name) => ({ ...askTable(workbookId, name), retry: false })),
    combine: (results) => results.flatMap(({ data }) => (data && data.state === 'active' ? [data] : [])),
  });
