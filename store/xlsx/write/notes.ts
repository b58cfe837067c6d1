import { textElement } from './xmlText.ts';

/** A note on a cell; row and column count from 0. */
export interface CellNote {
  ref: string;
  row: number;
  column: number;
  text: string;
}

/** Notes are held until the end of their sheet, and programs become slow with many: further ones are left out. */
export const mostNotes = 20_000;

const head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';

export function notesXml(notes: CellNote[]): string {
  const list = notes.map(({ ref, text }) => `<comment ref="${ref}" authorId="0"><text><r>${textElement(text)}</r></text></comment>`);
  return `${head}<comments xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><authors><author></author></authors><commentList>${list.join('')}</commentList></comments>`;
}

/** Excel shows a note only where a drawing of the old kind has its box. */
export function noteBoxesXml(notes: CellNote[]): string {
  const boxes = notes.map(({ row, column }, i) => {
    const anchor = [column + 1, 15, Math.max(0, row - 1), 10, column + 4, 15, row + 4, 4].join(', ');
    return `<v:shape id="_x0000_s${1025 + i}" type="#_x0000_t202" style="position:absolute;visibility:hidden" fillcolor="#ffffe1" o:insetmode="auto"><v:fill color2="#ffffe1"/><v:shadow on="t" color="black" obscured="t"/><v:textbox/><x:ClientData ObjectType="Note"><x:MoveWithCells/><x:SizeWithCells/><x:Anchor>${anchor}</x:Anchor><x:AutoFill>False</x:AutoFill><x:Row>${row}</x:Row><x:Column>${column}</x:Column></x:ClientData></v:shape>`;
  });
  return `<xml xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office" xmlns:x="urn:schemas-microsoft-com:office:excel"><v:shapetype id="_x0000_t202" coordsize="21600,21600" o:spt="202" path="m,l,21600r21600,l21600,xe"><v:stroke joinstyle="miter"/><v:path gradientshapeok="t" o:connecttype="rect"/></v:shapetype>${boxes.join('')}</xml>`;
}
