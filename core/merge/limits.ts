import { DomainError } from '../errors.ts';

/** Rows that differ are held in memory while they are merged, and all may. */
export const mostRows = 100_000;
export const mostBytes = 64 * 1024 * 1024;

export function refuseTooLarge(what: string): DomainError {
  return new DomainError('too-large', `What is to be merged ${what}.`, 'Export and merge fewer rows, or write them with POST …/rows.');
}

/** As many rows and conflicts as are told of a merge that was only planned. */
export const mostPlanned = 100;
