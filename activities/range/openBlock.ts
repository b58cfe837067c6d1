import { parseBlock } from '../../core/a1/block.ts';
import { DomainError, describeFirst, type ProblemItem } from '../../core/errors.ts';
import type { Range } from '../../core/grid/grid.ts';

export function refuseRange(...errors: ProblemItem[]): DomainError {
  return new DomainError('validation-failed', describeFirst(errors), 'Correct what `errors` lists; nothing was changed.', { errors });
}

export function requireBlock(text: string, pointer: string): Range {
  const parsed = parseBlock(text);
  if (!parsed.ok) throw refuseRange({ pointer, detail: parsed.why });
  return parsed.block;
}
