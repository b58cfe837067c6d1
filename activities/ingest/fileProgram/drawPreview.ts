import { parseRange } from '../../../core/a1/address.ts';
import { answerTooLarge, DomainError } from '../../../core/errors.ts';
import type { Range } from '../../../core/grid/grid.ts';
import { drawSheet } from '../../../core/structuring/findings/drawSheet.ts';
import type { SpecRegion } from '../../../core/structuring/index.ts';
import type { Preview } from './readPreview.ts';

/** A PNG of it takes sixteen bytes for each. */
const mostPixels = 4_000_000;
const mostBytes = 16 * 1024 * 1024;

/** The cells of a preview as a picture, with the regions of their sheet; a picture that is too large is refused. */
export function drawPreview(preview: Preview, range: Range, regions: SpecRegion[]): string {
  const svg = drawCells(preview, range, regions);
  if (svg.length > mostBytes) throw answerTooLarge(mostBytes, fix);
  const [, width = '0', height = '0'] = /^<svg [^>]*? width="(\d+)" height="(\d+)"/.exec(svg) ?? [];
  if (Number(width) * Number(height) <= mostPixels) return svg;
  throw new DomainError('too-large', `The picture would be ${width} by ${height} pixels; ${mostPixels} in all are possible.`, fix);
}

export function drawCells(preview: Preview, { top, left }: Range, regions: SpecRegion[]): string {
  return drawSheet(
    {
      top,
      left,
      values: preview.values,
      widths: preview.column_widths,
      heights: preview.row_heights,
      merges: preview.merges.flatMap((merge) => parseRange(merge) ?? []),
      styles: preview.styles,
      styleIds: preview.style_ids,
    },
    regions.filter(({ sheet }) => sheet === preview.sheet),
  );
}

const fix = 'Name a smaller block with `range`, such as A1:F50.';
