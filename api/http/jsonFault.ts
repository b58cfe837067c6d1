import { getLocation, type ParseErrorCode, printParseErrorCode, visit } from 'jsonc-parser';
import { foreignWords } from '../../core/cells/jsonText.ts';
import { DomainError } from '../../core/errors.ts';
import { escapePointer } from '../../core/jsonPointer.ts';

/** What is wrong with a text that JSON.parse refuses. Parts of the text are not repeated, as it may hold secrets. */
interface JsonFault {
  pointer: string;
  line: number;
  column: number;
  why: string;
  /** The value is one of those that programs write and JSON does not have. */
  isForeign: boolean;
}

/** By the parser's name of the error. */
const reasons: Record<string, string> = {
  InvalidSymbol: 'this is no JSON value',
  InvalidNumberFormat: 'the number is not well-formed',
  PropertyNameExpected: 'a name in double quotes is missing',
  ValueExpected: 'a value is missing',
  ColonExpected: 'a colon is missing',
  CommaExpected: 'a comma is missing',
  CloseBraceExpected: 'a closing brace is missing',
  CloseBracketExpected: 'a closing bracket is missing',
  EndOfFileExpected: 'something follows the end',
  InvalidCommentToken: 'JSON has no comments',
  UnexpectedEndOfComment: 'JSON has no comments',
  UnexpectedEndOfString: 'the text does not end on its line',
  UnexpectedEndOfNumber: 'the number is not finished',
  InvalidUnicode: 'the escape is not well-formed',
  InvalidEscapeCharacter: 'JSON has no such escape',
  InvalidCharacter: 'a control character must be written as an escape',
};

const foreignWord = new RegExp(foreignWords, 'y');

function findFault(text: string): JsonFault | null {
  let fault: JsonFault | null = null;
  const onError = (code: ParseErrorCode, offset: number, _: number, line: number, column: number) => {
    if (fault) return;
    const kind = printParseErrorCode(code);
    foreignWord.lastIndex = offset;
    const [word] = (kind === 'InvalidSymbol' && foreignWord.exec(text)) || [];
    const path = getLocation(text, offset).path.filter((key) => key !== '');
    fault = {
      pointer: path.map((key) => `/${escapePointer(String(key))}`).join(''),
      line: line + 1,
      column: column + 1,
      why: word ? `JSON has no ${word}` : (reasons[kind] ?? 'it is not well-formed'),
      isForeign: word !== undefined,
    };
  };
  visit(text, { onError }, { disallowComments: true });
  return fault;
}

/** The refusal of a body, or of one line of it at the pointer `above`, that is not JSON: says what is wrong and where. */
export function refuseJson(text: string, firstLine = 1, above = ''): DomainError {
  const fault = findFault(text);
  if (!fault) return new DomainError('malformed-request', 'The body is not JSON.', 'Send well-formed JSON.');
  const pointer = `${above}${fault.pointer}`;
  const place = `line ${fault.line + firstLine - 1}, column ${fault.column}`;
  return new DomainError(
    'malformed-request',
    `The body is not JSON: ${fault.why} (${place}${pointer && `, at ${pointer}`}).`,
    fault.isForeign ? 'Write true, false, or null where there is no value.' : 'Send well-formed JSON.',
    { errors: [{ pointer, detail: `${fault.why} (${place})` }] },
  );
}
