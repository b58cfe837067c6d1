import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Operation as BackendOperation, type Document, OpenAPIBackend } from 'openapi-backend';
import { parse } from 'yaml';
import type { Principal } from '../../core/access/principal.ts';
import type { Scope } from '../../core/access/scopes.ts';
import { rowIdColumn } from '../../core/table/table.ts';
import type { operations } from '../../schema/contract.ts';
import { tightenContract } from '../../schema/strictContract.ts';
import { keepBuild } from '../../store/builds/keepBuild.mjs';
import { projectDir } from '../../store/config.ts';

export type OperationId = keyof operations;

/** What the pipeline needs to know about an operation, read from the contract at start-up. */
export interface Operation {
  id: OperationId;
  method: string;
  path: string;
  /** Accepted kinds of credential; empty for public operations. */
  accepts: Principal['kind'][];
  scopes: Scope[];
  /** Authenticated by a signature in the URL. */
  isSigned: boolean;
  /** Whether an Idempotency-Key is respected. */
  idempotent: boolean;
  /** Media types of the request body; empty without a body. */
  bodyTypes: string[];
  bodyRequired: boolean;
  /** Of a body that is no form. */
  bodyLimitBytes: number;
  /** Whether any bytes are taken; the handler reads them. */
  takesAnyBytes: boolean;
  /** Whether the JSON body holds rows of a table, whose cells have that table's types. */
  givesRows: boolean;
  /** Fields of the JSON body that are query parameters where the body is lines of rows, and their types. */
  queryFields: Map<string, unknown[]>;
  /** Boolean form fields. */
  formFlags: Set<string>;
  /** Form fields that are a choice, possibly null. */
  formChoices: Set<string>;
  /** Where the body has `expected_version`: at its top, or in `target`. Null: nowhere. */
  versionPlace: 'body' | 'target' | null;
  /** Media types of what it answers, those that it prefers first. */
  answerTypes: string[];
  /** Whether a caller who takes none of them is refused. */
  refusesTypes: boolean;
  /** Whether query parameters that nobody knows are passed over. The contract says so by one that is an object. */
  takesAnyQuery: boolean;
  /** Query parameters by name, and whether each is a list. */
  queryNames: Map<string, { list: boolean }>;
  backend: BackendOperation;
}

export interface Contract {
  /** As it is published. */
  text: string;
  published: Document;
  /** The service's version, too. */
  version: string;
  operations: Operation[];
  /** Stops at the first error. */
  quick: OpenAPIBackend;
  /** Finds all errors; for small bodies only. */
  thorough: OpenAPIBackend;
}

/** What the forms of pages send. */
export const pageFormType = 'application/x-www-form-urlencoded';
export const formType = 'multipart/form-data';
export const linesType = 'application/x-ndjson';
export const arrowType = 'application/vnd.apache.arrow.stream';

const file = join(projectDir, 'openapi.yaml');
const kinds: Record<string, Principal['kind']> = { session: 'session', accountKey: 'account_key', accessToken: 'access_token' };

interface BodySchema {
  properties?: Record<string, { type?: string | string[]; anyOf?: { type?: unknown }[]; items?: BodySchema } & BodySchema>;
}

interface ContractOperation {
  operationId: OperationId;
  'x-scopes'?: Scope[];
  security?: Record<string, string[]>[];
  parameters?: { in: string; name: string; schema?: { type?: unknown } }[];
  requestBody?: { required?: boolean; 'x-any-type'?: boolean; content: Record<string, { schema?: BodySchema } | undefined> };
  responses?: Record<string, { content?: Record<string, unknown> }>;
}

let loaded: Promise<Contract> | null = null;

/** Read once per process: schemas are compiled when they are first needed, and then kept. */
export function loadContract(): Promise<Contract> {
  loaded ??= readContract(readFileSync(file, 'utf8'));
  return loaded;
}

async function readContract(text: string): Promise<Contract> {
  const published = await parseContract(text);
  const definition = dropMappings(tightenContract(published));
  const open = async (allErrors: boolean) => {
    // The linter checks the schemas; here each is compiled at the first call of its operation.
    const backend = new OpenAPIBackend({
      definition: structuredClone(definition),
      quick: true,
      coerceTypes: true,
      // The schema is needed to explain errors to the caller.
      ajvOpts: {
        allErrors,
        discriminator: true,
        verbose: allErrors,
        formats: { uri: URL.canParse, date: /^\d{4}-\d\d-\d\d$/, 'date-time': isMoment, int64: true, email: looksLikeEmail },
      },
    });
    await backend.init();
    return backend;
  };
  const [quick, thorough] = await Promise.all([open(false), open(true)]);
  return {
    text,
    published,
    version: published.info.version,
    operations: quick.router.getOperations().map(describeOperation),
    quick,
    thorough,
  };
}

/** The validator finds the form of a value by the forms themselves, and takes no list of them. */
function dropMappings<Node>(node: Node): Node {
  if (Array.isArray(node)) return node.map(dropMappings) as Node;
  if (node === null || typeof node !== 'object') return node;
  const entries = Object.entries(node).map(([name, value]) => [
    name,
    name === 'discriminator' && typeof value === 'object' ? { propertyName: value.propertyName } : dropMappings(value),
  ]);
  return Object.fromEntries(entries) as Node;
}

/** Kept as JSON, because parsing half a megabyte of YAML takes as long as the rest of the start. */
async function parseContract(text: string): Promise<Document> {
  const make = async () => ({ 'contract.json': JSON.stringify(parse(text)) });
  const dir = await keepBuild({ name: 'contract', sources: [], text, make });
  return JSON.parse(readFileSync(join(dir, 'contract.json'), 'utf8')) as Document;
}

function describeOperation(backend: BackendOperation): Operation {
  const operation = backend as unknown as ContractOperation;
  const accepts = (operation.security ?? []).flatMap((scheme) => Object.keys(scheme)).flatMap((name) => kinds[name] ?? []);
  return {
    id: operation.operationId,
    method: backend.method,
    path: backend.path,
    accepts,
    scopes: operation['x-scopes'] ?? [],
    isSigned: (operation.security ?? []).some((scheme) => Object.hasOwn(scheme, 'uploadSignature')),
    idempotent: (operation.parameters ?? []).some(
      (parameter) => parameter.in === 'header' && parameter.name.toLowerCase() === 'idempotency-key',
    ),
    bodyTypes: Object.keys(operation.requestBody?.content ?? {}),
    bodyRequired: operation.requestBody?.required ?? false,
    bodyLimitBytes: accepts.length === 0 ? publicLimit : limitBody(operation),
    takesAnyBytes: operation.requestBody?.['x-any-type'] ?? false,
    givesRows: describeFields(operation, 'application/json').rows?.items?.properties?.[rowIdColumn] !== undefined,
    queryFields: listQueryFields(operation),
    formFlags: listFields(operation, ({ type }) => type === 'boolean'),
    formChoices: listFields(operation, (field) => field.anyOf?.some(({ type }) => type === 'null') ?? false),
    versionPlace: findVersionPlace(describeFields(operation, 'application/json')),
    answerTypes: listAnswerTypes(operation),
    refusesTypes: Object.hasOwn(operation.responses ?? {}, '406'),
    takesAnyQuery: (operation.parameters ?? []).some(({ in: place, schema }) => place === 'query' && schema?.type === 'object'),
    queryNames: new Map(
      (operation.parameters ?? []).flatMap(({ in: place, name, schema }) =>
        place === 'query' && schema?.type !== 'object' ? [[name, { list: schema?.type === 'array' }] as const] : [],
      ),
    ),
    backend,
  };
}

/** Enough for any request without a credential. */
const publicLimit = 64 * 1024;
/** Fields that hold the content of tables, or one entry for each part of a sheet. */
const largeFields = ['rows', 'row', 'values', 'regions'];

/** Parsing a body holds up everybody else, so only those that may be long for a reason may be. */
function limitBody(operation: ContractOperation): number {
  const fields = describeFields(operation, 'application/json');
  return (largeFields.some((name) => Object.hasOwn(fields, name)) ? 32 : 4) * 1024 * 1024;
}

function listQueryFields(operation: ContractOperation): Map<string, unknown[]> {
  if (!operation.requestBody?.content[linesType]) return new Map();
  const parameters = new Set((operation.parameters ?? []).flatMap(({ in: place, name }) => (place === 'query' ? [name] : [])));
  const fields = Object.entries(describeFields(operation, 'application/json'));
  return new Map(fields.flatMap(([name, { type }]) => (parameters.has(name) ? [[name, [type].flat()] as const] : [])));
}

type Fields = NonNullable<BodySchema['properties']>;

function listFields(operation: ContractOperation, matches: (field: Fields[string]) => boolean): Set<string> {
  const fields = Object.entries(describeFields(operation, formType));
  return new Set(fields.flatMap(([name, field]) => (matches(field) ? [name] : [])));
}

function describeFields(operation: ContractOperation, type: string): Fields {
  return operation.requestBody?.content[type]?.schema?.properties ?? {};
}

function findVersionPlace(fields: Fields): Operation['versionPlace'] {
  if (fields.expected_version) return 'body';
  return fields.target?.properties?.expected_version ? 'target' : null;
}

function listAnswerTypes({ responses }: ContractOperation): string[] {
  const answers = Object.entries(responses ?? {}).filter(([status]) => status.startsWith('2'));
  return [...new Set(answers.flatMap(([, { content }]) => Object.keys(content ?? {})))];
}

const hostLabel = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
/** As web forms take it: ASCII, with labels of a host name behind the @. */
const emailPattern = new RegExp(`^[a-z0-9.!#$%&'*+/=?^_\`{|}~-]{1,64}@${hostLabel}(?:\\.${hostLabel})*$`, 'i');

/** A moment as RFC 3339 writes it. */
function isMoment(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/i.test(text) && !Number.isNaN(Date.parse(text));
}

function looksLikeEmail(text: string): boolean {
  return text.length <= 254 && emailPattern.test(text);
}
