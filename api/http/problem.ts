import { DomainError, problems } from '../../core/errors.ts';
import type { AnyReply } from './call.ts';

/** The only place that turns a refusal into a problem document. Unknown errors become an opaque 500. */
export function renderProblem(error: unknown, requestId: string): AnyReply {
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
  return { status, headers, raw: { type: 'application/problem+json', data: JSON.stringify(body) } };
}
