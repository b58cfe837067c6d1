import { DomainError, type ProblemCode } from '../../core/errors.ts';

/** A refusal of a template, or of what it has returned. */
export class PythonFault extends DomainError {
  /**
   * The same without the words of Python's errors, which may quote values of the tables: for those who may not see all that the
   * one who ran the template sees.
   */
  readonly withoutValues: string;

  constructor(
    code: ProblemCode,
    detail: string,
    fix: string,
    { withoutValues = detail, cause }: { withoutValues?: string; cause?: unknown } = {},
  ) {
    super(code, detail, fix, { errors: [{ pointer: '/template', detail }], cause });
    this.withoutValues = withoutValues;
  }
}
