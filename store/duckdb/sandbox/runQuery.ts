import { randomBytes } from 'node:crypto';
import { unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { DomainError } from '../../../core/errors.ts';
import type { TreeCheck } from '../../../core/sql/checkTree.ts';
import { foldName } from '../../../core/sql/names.ts';
import { createTailTable, quoteName, type Relation } from '../relation.ts';
import { emptyFolder, type InPart, shareFile, takeFile } from './folders.ts';
import { childProblem } from './outcomes.ts';
import type { QueryProcess } from './process.ts';
import type { ExecuteRequest, LoadedRelation, LoadRequest, Params, Replies } from './protocol.ts';
import type { SandboxResult } from './sandbox.ts';

export interface CheckedQuery extends Pick<ExecuteRequest, 'sql' | 'pageLimit' | 'maxRows' | 'maxBytes'> {
  params: Params;
  /** Only those that the query reads. */
  relations: Relation[];
  pathOf(key: string): string;
  plan: Pick<TreeCheck, 'columns' | 'allColumns'>;
  deadlineMs: number;
  /** Where the caller finds the result; null when he wants none. */
  resultPath: string | null;
}

/** A query interrupts itself at its deadline; one that cannot is killed this much later. */
export const graceMs = 300;
const maxPageBytes = 32 * 1024 * 1024;
const resultName = 'result.parquet';

/** Runs a query that passed the first wall. Whatever happens, the process holds no file of this query afterwards. */
export async function runQuery(process: QueryProcess, query: CheckedQuery): Promise<SandboxResult> {
  const { sql, params, pageLimit, maxRows, maxBytes, resultPath } = query;
  const { relations, files } = describeRelations(process, query);
  try {
    await Promise.all(files.map(({ from, to }) => shareFile(from, to, process.folders.owner)));
    const leftMs = () => Math.max(1, query.deadlineMs - Date.now());
    await ask(process, { op: 'load', relations, timeoutMs: leftMs() });
    // What hides columns has been loaded without them: from here on its files cannot be reached by any means.
    await removeFiles(files, 'governed');
    const { value, body } = await ask(process, {
      op: 'execute',
      sql,
      params,
      pageLimit,
      maxRows,
      maxBytes,
      maxPageBytes,
      resultFile: resultPath === null ? null : resultName,
      timeoutMs: leftMs(),
    });
    if (resultPath !== null) await takeFile(join(process.folders.outDir, resultName), resultPath);
    return { ...value, pageJson: body.toString('utf8'), resultFile: resultPath };
  } catch (error) {
    // After an error in the query the process goes on; after anything else a fresh one is the only known state.
    if (!(error instanceof DomainError && error.code === 'query-failed')) process.kill();
    throw error;
  } finally {
    // A process that is gone takes its folders with it.
    if (!process.gone) {
      await removeFiles(files, 'open');
      await emptyFolder(process.folders.outDir);
    }
  }
}

async function ask<R extends LoadRequest | ExecuteRequest>(
  process: QueryProcess,
  request: R,
): Promise<{ value: Replies[R['op']]; body: Buffer }> {
  const { reply, body } = await process.ask(request, request.timeoutMs + graceMs);
  if (!reply.ok) throw childProblem(reply.error);
  return { value: reply.value as Replies[R['op']], body };
}

interface SharedFile {
  part: InPart;
  from: string;
  to: string;
}

/** What the process is told of the tables, and the files it needs for them. */
function describeRelations(process: QueryProcess, query: CheckedQuery): { relations: LoadedRelation[]; files: SharedFile[] } {
  const files = new Map<string, SharedFile & { seen: string }>();
  // Tables of the engine's session share their names with those of the workbook.
  const mark = randomBytes(6).toString('hex');
  const relations = query.relations.map((relation, i): LoadedRelation => {
    const part: InPart = relation.governed ? 'governed' : 'open';
    const pathOf = (key: string) => {
      const name = `${files.size}.parquet`;
      const file = files.get(`${part} ${key}`) ?? {
        part,
        from: query.pathOf(key),
        to: join(process.folders.inDir, part, name),
        seen: join(process.seen.inDir, part, name),
      };
      files.set(`${part} ${key}`, file);
      return file.seen;
    };
    const tailName = `__svc_tail_${mark}_${i}`;
    const { name, governed, tail } = relation;
    const select = relation.select(pathOf, tailName);
    return {
      name,
      governed,
      select: governed ? pruneColumns(select, relation, query.plan) : select,
      tail: tail && { name: tailName, create: createTailTable(tailName, tail), json: tail.json },
    };
  });
  return { relations, files: [...files.values()] };
}

/** A table that must be copied is copied no wider than the query needs it. */
function pruneColumns(select: string, relation: Relation, { columns, allColumns }: CheckedQuery['plan']): string {
  if (allColumns) return select;
  const named = new Set(columns.map(foldName));
  const wanted = relation.columns.filter(({ name }) => named.has(foldName(name)));
  const kept = wanted.length > 0 ? wanted : relation.columns.slice(-1);
  return `SELECT ${kept.map(({ name }) => quoteName(name)).join(', ')} FROM (${select})`;
}

async function removeFiles(files: SharedFile[], part: InPart): Promise<void> {
  await Promise.all(files.filter((file) => file.part === part).map(({ to }) => unlink(to)));
}
