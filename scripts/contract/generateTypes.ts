import { readFileSync, writeFileSync } from 'node:fs';
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';
import { parse } from 'yaml';
import { tightenContract } from '../../schema/strictContract.ts';

/** Writes the types of the contract in its strict form, by default to schema/contract.ts. */

const header = '// Generated from openapi.yaml by `npm run generate`. Do not edit.\n\n';
const contract = parse(readFileSync('openapi.yaml', 'utf8')) as OpenAPI3;
const types = await openapiTS(tightenContract(contract), { defaultNonNullable: false, emptyObjectsUnknown: true });
writeFileSync(process.argv[2] ?? 'schema/contract.ts', header + astToString(types));
