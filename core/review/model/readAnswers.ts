/** What a model says is checked against what it was shown; what does not hold is dropped. */

import type { Evidence, Finding, Severity } from '../finding.ts';
import type { Value } from '../region.ts';
import type { TableSample } from './prompts.ts';

const mostFindings = 30;
const mostText = 500;
const order: Severity[] = ['info', 'warning', 'error'];

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function listOf(answer: unknown, member: string): unknown[] {
  const list = isObject(answer) ? answer[member] : null;
  return Array.isArray(list) ? list : [];
}

/** One line without control characters. */
function readText(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const text = value.replace(/[\p{C}\s]+/gu, ' ').trim();
  return text === '' ? null : text.slice(0, mostText);
}

function readSeverity(value: unknown): Severity | null {
  return order.find((each) => each === value) ?? null;
}

/** Findings of which at least one cell is in the data with the value that the model says; other cells are left out of them. */
export function readFindings(answer: unknown, samples: TableSample[]): { findings: Finding[]; dropped: number } {
  const given = listOf(answer, 'findings');
  const findings = given.slice(0, mostFindings).flatMap((each): Finding[] => {
    const sample = isObject(each) ? samples.find(({ table }) => table === each.table) : undefined;
    const message = isObject(each) ? readText(each.message) : null;
    if (!isObject(each) || !sample || message === null) return [];
    const evidence = listOf(each, 'evidence').flatMap((cell) => checkCell(cell, sample));
    if (evidence.length === 0) return [];
    const severity = readSeverity(each.severity) ?? 'info';
    return [{ rule: 'model', severity, table: sample.table, message, evidence, suggestedFix: readText(each.suggested_fix) }];
  });
  return { findings, dropped: given.length - findings.length };
}

function checkCell(cell: unknown, { columns, rowIds, rows }: TableSample): Evidence[] {
  if (!isObject(cell)) return [];
  const row = rowIds.indexOf(Number(cell.row_id));
  const column = columns.findIndex(({ name }) => name === cell.column);
  const value = rows[row]?.[column];
  if (value === undefined || !isSameValue(value, cell.value)) return [];
  return [{ rowId: rowIds[row] as number, column: columns[column]?.name ?? '', value }];
}

function isSameValue(value: Value, given: unknown): boolean {
  if (value === null) return given === null || given === '';
  if (typeof given !== 'string' && typeof given !== 'number') return false;
  if (String(value) === String(given).trim()) return true;
  const number = typeof value === 'number' ? Number(String(given).replaceAll(',', '')) : Number.NaN;
  return number === value;
}

/** Findings that a model weighs less are told with less weight, and why. It cannot make one heavier, nor hide one. */
export function applyVerdicts(answer: unknown, findings: Finding[]): Finding[] {
  const weighed = [...findings];
  for (const verdict of listOf(answer, 'verdicts')) {
    if (!isObject(verdict) || typeof verdict.id !== 'number') continue;
    const finding = findings[verdict.id];
    const severity = readSeverity(verdict.severity);
    if (!finding || severity === null || order.indexOf(severity) >= order.indexOf(finding.severity)) continue;
    const why = readText(verdict.why);
    weighed[verdict.id] = { ...finding, severity, message: why === null ? finding.message : `${finding.message} (${why})` };
  }
  return weighed;
}
