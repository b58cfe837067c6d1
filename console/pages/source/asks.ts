import { useQueries, useQuery } from '@tanstack/react-query';
import { api, ask, type Schemas } from '../../api/client.ts';
import { isProblem } from '../../api/problem.ts';
import { inWorkbook } from '../workbook/asks.ts';
import { parseRange } from './a1.ts';
import type { Sheet } from './spec.ts';

const path = (workbookId: string, name: string) => ({ workbook_id: workbookId, source_name: name });

export const useSource = (workbookId: string, name: string) =>
  useQuery({
    queryKey: inWorkbook(workbookId, 'source', name),
    queryFn: () => ask(api.GET('/api/v1/workbooks/{workbook_id}/sources/{source_name}', { params: { path: path(workbookId, name) } })),
  });

export interface Preview extends Sheet {
  name: string;
  sheets: string[];
  isTruncated: boolean;
}

export const usePreview = (workbookId: string, name: string, sheet: string | null) =>
  useQuery({
    queryKey: inWorkbook(workbookId, 'preview', name, sheet),
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async (): Promise<Preview> => {
      const found = (await ask(
        api.GET('/api/v1/workbooks/{workbook_id}/sources/{source_name}/preview', {
          params: { path: path(workbookId, name), query: sheet ? { sheet } : {} },
        }),
      )) as Schemas['SourcePreview'];
      const range = parseRange(found.range) ?? { left: 1, top: 1, right: 1, bottom: 1 };
      return { name: found.sheet, sheets: found.sheets, range, values: found.values as unknown[][], isTruncated: found.truncated };
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
    queries: names.map((name) => ({
      queryKey: inWorkbook(workbookId, 'table', name),
      queryFn: () => ask(api.GET('/api/v1/workbooks/{workbook_id}/tables/{name}', { params: { path: { workbook_id: workbookId, name } } })),
      retry: false,
    })),
    combine: (results) => results.flatMap(({ data }) => (data && data.state === 'active' ? [data] : [])),
  });

export const readLineage = (workbookId: string, name: string, rowId: number) =>
  ask(
    api.GET('/api/v1/workbooks/{workbook_id}/tables/{name}/rows/{row_id}/lineage', {
      params: { path: { workbook_id: workbookId, name, row_id: rowId } },
    }),
  );
