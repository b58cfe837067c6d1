/** Why a file is not read, in words for the person who sent it. */

import { DomainError } from '../../core/errors.ts';

const SAVE_AGAIN = 'Open the file in Excel, save it as .xlsx and send that.';

export function refuseTooLarge(detail: string, suggestedFix = 'Split the workbook, or send the large sheet as csv.'): DomainError {
  return new DomainError('too-large', detail, suggestedFix);
}

/** For files whose bytes violate their format. */
export function refuseDamaged(detail: string, cause?: unknown): DomainError {
  return new DomainError('validation-failed', `The workbook is damaged: ${detail}.`, SAVE_AGAIN, { cause });
}

export function refuseFormat(detail: string, suggestedFix = SAVE_AGAIN): DomainError {
  return new DomainError('unsupported-media', detail, suggestedFix);
}

export function refuseDoctype(): DomainError {
  return new DomainError(
    'validation-failed',
    'The workbook contains a document type declaration (DOCTYPE), which no spreadsheet program writes.',
    SAVE_AGAIN,
  );
}
