import { useQuery } from '@tanstack/react-query';
import { api, ask } from '../../api/client.ts';
import { inWorkbook } from '../workbook/asks.ts';

/** Which tables are not made by a transform: only these can come back. */
export function useBaseTables(workbookId: string): (name: string) => boolean {
  const { data } = useQuery({
    queryKey: inWorkbook(workbookId, 'transforms'),
    queryFn: () =>
      ask(api.GET('/api/v1/workbooks/{workbook_id}/transforms', { params: { path: { workbook_id: workbookId }, query: { limit: 1000 } } })),
  });
  const derived = new Set(data?.transforms.map(({ output }) => output));
  return (name) => !derived.has(name);
}
