import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { DomainError } from '../../core/errors.ts';
import type { TableAt } from '../../core/table/table.ts';
import type { TransformDefinition } from '../../core/transforms/transform.ts';
import type { Services } from '../../store/services.ts';
import { streamTable } from '../../store/tables/streamTable.ts';
import { type Asker, type BoundInput, openForPython, requireColumns } from './planRun.ts';
import { type RunResult, resultLimits } from './runSql.ts';

/** Tables are mapped from their files, so they may be larger than the memory of a run. */
const mostInputBytes = 4 * 1024 ** 3;

/** Calls the function of a Python template with its tables, which it gets without their row ids. */
export async function runPython(
  services: Services,
  { userId, principal, signal }: Asker,
  definition: TransformDefinition,
  before: TableAt | null,
): Promise<RunResult> {
  const python = await services.python();
  const inputs = await openForPython(services, principal, definition);
  const path = await services.blobs.draft();
  const files = new Map<string, string>();
  try {
    await writeInputs(services, inputs, files, signal);
    const args = Object.fromEntries(inputs.map(({ arg, at }) => [arg, files.get(at.table.id) as string]));
    const { template } = definition;
    const { columns } = await python.run({ userId, template, args, resultPath: path, ...resultLimits, ...(signal ? { signal } : {}) });
    return { plan: { inputs, output: requireColumns(columns, definition, before), lineage: null, allColumns: true }, path };
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await Promise.all([...files.values()].map((file) => rm(file, { force: true })));
  }
}

/** Whether a template can be run, as far as that can be told without running it. Throws refusals. */
export async function checkPython(
  services: Services,
  { userId, principal, signal }: Asker,
  definition: TransformDefinition,
): Promise<void> {
  const python = await services.python();
  await openForPython(services, principal, definition);
  const { template, args } = definition;
  await python.check({ userId, template, argNames: Object.keys(args), ...(signal ? { signal } : {}) });
}

/** Each table once, as an Arrow stream. `files`: where they are, by id. */
async function writeInputs(services: Services, inputs: BoundInput[], files: Map<string, string>, signal?: AbortSignal): Promise<void> {
  let left = mostInputBytes;
  async function* count(stream: AsyncIterable<Buffer>) {
    for await (const part of stream) {
      left -= part.length;
      if (left < 0) throw tooLarge();
      yield part;
    }
  }
  for (const { at, visible } of inputs) {
    if (files.has(at.table.id)) continue;
    const file = await services.blobs.draft();
    files.set(at.table.id, file);
    const stream = await streamTable(services, { visible, columns: visible.columns }, 'arrow');
    await pipeline(stream, count, createWriteStream(file), signal ? { signal } : {});
  }
}

function tooLarge(): DomainError {
  return new DomainError(
    'query-too-large',
    `The tables of the transform take more than ${mostInputBytes / 1024 ** 3} GiB.`,
    'Choose the columns and rows that are needed by a transform in SQL, and let the one in Python read its output.',
  );
}
