/** What speaks for the reading of a table and for the next best one: shares from 0 to 1, or votes from -1 to 1. */

import type { Range } from '../../grid/grid.ts';
import { weighLine } from '../headers/header.ts';
import type { FoundTable } from '../regions/regions.ts';
import { type ColumnProfile, isColumnOfDigits, isTextColumn, type Line, profileColumns, readLines } from '../sheet/lines.ts';
import type { SheetView } from '../sheet/sheet.ts';

export interface HeaderEvidence {
  /** Votes of the weakest header row for being one. */
  header: number;
  weakest: number | null;
  /** Votes of the first row of data for being data. */
  data: number;
  firstData: number | null;
  /** Share of the columns that a row right above the table has texts for, and the row. */
  above: number;
  rowAbove: number | null;
  /** How differently header and data are set in bold or filled. */
  style: number;
  /** Share of the columns with a cell of their own in the last header row. */
  named: number;
  rows: number;
  /** Share of the columns that hold figures or dates: without any, nothing can be told by type. */
  typed: number;
}

export interface RegionEvidence {
  /** How much the columns change their types at the widest change over a blank row inside, and the row below it. */
  change: number;
  changeRow: number | null;
  /** Blank rows there, as a share of the rows. */
  gaps: number;
  /** How much the types agree with the nearest other table that stands in line with it, and its range. */
  kinship: number;
  kin: Range | null;
  /** Filled cells among all. */
  density: number;
  rows: number;
  columns: number;
}

/** Rows of a table that are looked at; more tell nothing new. */
const SAMPLE_ROWS = 400;
/** Rows on each side of a gap that show what the columns hold there. */
const SIDE_ROWS = 12;
/** Rows or columns between tables that are in line with each other. */
const NEAR = 3;

/** The head of a table, which is enough to weigh it. */
export interface TableHead {
  range: Range;
  header: Line[];
  data: Line[];
  profiles: ColumnProfile[];
}

export function readHead(view: SheetView, { range, headerRows, firstDataRow }: FoundTable): TableHead {
  const lines = readLines(view, { ...range, bottom: Math.min(range.bottom, firstDataRow + SAMPLE_ROWS) });
  const data = lines.filter((line) => line.row >= firstDataRow);
  const rows = new Set(headerRows);
  return { range, header: lines.filter((line) => rows.has(line.row)), data, profiles: profileColumns(view, range, data) };
}

export function weighHeader(view: SheetView, { range, header, data, profiles }: TableHead): HeaderEvidence {
  const vote = (line: Line): number => {
    const votes = weighLine(view, range, line, profiles);
    return (votes.header - votes.data) / Math.max(1, line.to - line.from);
  };
  const filled = profiles.filter((profile) => profile.filled > 0).length;
  const weakest = header.length === 0 ? null : header.reduce((least, line) => (vote(line) < vote(least) ? line : least));
  const [first] = data;
  const above = readAbove(view, range);
  return {
    header: weakest ? vote(weakest) : 0,
    weakest: weakest?.row ?? null,
    data: first ? -vote(first) : 0,
    firstData: first?.row ?? null,
    above: above ? above.texts / Math.max(1, filled) : 0,
    rowAbove: above?.row ?? null,
    style: first && header.length > 0 ? Math.abs(shareStyled(header.at(-1)!) - shareStyled(first)) : 0,
    named: header.length === 0 ? 0 : Math.min(1, (header.at(-1)!.to - header.at(-1)!.from) / Math.max(1, filled)),
    rows: header.length,
    typed: profiles.filter((profile) => isColumnOfDigits(profile) || profile.dates * 2 > profile.filled).length / Math.max(1, filled),
  };
}

function shareStyled(line: Line): number {
  return Math.max(line.bold, line.filled) / Math.max(1, line.to - line.from);
}

/** Several texts in the row right above a table, which may be part of its header. */
function readAbove(view: SheetView, range: Range): Line | null {
  const [line] = readLines(view, { ...range, top: range.top - 1, bottom: range.top - 1 });
  return line && line.texts > 1 ? line : null;
}

export function weighRegion(view: SheetView, head: TableHead, others: FoundTable[]): RegionEvidence {
  const { range, data, header } = head;
  const evidence: RegionEvidence = {
    change: 0,
    changeRow: null,
    gaps: 0,
    kinship: 0,
    kin: null,
    density: 0,
    rows: data.length,
    columns: head.profiles.filter((profile) => profile.filled > 0).length,
  };
  const cells = [...header, ...data].reduce((sum, line) => sum + line.to - line.from, 0);
  evidence.density = cells / Math.max(1, (header.length + data.length) * evidence.columns);
  let gaps = 0;
  for (let k = 1; k < data.length; k += 1) {
    if (data[k]!.row === data[k - 1]!.row + 1) continue;
    gaps += 1;
    const upper = profileColumns(view, range, data.slice(Math.max(0, k - SIDE_ROWS), k));
    const lower = profileColumns(view, range, data.slice(k, k + SIDE_ROWS));
    const change = 1 - agree(upper, lower);
    if (change <= evidence.change) continue;
    evidence.change = change;
    evidence.changeRow = data[k]!.row;
  }
  evidence.gaps = gaps / Math.max(1, data.length);
  for (const other of others) {
    if (!isInLine(range, other.range)) continue;
    const own = readHead(view, other);
    const stacked = own.range.left <= range.right && range.left <= own.range.right;
    const kinship = stacked ? agreeBelow(head, own) : agree(head.profiles, own.profiles);
    if (kinship > evidence.kinship) Object.assign(evidence, { kinship, kin: other.range });
  }
  return evidence;
}

/** Types by place, for tables one below the other whose columns need not begin at the same place. */
function agreeBelow(a: TableHead, b: TableHead): number {
  const shift = b.range.left - a.range.left;
  const shifted = a.profiles.map((_, k) => b.profiles[k - shift]);
  return agree(a.profiles, shifted);
}

/** Share of the columns that hold the same type in both, of those that hold something in either. */
function agree(a: (ColumnProfile | undefined)[], b: (ColumnProfile | undefined)[]): number {
  let same = 0;
  let used = 0;
  for (let k = 0; k < Math.max(a.length, b.length); k += 1) {
    const [left, right] = [classOf(a[k]), classOf(b[k])];
    if (left === 'blank' && right === 'blank') continue;
    used += 1;
    if (left === right) same += 1;
  }
  return used === 0 ? 1 : same / used;
}

function classOf(profile: ColumnProfile | undefined): string {
  if (!profile || profile.filled === 0) return 'blank';
  if (isColumnOfDigits(profile)) return 'digits';
  if (profile.dates * 2 > profile.filled) return 'dates';
  return isTextColumn(profile) ? 'texts' : 'mixed';
}

function isInLine(a: Range, b: Range): boolean {
  const apart = (low: number, high: number, otherLow: number, otherHigh: number) => Math.max(otherLow - high, low - otherHigh) - 1;
  const rows = apart(a.top, a.bottom, b.top, b.bottom);
  const columns = apart(a.left, a.right, b.left, b.right);
  return (columns < 0 && rows >= 0 && rows <= NEAR) || (rows < 0 && columns >= 0 && columns <= NEAR);
}
