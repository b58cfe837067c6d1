import type { OperationId } from '../../api/http/contract.ts';
import type { ProblemCode } from '../../core/errors.ts';
import { type Case, sampleToRefuse } from './genericCases.ts';
import type { Sample } from './sample.ts';
import { sendSample } from './samples.ts';

const sendWith =
  (change: (headers: Record<string, string>) => Record<string, string | undefined>): Case =>
  async (world, operation) => {
    const sample: Sample = await sampleToRefuse(world, operation);
    const changed = Object.entries(change(sample.headers ?? {})).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
    return sendSample(world, operation, { ...sample, headers: Object.fromEntries(changed) });
  };
const withoutSession = sendWith((headers) => ({ ...headers, 'Mcp-Session-Id': undefined }));
const withUnknownSession = sendWith((headers) => ({ ...headers, 'Mcp-Session-Id': 'nobodys' }));
const withLongVersion = sendWith((headers) => ({ ...headers, 'MCP-Protocol-Version': 'x'.repeat(50) }));
const fromElsewhere = sendWith((headers) => ({ ...headers, Origin: 'https://elsewhere.example' }));

export const mcpCases: Partial<Record<OperationId, Partial<Record<ProblemCode, Case>>>> = {
  postMcp: { 'malformed-request': withoutSession, 'outside-reach': fromElsewhere, 'not-found': withUnknownSession },
  openMcpStream: {
    'malformed-request': withoutSession,
    'outside-reach': fromElsewhere,
    'not-found': withUnknownSession,
    'method-not-allowed': sendWith((headers) => ({ ...headers, Accept: 'application/json' })),
    'validation-failed': withLongVersion,
  },
  closeMcpSession: {
    'malformed-request': withoutSession,
    'outside-reach': fromElsewhere,
    'not-found': withUnknownSession,
    'validation-failed': withLongVersion,
  },
};
