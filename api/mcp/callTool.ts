import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { Ajv, type ValidateFunction } from 'ajv';
import { DomainError, describeFirst, type ProblemItem } from '../../core/errors.ts';
import { describeErrorForLog } from '../../store/log.ts';
import { writeNumbers } from './askOperation.ts';
import { describeProblem } from './describeProblem.ts';
import { mostCharacters } from './pages.ts';
import type { Arguments, Tool, ToolContext } from './tool.ts';
import { tools } from './tools/index.ts';

const ajv = new Ajv({ allErrors: true, strict: false });
const validators = new Map<string, ValidateFunction>();

export const describeInput = ({ input, required = [] }: Tool) => ({
  type: 'object' as const,
  properties: input,
  required,
  additionalProperties: false,
});

export const findTool = (name: string): Tool | undefined => tools.find((each) => each.name === name);

/** Runs a tool. What it is refused is told as its result, so that the agent reads it and can do better. */
export async function callTool(tool: Tool, context: ToolContext, given: Arguments): Promise<CallToolResult> {
  const { requestId } = context.actor;
  try {
    requireArguments(tool, given);
    const result = await tool.run(context, given);
    if (result.png instanceof Buffer) return { content: [{ type: 'image', data: result.png.toString('base64'), mimeType: 'image/png' }] };
    const text = JSON.stringify(result);
    if (text.length > mostCharacters) throw tooLong(text.length);
    // The same as text, for clients that do not know structured content.
    return { structuredContent: result as Record<string, unknown>, content: [{ type: 'text', text }] };
  } catch (error) {
    if (!(error instanceof DomainError))
      context.services.log.error({ request: requestId, tool: tool.name, ...describeErrorForLog(error) }, 'tool failed');
    return { isError: true, content: [{ type: 'text', text: describeProblem(error, requestId) }] };
  }
}

function tooLong(length: number): DomainError {
  return new DomainError(
    'too-large',
    `The answer would have ${length} characters; ${mostCharacters} are possible.`,
    'Ask for less: fewer columns, a filter, or a query that aggregates.',
  );
}

function requireArguments(tool: Tool, given: Arguments): void {
  const validate = validators.get(tool.name) ?? ajv.compile(describeInput(tool));
  validators.set(tool.name, validate);
  if (validate(writeNumbers(given, Number))) return;
  const errors = (validate.errors ?? []).map(({ instancePath, keyword, params, message }): ProblemItem => {
    if (keyword === 'additionalProperties')
      return { pointer: `${instancePath}/${params.additionalProperty}`, detail: 'is not an argument of this tool' };
    if (keyword === 'required') return { pointer: `${instancePath}/${params.missingProperty}`, detail: 'is required' };
    if (keyword === 'enum') return { pointer: instancePath, detail: `must be one of ${params.allowedValues.join(', ')}` };
    return { pointer: instancePath, detail: message ?? 'is not valid' };
  });
  throw new DomainError('validation-failed', describeFirst(errors), 'Call the tool again with arguments that fit its input schema.', {
    errors,
  });
}
