import { api, ask } from '../../api/client.ts';
import { inWorkbook } from '../workbook/asks.ts';

/** The notes of a table, by what they are about. */
export const askNotes = (workbookId: string, name: string) => ({
  queryKey: inWorkbook(workbookId, 'annotations', name),
  queryFn: () =>
    ask(
      api.GET('/api/v1/workbooks/{workbook_id}/tables/{name}/annotations', {
        params: { path: { workbook_id: workbookId, name }, query: { limit: 1000 } },
      }),
    ),
});
