import { useQueries, useQuery } from '@tanstack/react-query';
import { api, ask, type Schemas } from '../../api/client.ts';
import { awaitReview } from '../../api/jobs.ts';
import { isProblem } from '../../api/problem.ts';
import { askTable, inWorkbook } from '../workbook/asks.ts';
import { parseRange } from './a1.ts';
import type { FileFinding } from './doubts.ts';
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

/** More tables than these are reviewed when somebody asks for it, all of the workbook at once, which is less work. */
export const mostReviews = 6;

/** What reviews find in the tables that came of a file; they change nothing. Other tables of the workbook are left alone: they may be large. */
export const useFindings = (workbookId: string, tables: string[], isReady: boolean) =>
  useQuery({
    queryKey: inWorkbook(workbookId, 'findings', tables),
    enabled: isReady,
    queryFn: async (): Promise<FileFinding[]> => {
      const targets = tables.length <= mostReviews ? tables : [null];
      const reviews = await Promise.all(targets.map((target) => review(workbookId, target)));
      const found = reviews.flatMap(({ findings }) => findings).filter(({ table }) => tables.includes(table));
      // Tables of one region say the same of what is between them.
      const unique = new Map(found.map((finding) => [`${finding.rule} ${finding.table} ${finding.message}`, finding]));
      const names = [...new Set([...unique.values()].map(({ table }) => table))];
      const sheets = new Map(await Promise.all(names.map(async (name) => [name, await findSheet(workbookId, name)] as const)));
      return [...unique].map(([id, finding]) => ({ ...finding, id, sheet: sheets.get(finding.table) ?? null }));
    },
  });

async function review(workbookId: string, target: string | null): Promise<Schemas['Review']> {
  const params = { path: { workbook_id: workbookId } };
  const answer = await ask(api.POST('/api/v1/workbooks/{workbook_id}/review', { params, body: { mode: 'lint', target } }));
  return 'job_id' in answer ? awaitReview(answer.job_id) : answer;
}

const findSheet = async (workbookId: string, name: string) => (await askTable(workbookId, name).queryFn()).source?.sheet ?? null;

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
