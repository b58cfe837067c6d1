import type { ErrorObject } from 'ajv';
import type { OpenAPIBackend } from 'openapi-backend';
import { badSignature } from '../../activities/uploads/signSlot.ts';
import { DomainError, describeFirst, type ProblemItem } from '../../core/errors.ts';
import { refuseBadText } from './body.ts';
import { type Contract, formType, type Operation } from './contract.ts';

const thoroughUpTo = 256 * 1024;
const mostErrors = 50;

export interface Unvalidated {
  params: Record<string, string>;
  query: Record<string, string | string[]>;
  /** As in the URL. */
  querystring: string;
  headers: Record<string, string | string[]>;
  body: unknown;
  /** What stands before the pointers of fields besides `rows`. */
  besideRows: string;
  bodySize: number;
}

export interface ValidRequest {
  params: Record<string, unknown>;
  query: Record<string, unknown>;
}

/** Checks parameters, headers and body against the contract. Returns the parameters with numbers and booleans converted. */
export function validateRequest(contract: Contract, operation: Operation, request: Unvalidated): ValidRequest {
  refuseForeignBytes(request.querystring);
  refuseBadText(request.query, '/query');
  // Checked by hand too: a name such as __proto__ is lost when parameters become an object.
  const unknown = [...new URLSearchParams(request.querystring).keys()].filter((name) => !operation.queryNames.has(name));
  if (unknown.length > 0 && !operation.takesAnyQuery)
    throw refuse(
      unknown.slice(0, mostErrors).map((name) => ({ pointer: `/query/${name}`, detail: 'is not known here; check the spelling' })),
    );
  // Operations that take any bytes leave them to the handler.
  if (operation.bodyRequired && request.body === undefined && !operation.takesAnyBytes)
    throw refuse([{ pointer: '', detail: operation.bodyTypes.includes(formType) ? 'a form is required' : 'a JSON body is required' }]);
  // Calls the compiled schemas directly: letting the library parse the request again would cost more than all checks.
  const check = (backend: OpenAPIBackend) => {
    const input = describeInput(operation, request);
    const wrong = backend.validator
      .getRequestValidatorsForOperation(operation.id)
      .flatMap((validate) => (validate(input) ? [] : (validate.errors ?? [])));
    return { wrong, valid: { params: input.path, query: input.query } };
  };
  const { wrong, valid } = check(contract.quick);
  if (wrong.length === 0) return valid;
  if (operation.isSigned) throw badSignature();
  const errors = request.bodySize > thoroughUpTo ? wrong : check(contract.thorough).wrong;
  throw refuse(
    withoutBranches(errors)
      .slice(0, mostErrors)
      .map((error) => explain(error, request.besideRows)),
  );
}

/** Where a value must have one of several forms, leaves out what each form lacks. */
function withoutBranches(errors: ErrorObject[]): ErrorObject[] {
  const choices = errors.filter((error) => listChoices(error) !== null || listValues(error) !== null);
  return errors.filter(({ schemaPath }) => !choices.some((choice) => schemaPath.startsWith(`${choice.schemaPath}/`)));
}

/** The fields of a `oneOf` that requires one field or another. */
function listChoices({ keyword, schema }: ErrorObject): string[] | null {
  if (keyword !== 'oneOf' || !Array.isArray(schema)) return null;
  const names = schema.map(({ required }: { required?: string[] }) => (required?.length === 1 ? required[0] : undefined));
  return names.every((name) => name !== undefined) ? names : null;
}

/** The values of an `anyOf` that takes those of an enum, or null. */
function listValues({ keyword, schema }: ErrorObject): unknown[] | null {
  if (keyword !== 'anyOf' || !Array.isArray(schema)) return null;
  const values = schema.map((form: { enum?: unknown[]; type?: unknown }) => form.enum ?? (form.type === 'null' ? [null] : undefined));
  return values.every((each) => each !== undefined) ? values.flat() : null;
}

/** A single percent sign is allowed, but bytes that are not UTF-8 would be misread. */
function refuseForeignBytes(querystring: string): void {
  try {
    for (const bytes of querystring.match(/(?:%[0-9a-f]{2})+/gi) ?? []) decodeURIComponent(bytes);
  } catch {
    throw refuse([{ pointer: '/query', detail: 'is not UTF-8, percent-encoded' }]);
  }
}

/** Copies, because the schemas convert texts to numbers in place. */
function describeInput(operation: Operation, request: Unvalidated) {
  const query: Record<string, unknown> = { ...request.query };
  if (operation.takesAnyQuery) for (const name of Object.keys(query)) if (!operation.queryNames.has(name)) delete query[name];
  for (const [name, { list }] of operation.queryNames) if (list && typeof query[name] === 'string') query[name] = [query[name]];
  return {
    path: { ...request.params } as Record<string, unknown>,
    query,
    header: request.headers,
    cookie: {},
    ...(request.body === undefined ? {} : { requestBody: request.body }),
  };
}

function refuse(errors: ProblemItem[]): DomainError {
  const detail = errors.length > 0 ? describeFirst(errors) : 'The request does not fit the contract.';
  return new DomainError('validation-failed', detail, 'Correct what `errors` lists; /docs shows what this operation takes.', { errors });
}

function describeMissing(name: string): string {
  return name === 'expected_version' ? 'is required: the edit_version that you read, or null to write without a check' : 'is required';
}

function explain(error: ErrorObject, besideRows: string): ProblemItem {
  const place = error.instancePath.replace(/^\/requestBody/, '');
  const isBeside = place !== error.instancePath && !/^\/rows\b/.test(place);
  const pointer = isBeside ? `${besideRows}${place}` : place;
  switch (error.keyword) {
    case 'additionalProperties':
      return { pointer: `${pointer}/${error.params.additionalProperty}`, detail: 'is not known here; check the spelling' };
    case 'required':
      return { pointer: `${pointer}/${error.params.missingProperty}`, detail: describeMissing(error.params.missingProperty) };
    case 'enum':
      return { pointer, detail: describeValues(error.params.allowedValues as unknown[]) };
    case 'anyOf': {
      const values = listValues(error);
      return { pointer, detail: values ? describeValues(values) : (error.message ?? 'is not valid') };
    }
    case 'oneOf':
      return { pointer, detail: `must have exactly one of ${listChoices(error)?.join(', ') ?? 'several forms'}` };
    case 'discriminator':
      return { pointer: `${pointer}/${error.params.tag}`, detail: describeTag(error) };
    case 'pattern':
      return { pointer, detail: describePattern(error) };
    default:
      return { pointer, detail: error.message ?? 'is not valid' };
  }
}

function describeValues(values: unknown[]): string {
  return `must be one of ${values.map((value) => JSON.stringify(value)).join(', ')}`;
}

/** A member that decides between several forms. */
function describeTag({ params, parentSchema }: ErrorObject): string {
  if (params.tagValue === undefined) return 'is required';
  const forms = (parentSchema?.oneOf ?? []) as { properties?: Record<string, { enum?: unknown[] }> }[];
  return describeValues(forms.flatMap(({ properties }) => properties?.[params.tag]?.enum ?? []));
}

/** In the contract's own words, where it has them. */
function describePattern({ parentSchema, params }: ErrorObject): string {
  const says: unknown = parentSchema?.['x-says'];
  return typeof says === 'string' ? `must be ${says}` : `must match ${params.pattern}`;
}
