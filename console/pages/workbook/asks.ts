import { useQuery } from '@tanstack/react-query';
import { api, ask } from '../../api/client.ts';

/** What several pages of a workbook read. */

/** A key of what belongs to a workbook, so that all of it can be read anew at once. */
export const inWorkbook = (workbookId: string, ...rest: unknown[]) => ['workbook', workbookId, ...rest];

export const useWorkbook = (workbookId: string) =>
  useQuery({
    queryKey: inWorkbook(workbookId),
    queryFn: () => ask(api.GET('/api/v1/workbooks/{workbook_id}', { params: { path: { workbook_id: workbookId } } })),
  });

export const useTables = (workbookId: string, state: 'active' | 'all' = 'active') =>
  useQuery({
    queryKey: inWorkbook(workbookId, 'tables', state),
    queryFn: () =>
      ask(
        api.GET('/api/v1/workbooks/{workbook_id}/tables', {
          params: { path: { workbook_id: workbookId }, query: { limit: 1000, state } },
        }),
      ),
  });

export const useSources = (workbookId: string) =>
  useQuery({
    queryKey: inWorkbook(workbookId, 'sources'),
    queryFn: () =>
      ask(api.GET('/api/v1/workbooks/{workbook_id}/sources', { params: { path: { workbook_id: workbookId }, query: { limit: 1000 } } })),
  });

export const askTable = (workbookId: string, name: string) => ({
  queryKey: inWorkbook(workbookId, 'table', name),
  queryFn: () => ask(api.GET('/api/v1/workbooks/{workbook_id}/tables/{name}', { params: { path: { workbook_id: workbookId, name } } })),
});

/** Where a row came from. */
export const askRowLineage = (workbookId: string, name: string, rowId: number) => ({
  queryKey: inWorkbook(workbookId, 'row-lineage', name, rowId),
  queryFn: () =>
    ask(
      api.GET('/api/v1/workbooks/{workbook_id}/tables/{name}/rows/{row_id}/lineage', {
        params: { path: { workbook_id: workbookId, name, row_id: rowId } },
      }),
    ),
});
