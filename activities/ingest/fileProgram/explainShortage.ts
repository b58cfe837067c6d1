import { DomainError } from '../../../core/errors.ts';

/** How JavaScript and DuckDB say that memory is short, or that a text or list is too long. */
const shortage =
  /^Out of Memory Error|allocation failed|Invalid (?:string|array|typed array) length|longer than 0x|size exceeded|reaching memory limit/;

/** Turns a lack of memory into a refusal of the file; returns other errors unchanged. */
export function explainShortage(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof DomainError || !shortage.test(error.message)) return error;
  return new DomainError(
    'too-large',
    'Working on the file takes more memory than one file may take.',
    'Split the file, leave out what is not needed, or send the sheets as csv.',
    { cause: error },
  );
}
