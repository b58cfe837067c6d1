import { requireWorkbook } from '../../activities/access.ts';
import { lookAhead } from '../../activities/query/lookAhead.ts';
import { explainLostResult, requireResult, resultPageLimit, streamResult } from '../../activities/query/readResult.ts';
import { runQuery } from '../../activities/query/runQuery.ts';
import { validateQuery } from '../../activities/query/validateQuery.ts';
import type { ResultRecord } from '../../store/pg/results.ts';
import type { Call, Handlers } from '../http/call.ts';
import { formatOf } from '../http/negotiate.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { tagResult } from '../http/rowValidators.ts';
import { wrapRows } from '../http/wrapStream.ts';
import { presentResultHead, presentResultHeaders } from '../presenters/results.ts';

/** What a page takes while it is made. */
const pageBytes = 8 * 1024 * 1024;

const closingBrace = Buffer.from('}');

interface Page {
  limit: number;
  offset: number;
}

export function makeQueryHandlers({ services }: ApiParts): Handlers<'runQuery' | 'validateQuery' | 'getResult'> {
  const answerPage = async (
    { takeRoom, spool, type }: Pick<Call<'getResult'>, 'takeRoom' | 'spool' | 'type'>,
    result: ResultRecord,
    page: Page,
    headers: Record<string, string> = presentResultHeaders(result),
  ) => {
    await takeRoom(pageBytes);
    const format = formatOf(type);
    try {
      const rows = await streamResult(services, result, page, format);
      const whole = format === 'json' ? wrapRows(presentResultHead(result, page), rows) : rows;
      return { status: 200 as const, headers, raw: { type, ...(await spool(whole, resultPageLimit)) } };
    } catch (error) {
      throw await explainLostResult(services, result, error);
    }
  };

  return {
    async runQuery(call) {
      const { principal, params, body, type, abandoned } = call;
      const page = { limit: body.limit ?? 1000, offset: 0 };
      const isJson = formatOf(type) === 'json';
      const wanted = {
        sql: body.sql,
        params: body.params ?? null,
        // The other formats are written from the stored result.
        jsonRows: isJson ? page.limit : 0,
        timeoutMs: body.timeout_ms ?? 30_000,
        at: body.at ?? null,
        signal: abandoned,
      };
      const ahead = lookAhead(services, principal, params.workbook_id, wanted);
      const workbook = await requireWorkbook(services, principal, params.workbook_id, 'viewer', ahead.workbook);
      const answer = await runQuery(services, principal, workbook, wanted, ahead);
      const headers = { ...presentResultHeaders(answer.result), 'X-SVC-Result-Cache': answer.isKept ? 'hit' : 'miss' };
      if (!isJson || answer.pageJson === null) return answerPage(call, answer.result, page, headers);
      const head = JSON.stringify(presentResultHead(answer.result, page));
      return {
        status: 200,
        headers,
        raw: { type, data: Buffer.concat([Buffer.from(`${head.slice(0, -1)},"rows":`), answer.pageJson, closingBrace]) },
      };
    },

    async validateQuery({ principal, params, body, abandoned }) {
      const workbook = await requireWorkbook(services, principal, params.workbook_id, 'viewer');
      const wanted = { sql: body.sql, params: body.params ?? null, signal: abandoned };
      return { status: 200, body: await validateQuery(services, principal, workbook, wanted) };
    },

    async getResult(call) {
      const { principal, params, query, type } = call;
      const result = await requireResult(services, principal, params.result_id);
      const page = { limit: query.limit ?? 1000, offset: query.offset ?? 0 };
      return call.unlessSeen(tagResult(result, type, page), () => answerPage(call, result, page));
    },
  };
}
