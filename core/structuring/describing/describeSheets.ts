/** A ParseSpec as one line per sheet: what the scorer reads. */

import { parseRange } from '../../a1/address.ts';
import type { ParseSpec, SpecRegion } from '../spec/spec.ts';

export interface SheetLine {
  file: string;
  sheet: string;
  tables: { range: string; kind: string; header_rows: number[]; total_rows: number[] }[];
  notes: string[];
}

export function describeSheets(file: string, sheets: string[], spec: ParseSpec): SheetLine[] {
  return sheets.map((sheet) => {
    const own = spec.regions.filter((region) => region.sheet === sheet && parseRange(region.range) !== null);
    return {
      file,
      sheet,
      tables: own
        .filter((region) => region.kind === 'data' || region.kind === 'report')
        .map((region) => ({
          range: region.range,
          kind: region.kind,
          header_rows: region.header_rows,
          total_rows: listTotalRows(region),
        })),
      notes: own.filter((region) => region.kind === 'title' || region.kind === 'note').map((region) => region.range),
    };
  });
}

/** Sums, without differences and averages. */
function listTotalRows(region: SpecRegion): number[] {
  return (region.totals ?? []).flatMap((total) => (typeof total.at === 'number' && total.kind !== 'computed' ? [total.at] : []));
}
