import {
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { keywordCompletionSource, PostgreSQL, sql } from '@codemirror/lang-sql';
import { bracketMatching, defaultHighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, linter } from '@codemirror/lint';
import { Compartment, EditorState, Prec } from '@codemirror/state';
import { EditorView, keymap, lineNumbers } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import { currentTheme } from '../../shell/theme.ts';
import { completeNames, type Names, type Offer } from './completeNames.ts';
import { oneDark } from './darkStyle.ts';

export interface Fault {
  message: string;
  line: number | null;
  column: number | null;
}

interface SqlEditorProps {
  label: string;
  initial: string;
  schema: Names;
  /** What tables and columns are called in the list of names. */
  kinds: Record<Offer['kind'], string>;
  onChange: (text: string) => void;
  onRun: () => void;
  validate: (text: string) => Promise<Fault[]>;
}

/** Not before somebody stops typing for a moment. */
const validateAfterMs = 400;

/** CodeMirror, in a shadow root: there its styles are allowed without exception from the page's policy. */
export default function SqlEditor({ label, initial, schema, kinds, onChange, onRun, validate }: SqlEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const style = useRef(new Compartment());
  const calls = useRef({ onChange, onRun, validate, schema, kinds });
  calls.current = { onChange, onRun, validate, schema, kinds };
  const start = useRef(initial);

  useEffect(() => {
    const element = host.current as HTMLDivElement;
    const runNow = () => {
      calls.current.onRun();
      return true;
    };
    const root = element.shadowRoot ?? element.attachShadow({ mode: 'open' });
    const editor = new EditorView({
      root,
      parent: root as unknown as Element,
      state: EditorState.create({
        doc: start.current,
        extensions: [
          lineNumbers(),
          history(),
          bracketMatching(),
          closeBrackets(),
          autocompletion({ icons: false, override: [(context) => offerNames(calls.current, context), offerKeywords] }),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ 'aria-label': label }),
          Prec.highest(keymap.of([{ key: 'Mod-Enter', run: runNow }])),
          keymap.of([...closeBracketsKeymap, ...completionKeymap, ...historyKeymap, ...defaultKeymap]),
          sql({ dialect: PostgreSQL }),
          EditorView.domEventHandlers({ beforeinput: typeOver }),
          style.current.of(chooseStyle()),
          linter(async ({ state }) => toDiagnostics(state, await calls.current.validate(state.doc.toString())), { delay: validateAfterMs }),
          EditorView.updateListener.of(({ docChanged, state }) => {
            if (docChanged) calls.current.onChange(state.doc.toString());
          }),
        ],
      }),
    });
    const restyle = () => editor.dispatch({ effects: style.current.reconfigure(chooseStyle()) });
    addEventListener('themechange', restyle);
    return () => {
      removeEventListener('themechange', restyle);
      editor.destroy();
    };
  }, [label]);

  return <div ref={host} className="sql" />;
}

const offerKeywords = keywordCompletionSource(PostgreSQL, true);

function offerNames(
  { schema, kinds }: Pick<SqlEditorProps, 'schema' | 'kinds'>,
  { state, pos, explicit }: CompletionContext,
): CompletionResult | null {
  const found = completeNames(schema, state.doc.toString(), pos, explicit);
  if (!found) return null;
  const options = found.offers.map(({ label, apply, kind, isNear }) => ({ label, apply, detail: kinds[kind], boost: isNear ? 1 : 0 }));
  return { from: found.from, options, validFor: /^[\p{L}\p{N}_]*$/u };
}

/** A browser that writes over what is selected keeps its look by a style of its own, which the page's policy forbids. So it is written here. */
function typeOver({ inputType, data }: InputEvent, view: EditorView): boolean {
  if (inputType !== 'insertText' || view.composing || view.state.selection.main.empty || !/^[\p{L}\p{N}\s]/u.test(data ?? '')) return false;
  view.dispatch(view.state.replaceSelection(data as string), { userEvent: 'input.type', scrollIntoView: true });
  return true;
}

const frame = {
  '&': { fontSize: '13px', height: '100%' },
  '.cm-scroller': { fontFamily: 'ui-monospace, monospace' },
  '&.cm-focused': { outline: '2px solid var(--link)' },
};

function chooseStyle() {
  return currentTheme() === 'dark'
    ? [EditorView.theme({ ...frame, ...oneDark.theme }, { dark: true }), syntaxHighlighting(oneDark.highlight)]
    : [EditorView.theme(frame), syntaxHighlighting(defaultHighlightStyle)];
}

/** From lines and columns to places in the text. A fault without a place belongs to all of it. */
function toDiagnostics(state: EditorState, faults: Fault[]): Diagnostic[] {
  const { doc } = state;
  if (doc.toString().trim() === '') return [];
  return faults.map(({ message, line, column }) => {
    if (line === null || line > doc.lines) return { from: 0, to: doc.length, severity: 'error', message };
    const at = doc.line(line);
    const from = Math.min(at.from + (column ?? 1) - 1, at.to);
    const word = state.wordAt(from);
    return { from, to: Math.max(word?.to ?? from, Math.min(from + 1, doc.length)), severity: 'error', message };
  });
}
