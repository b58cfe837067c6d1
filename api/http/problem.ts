import { DomainError, problems } from '../../core/errors.ts';
import { makeProblemPage } from '../pages/problem.ts';
import type { AnyReply } from './call.ts';

export const problemTypes = ['application/problem+json', 'application/json', 'text/html'] as const;

/** The only place that turns a refusal into a problem document, or into a page. Unknown errors become an opaque 500. */
export function renderProblem(error: unknown, requestId: string, wanted?: string | false): AnyReply {
  const refusal =
    error instanceof DomainError
      ? error
      : new DomainError(
          'internal',
          'Something went wrong on our side; nothing more can be said here.',
          `Try again; if it stays, report the request id ${requestId}.`,
          { cause: error },
        );
  const { status, title } = problems[refusal.code];
  const { errors, members, headers } = refusal.extras;
  const body = {
    type: `urn:svc:problem:${refusal.code}`,
    title,
    status,
    detail: refusal.detail,
    suggested_fix: refusal.suggestedFix,
    instance: requestId,
    ...(errors && errors.length > 0 ? { errors } : {}),
    ...members,
  };
  const page = wanted === 'text/html' ? makeProblemPage(body) : null;
  return {
    status,
    headers: { Vary: 'Accept', ...headers, ...page?.headers },
    raw: page?.raw ?? { type: 'application/problem+json', data: JSON.stringify(body) },
  };
}
