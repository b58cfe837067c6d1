import { DomainError } from '../../core/errors.ts';

/** In whatever format. */
export const mostPageBytes = 256 * 1024 * 1024;
export const smallerPage = 'Ask for fewer rows or columns at a time.';

/** Called while a page is built, so that a huge one is refused before it fills the memory. */
export function requireSmallPage(bytes: number): void {
  if (bytes > mostPageBytes) throw pageTooLarge();
}

function pageTooLarge(): DomainError {
  return new DomainError('query-too-large', `The page would hold more than ${mostPageBytes / 1024 ** 2} MiB.`, smallerPage);
}

/** What a page may hold. */
export const pageLimit = { bytes: mostPageBytes, refuse: pageTooLarge };
