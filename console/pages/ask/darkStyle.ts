import { HighlightStyle } from '@codemirror/language';
import { tags } from '@lezer/highlight';

/** The editor on a dark ground. */
export const oneDark = {
  theme: {
    '.cm-gutters': { backgroundColor: 'var(--box)', color: 'var(--dim)', border: 'none' },
    '.cm-content': { caretColor: 'var(--ink)' },
    '.cm-cursor': { borderLeftColor: 'var(--ink)' },
    '.cm-tooltip': { backgroundColor: 'var(--box)', borderColor: 'var(--line)' },
    '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--link)', color: 'var(--on-link)' },
    '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': { backgroundColor: '#2d4a6b' },
  },
  highlight: HighlightStyle.define([
    { tag: tags.keyword, color: '#c792ea' },
    { tag: [tags.string, tags.special(tags.string)], color: '#c3e88d' },
    { tag: tags.number, color: '#f78c6c' },
    { tag: tags.comment, color: '#8b98a8' },
    { tag: [tags.operator, tags.punctuation], color: '#89ddff' },
    { tag: tags.typeName, color: '#ffcb6b' },
  ]),
};
