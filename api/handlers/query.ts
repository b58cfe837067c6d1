import type { Readable } from 'node:stream';
import { requireWorkbook } from '../../activities/access.ts';
import { requireResult, streamResult } from '../../activities/query/readResult.ts';
import { runQuery } from '../../activities/query/runQuery.ts';
import { validateQuery } from '../../activities/query/validateQuery.ts';
import type { ResultRecord } from '../../store/pg/results.ts';
import type { Handlers } from '../http/call.ts';
import { formatOf } from '../http/negotiate.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { tagResult } from '../http/rowValidators.ts';
import { wrapStream } from '../http/wrapStream.ts';
import { presentResultHead, presentResultHeaders } from '../presenters/results.ts';

interface Page {
  limit: number;
  offset: number;
}

export function makeQueryHandlers({ services }: ApiParts): Handlers<'runQuery' | 'validateQuery' | 'getResult'> {
  const stream = async (result: ResultRecord, page: Page, type: string) => ({
    status: 200 as const,
    headers: presentResultHeaders(result),
    raw: { type, data: await streamResult(services, result, page, formatOf(type)) },
  });
  const answerJson = (result: ResultRecord, page: Page, rows: string | Readable) => {
    const head = `${JSON.stringify(presentResultHead(result, page)).slice(0, -1)},"rows":`;
    return {
      status: 200 as const,
      headers: presentResultHeaders(result),
      raw: { type: 'application/json', data: typeof rows === 'string' ? `${head}${rows}}` : wrapStream(head, rows, '}') },
    };
  };

  return {
    async runQuery({ principal, params, body, type, abandoned }) {
      const workbook = await requireWorkbook(services, principal, params.workbook_id, 'viewer');
      const page = { limit: body.limit ?? 1000, offset: 0 };
      const isJson = formatOf(type) === 'json';
      const answer = await runQuery(services, principal, workbook, {
        sql: body.sql,
        params: body.params ?? null,
        // The other formats are written from the stored result.
        jsonRows: isJson ? page.limit : 0,
        timeoutMs: body.timeout_ms ?? 30_000,
        at: body.at ?? null,
        signal: abandoned,
      });
      return isJson ? answerJson(answer.result, page, answer.pageJson) : stream(answer.result, page, type);
    },

    async validateQuery({ principal, params, body, abandoned }) {
      const workbook = await requireWorkbook(services, principal, params.workbook_id, 'viewer');
      const wanted = { sql: body.sql, params: body.params ?? null, signal: abandoned };
      return { status: 200, body: await validateQuery(services, principal, workbook, wanted) };
    },

    async getResult({ principal, params, query, type, unlessSeen }) {
      const result = await requireResult(services, principal, params.result_id);
      const page = { limit: query.limit ?? 1000, offset: query.offset ?? 0 };
      return unlessSeen(tagResult(result, type, page), async () =>
        formatOf(type) === 'json'
          ? answerJson(result, page, await streamResult(services, result, page, 'json'))
          : stream(result, page, type),
      );
    },
  };
}
