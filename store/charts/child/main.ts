import { readFile } from 'node:fs/promises';
import { serveRequests } from '../../fileProcesses/child/serveRequests.ts';
import type { ChartCheck, ChartInput, ChartRequest } from '../requests.ts';
import { type DrawnChart, drawChart } from './drawChart.ts';
import { makePng } from './makePng.ts';

/** The process that draws charts. Their configs are written by strangers; it reaches nothing but the rows that it is given. */

serveRequests<ChartRequest>(async () => async (request) => {
  switch (request.op) {
    case 'check':
      return { warnings: (await draw(request)).warnings } satisfies ChartCheck;
    case 'draw': {
      const drawn = await draw(request);
      return request.as === 'png' ? makePng(drawn.svg) : Buffer.from(drawn.svg);
    }
    case 'rasterize':
      return makePng(await readFile(request.svgPath, 'utf8'));
    case 'forget':
      return null;
  }
});

async function draw(input: ChartInput): Promise<DrawnChart> {
  return drawChart(input, readRows(await readFile(input.rowsPath, 'utf8'), input.numbers));
}

function readRows(lines: string, numbers: string[]): Record<string, unknown>[] {
  return lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const row = JSON.parse(line) as Record<string, unknown>;
      for (const name of numbers) if (typeof row[name] === 'string') row[name] = Number(row[name]);
      return row;
    });
}
