import { useQuery } from '@tanstack/react-query';
import { api, ask, type Schemas } from '../../api/client.ts';
import { inWorkbook } from '../workbook/asks.ts';

/** As many rows as are shown beside a sheet. */
const paneRows = 1_000;

export const usePaneRows = (workbookId: string, name: string) =>
  useQuery({
    queryKey: inWorkbook(workbookId, 'pane', name),
    enabled: name !== '',
    queryFn: async () =>
      (await ask(
        api.GET('/api/v1/workbooks/{workbook_id}/tables/{name}/rows', {
          params: { path: { workbook_id: workbookId, name }, query: { limit: paneRows } },
        }),
      )) as Schemas['RowsPage'],
  });
