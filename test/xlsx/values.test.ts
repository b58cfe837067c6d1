import { describe, expect, it } from 'vitest';
import { cellsOf, type PlainValue, readBook, readGrid } from './makeWorkbook.ts';

const DATES = ['0', '14', 'h:mm', '[h]:mm', 'yyyy/mm/dd'];

const cases: { name: string; xml: string; strings?: string; styles?: string[]; inner?: string; expected: Record<string, PlainValue> }[] = [
  {
    name: 'numbers of every form',
    xml: '<row r="1"><c r="A1"><v>1</v></c><c r="B1"><v>-2.50</v></c><c r="C1"><v>1.0E-3</v></c><c r="D1" t="n"><v>0.30000000000000004</v></c><c r="E1"><v> 7 </v></c><c r="F1"><v>12345678901234567890</v></c><c r="G1"><v>9007199254740993</v></c></row>',
    expected: { A1: 1, B1: -2.5, C1: 0.001, D1: 0.30000000000000004, E1: 7, F1: 12345678901234567000, G1: 9007199254740992 },
  },
  {
    name: 'what is no number stays a text',
    xml: '<row r="1"><c r="A1"><v>abc</v></c><c r="B1"><v>1e999</v></c><c r="C1"><v></v></c><c r="D1"><v/></c></row>',
    expected: { A1: 'abc', B1: '1e999' },
  },
  {
    name: 'booleans and errors',
    xml: '<row r="1"><c r="A1" t="b"><v>1</v></c><c r="B1" t="b"><v>0</v></c><c r="C1" t="e"><v>#N/A</v></c><c r="D1" t="e"><v>#DIV/0!</v></c></row>',
    expected: { A1: true, B1: false, C1: { error: '#N/A' }, D1: { error: '#DIV/0!' } },
  },
  {
    name: 'shared strings in any order, unused and repeated ones',
    strings: '<si><t>zero</t></si><si><t>one</t></si><si/><si><t/></si><si><t>four</t></si>',
    xml: '<row r="1"><c r="A1" t="s"><v>4</v></c><c r="B1" t="s"><v>0</v></c><c r="C1" t="s"><v>4</v></c><c r="D1" t="s"><v>2</v></c><c r="E1" t="s"><v>3</v></c></row>',
    expected: { A1: 'four', B1: 'zero', C1: 'four' },
  },
  {
    name: 'rich text is joined, furigana is not part of it',
    strings:
      '<si><r><rPr><b/></rPr><t>東</t></r><r><t xml:space="preserve"> 京 </t></r></si>' +
      '<si><t>山田</t><rPh sb="0" eb="2"><t>ヤマダ</t></rPh><phoneticPr fontId="1"/></si>' +
      '<si><r><t>課</t></r><rPh sb="0" eb="1"><t>カ</t></rPh><r><t>長</t></r></si>',
    xml: '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="s"><v>2</v></c></row>',
    expected: { A1: '東 京 ', B1: '山田', C1: '課長' },
  },
  {
    name: 'inline strings, plain and rich',
    xml: '<row r="1"><c r="A1" t="inlineStr"><is><t>plain</t></is></c><c r="B1" t="inlineStr"><is><r><t>a</t></r><r><t>b</t></r><rPh sb="0" eb="1"><t>x</t></rPh></is></c><c r="C1" t="inlineStr"><is><t xml:space="preserve">  two  </t></is></c><c r="D1" t="inlineStr"><is/></c><c r="E1" t="inlineStr"><is><t/></is></c><c r="F1" t="str"><v>formula text</v></c><c r="G1"><is><t>no type</t></is></c></row>',
    expected: { A1: 'plain', B1: 'ab', C1: '  two  ', F1: 'formula text', G1: 'no type' },
  },
  {
    name: 'entities, line ends and escapes',
    strings:
      '<si><t>a &amp; b &lt;c&gt; &quot;d&quot; &apos;e&apos; &#65;&#x3042;&#x1F600;</t></si><si><t>one\r\ntwo\rthree&#13;</t></si><si><t>x_x000D_\ny _x005F_x000D_ _x00e9_</t></si><si><t>_xyz_ &unknown;</t></si>',
    xml: '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="s"><v>2</v></c><c r="D1" t="s"><v>3</v></c><c r="E1" t="str"><v>R&amp;D</v></c><c r="F1" t="inlineStr"><is><t>_x0041_</t></is></c></row>',
    expected: {
      A1: 'a & b <c> "d" \'e\' Aあ😀',
      B1: 'one\ntwo\nthree\r',
      C1: 'x\r\ny _x000D_ é',
      D1: '_xyz_ &unknown;',
      E1: 'R&D',
      F1: 'A',
    },
  },
  {
    name: 'CDATA and comments',
    strings: '<si><t><![CDATA[<b> & ]]>c</t></si><!-- <si><t>not me</t></si> --><si><t>two</t></si>',
    xml: '<!-- <row r="9"><c r="A9"><v>9</v></c></row> --><row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="str"><v><![CDATA[x</v>y]]></v></c><c r="D1"><v><!-- n -->5</v></c><c r="E1"><v><![CDATA[6]]></v></c></row>',
    expected: { A1: '<b> & c', B1: 'two', C1: 'x</v>y', D1: 5, E1: 6 },
  },
  {
    name: 'rows and cells without addresses count on',
    xml: '<row><c><v>1</v></c><c><v>2</v></c></row><row r="5"><c r="C5"><v>3</v></c><c><v>4</v></c></row><row><c><v>5</v></c></row>',
    expected: { A1: 1, B1: 2, C5: 3, D5: 4, A6: 5 },
  },
  {
    name: 'attributes in other orders, quotes and spacing',
    styles: DATES,
    xml: `<row  spans='1:3'  r='2' ><c t="n" s='1' r='B2' cm="1"><v>45383</v></c><c\n  r = "C2"\tt = "b" ><v>1</v></c ></row >`,
    expected: { B2: { date: '2024-04-01T00:00:00' }, C2: true },
  },
  {
    name: 'rows and cells out of order; the last of two at one address',
    xml: '<row r="3"><c r="B3"><v>4</v></c><c r="A3"><v>3</v></c></row><row r="1"><c r="A1"><v>1</v></c><c r="A1"><v>2</v></c></row>',
    expected: { A1: 2, A3: 3, B3: 4 },
  },
  {
    name: 'the far corner of a sheet',
    xml: '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>',
    expected: { XFD1048576: 1 },
  },
  {
    name: 'extensions inside of a cell',
    xml: '<row r="1"><c r="A1"><v>1</v><extLst><ext><v>2</v><c r="Z9"/></ext></extLst></c><c r="B1"><v>3</v></c></row>',
    expected: { A1: 1, B1: 3 },
  },
  {
    name: 'dates of the 1900 system, with the day that never was, which lengths of time do not count',
    styles: DATES,
    xml: '<row r="1"><c r="A1" s="1"><v>1</v></c><c r="B1" s="1"><v>59</v></c><c r="C1" s="1"><v>60</v></c><c r="D1" s="1"><v>61</v></c><c r="E1" s="1"><v>45383.75</v></c><c r="F1" s="2"><v>0.5</v></c><c r="G1" s="1"><v>0</v></c><c r="H1" s="1"><v>-1</v></c><c r="I1" s="1"><v>2958465</v></c><c r="J1" s="1"><v>2958466</v></c><c r="K1" s="3"><v>1.5</v></c><c r="L1" s="3"><v>59.5</v></c><c r="M1" s="3"><v>70.5</v></c><c r="N1" s="2"><v>45383.75</v></c></row>',
    expected: {
      A1: { date: '1900-01-01T00:00:00' },
      B1: { date: '1900-02-28T00:00:00' },
      C1: { date: '1900-02-28T00:00:00' },
      D1: { date: '1900-03-01T00:00:00' },
      E1: { date: '2024-04-01T18:00:00' },
      F1: { date: '1899-12-31T12:00:00' },
      G1: { date: '1899-12-31T00:00:00' },
      H1: -1,
      I1: { date: '9999-12-31T00:00:00' },
      J1: 2958466,
      K1: { date: '1900-01-01T12:00:00' },
      L1: { date: '1900-02-28T12:00:00' },
      M1: { date: '1900-03-11T12:00:00' },
      N1: { date: '2024-04-01T18:00:00' },
    },
  },
  {
    name: 'dates of the 1904 system; times count from the same day in both',
    styles: DATES,
    inner: '<workbookPr date1904="1"/>',
    xml: '<row r="1"><c r="A1" s="1"><v>0</v></c><c r="B1" s="1"><v>43921</v></c><c r="C1" s="2"><v>0.25</v></c></row>',
    expected: { A1: { date: '1904-01-01T00:00:00' }, B1: { date: '2024-04-01T00:00:00' }, C1: { date: '1899-12-31T06:00:00' } },
  },
  {
    name: 'ISO dates of strict workbooks',
    xml: '<row r="1"><c r="A1" t="d"><v>2024-04-01</v></c><c r="B1" t="d"><v>2024-04-01T12:30:15.5Z</v></c><c r="C1" t="d"><v>08:15:00</v></c><c r="D1" t="d"><v>soon</v></c></row>',
    expected: {
      A1: { date: '2024-04-01T00:00:00' },
      B1: { date: '2024-04-01T12:30:15.500Z' },
      C1: { date: '1899-12-31T08:15:00' },
      D1: 'soon',
    },
  },
];

describe('readWorkbook: cell values', () => {
  it.each(cases)('$name', async ({ xml, strings, styles, inner, expected }) => {
    const grid = await readGrid({ sheets: [xml], strings: strings ?? '', styles, workbookInner: inner });
    expect(cellsOf(grid)).toEqual(expected);
    const places = Array.from(grid.rows, (row, i) => row * 20_000 + (grid.columns[i] ?? 0));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  });

  it('decodes a repeated text once', async () => {
    const row = Array.from(
      { length: 50 },
      (_, i) => `<row r="${i + 1}"><c r="A${i + 1}" t="inlineStr"><is><t>same</t></is></c><c r="B${i + 1}" t="str"><v>same</v></c></row>`,
    ).join('');
    const grid = await readGrid({ sheets: [row] });
    expect(grid.size).toBe(100);
    expect(grid.strings).toEqual(['same']);
  });

  it('tells many different texts apart', async () => {
    const texts = Array.from({ length: 5000 }, (_, i) => `text ${(i * 7919) % 3001}`);
    const grid = await readGrid({
      sheets: [texts.map((text, i) => `<row r="${i + 1}"><c r="A${i + 1}" t="inlineStr"><is><t>${text}</t></is></c></row>`).join('')],
    });
    expect(Array.from(grid.texts, (id) => grid.strings[id])).toEqual(texts);
    expect(grid.strings.length).toBe(3001);
  });

  it('keeps strings by sheet', async () => {
    const cell = (text: number): string => `<row r="1"><c r="A1" t="s"><v>${text}</v></c></row>`;
    const { sheets } = await readBook({ sheets: [cell(0), cell(1)], strings: '<si><t>first</t></si><si><t>second</t></si>' });
    expect(sheets.map((grid) => grid.strings)).toEqual([['first'], ['second']]);
  });
});
