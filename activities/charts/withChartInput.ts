import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { Principal } from '../../core/access/principal.ts';
import { parseColumnType } from '../../core/cells/columnTypes.ts';
import { findUsedColumns } from '../../core/charts/describeConfig.ts';
import { DomainError } from '../../core/errors.ts';
import type { TableAt } from '../../core/table/table.ts';
import type { VisibleColumn } from '../../core/table/visibleTable.ts';
import type { ChartInput } from '../../store/charts/requests.ts';
import type { FileProcess } from '../../store/fileProcesses/fileProcess.ts';
import type { Services } from '../../store/services.ts';
import { streamTable } from '../../store/tables/streamTable.ts';
import { openVisibleTable } from '../tables/openVisibleTable.ts';
import { freshen } from '../transforms/refreshViews.ts';

/** What one chart may read. */
const mostRows = 100_000;
const mostBytes = 32 * 1024 * 1024;

/** Runs `work` in a process that draws charts, with the rows of the table as the principal may see them. */
export async function withChartInput<T>(
  services: Services,
  principal: Principal,
  chart: { config: Record<string, unknown>; table: TableAt },
  work: (process: FileProcess, input: ChartInput) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  await refuseGovernedChart(services, chart.table.table.workbookId);
  const at = await freshen(services, principal.userId, chart.table);
  if (at.rowCount > mostRows) throw tooLarge(`The table has ${at.rowCount} rows; a chart reads ${mostRows} at most.`);
  const visible = await openVisibleTable(services, principal, at);
  const { config } = chart;
  // A chart that counts rows names no column.
  const named = findUsedColumns(config, visible.columns);
  const columns = named.length > 0 ? named : visible.columns.slice(0, 1);
  const path = await services.blobs.draft();
  try {
    const rows = await streamTable(services, { visible, columns }, 'ndjson');
    await pipeline(rows, countBytes, createWriteStream(path), signal ? { signal } : {});
    const processes = await services.chartProcesses();
    return await processes.use(
      principal.userId,
      async (process) =>
        work(process, {
          config,
          columns: visible.columns.map(({ name }) => name),
          numbers: columns.filter(isNumber).map(({ name }) => name),
          rowsPath: await process.share(path),
        }),
      { signal },
    );
  } finally {
    await rm(path, { force: true });
  }
}

/** What is computed from a column cannot be masked, so a governed workbook shows charts to nobody. */
async function refuseGovernedChart(services: Services, workbookId: string): Promise<void> {
  if (!(await services.policies.isGoverned(workbookId))) return;
  throw new DomainError(
    'governed-workbook',
    'The workbook has column policies, which a chart does not follow.',
    'Read or query the tables instead; they are shown as the policies say.',
  );
}

async function* countBytes(stream: AsyncIterable<Buffer>) {
  let left = mostBytes;
  for await (const part of stream) {
    left -= part.length;
    if (left < 0) throw tooLarge(`The columns that the chart reads take more than ${mostBytes / 1024 ** 2} MiB.`);
    yield part;
  }
}

function tooLarge(detail: string): DomainError {
  return new DomainError('too-large', detail, 'Aggregate the rows by a transform, and make the chart of its output.');
}

function isNumber({ type, masked }: VisibleColumn): boolean {
  const kind = parseColumnType(type)?.kind;
  return !masked && (kind === 'BIGINT' || kind === 'DOUBLE' || kind === 'DECIMAL');
}
