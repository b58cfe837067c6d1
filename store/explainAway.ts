import { DomainError, PartAwayError } from '../core/errors.ts';
import { explainDatabaseError } from './pg/database.ts';

/** Turns what only says that a part is away, busy or full into 503; returns other errors unchanged. */
export function explainAway(error: unknown): unknown {
  return explainFullDisk(explainDatabaseError(error));
}

/** Of the machine, and of PostgreSQL. DuckDB has words alone. */
const fullDisk = new Set(['ENOSPC', 'EDQUOT', '53100']);

function explainFullDisk(error: unknown): unknown {
  if (error instanceof DomainError) return error;
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (fullDisk.has((cause as { code?: string }).code ?? '') || /No space left on device|Disk quota exceeded/.test(cause.message))
      return new PartAwayError(
        'There is no room left on a disk of the service.',
        'Tell whoever runs it, and try again when there is room, with the same Idempotency-Key.',
        { cause: error, headers: { 'Retry-After': '10' } },
      );
  return error;
}
