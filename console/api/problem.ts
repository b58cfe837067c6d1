/** What the service says when it refuses, in its own words. */
export interface ProblemDocument {
  type: string;
  title: string;
  status: number;
  detail: string;
  suggested_fix: string;
  instance: string;
  errors?: { pointer: string; detail: string }[];
  [member: string]: unknown;
}

export class Problem extends Error {
  constructor(readonly document: ProblemDocument) {
    super(document.detail);
  }

  get slug(): string {
    return this.document.type.replace('urn:svc:problem:', '');
  }

  get status(): number {
    return this.document.status;
  }
}

/** The connection is gone: there is no answer that could be shown. */
export class Unreachable extends Error {}

export const isProblem = (error: unknown, slug: string): error is Problem => error instanceof Problem && error.slug === slug;
