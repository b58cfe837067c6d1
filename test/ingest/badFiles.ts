import { makeBook } from '../xlsx/makeWorkbook.ts';
import { writeZip } from '../xlsx/zipWriter.ts';

/** Files that are refused: what the answer says, and whether that is known at the door or only when the file is read. */
export interface BadFile {
  what: string;
  name: string;
  make: () => Uint8Array;
  status: number;
  slug: string;
  detail: RegExp;
  fix: RegExp;
  at: 'door' | 'reading';
}

const CELL = '<row r="1"><c r="A1"><v>1</v></c></row>';
export const makeGood = () => makeBook({ sheets: [CELL] });
const saveAgain = /save it as \.xlsx/;
const unsupported = { status: 415, slug: 'unsupported-media' };
const invalid = { status: 422, slug: 'validation-failed' };
const tooLarge = { status: 413, slug: 'too-large' };
const door = { at: 'door' } as const;
const reading = { at: 'reading' } as const;

/** An Office 97 container as far as anyone looks: signature, then names of streams. */
function makeCompound(stream: string): Uint8Array {
  const file = Buffer.alloc(2048);
  Buffer.from('d0cf11e0a1b11ae1', 'hex').copy(file);
  Buffer.from(`Root Entry\0${stream}\0`, 'utf16le').copy(file, 1024);
  return file;
}

const makeOds = () =>
  writeZip([
    { name: 'mimetype', content: 'application/vnd.oasis.opendocument.spreadsheet', stored: true },
    { name: 'content.xml', content: '<x/>' },
  ]);

/** 60 MB in 60 KB; the directory says so, or that it is one byte. */
const makeBomb = (isHonest: boolean) =>
  makeBook({
    sheets: [`${CELL}${' '.repeat(60_000_000)}`],
    change: (part) => (part.name.includes('sheet1') && !isHonest ? { ...part, claimedSize: 1 } : part),
  });

const withDoctype = (part: string) =>
  makeBook({
    sheets: [CELL],
    change: (each) =>
      each.name === part ? { ...each, content: `${each.content}`.replace('?>', '?><!DOCTYPE x [<!ENTITY a "b">]>') } : each,
  });

const text = (content: string) => () => Buffer.from(content);
const lastRow = 1_048_576;
const lastColumn = 16_384;

export const badFiles: BadFile[] = [
  {
    what: 'a kind named like a part of every object',
    name: 'a.constructor',
    make: text('a,b\n1,2\n'),
    ...unsupported,
    detail: /\.constructor are not read/,
    fix: /Save the table as/,
    ...door,
  },
  { what: 'an empty workbook file', name: 'empty.xlsx', make: text(''), ...invalid, detail: /empty/, fix: /with content/, ...door },
  { what: 'an empty csv', name: 'empty.csv', make: text(''), ...invalid, detail: /empty/, fix: /with content/, ...door },
  {
    what: 'bytes that are no zip',
    name: 'noise.xlsx',
    make: () => Buffer.from([1, 2, 0, 4, 5]),
    ...unsupported,
    detail: /not an Excel workbook/,
    fix: saveAgain,
    ...door,
  },
  {
    what: 'text under the name of a workbook',
    name: 'text.xlsx',
    make: text('a,b\n1,2\n'),
    ...unsupported,
    detail: /text/,
    fix: /\.csv/,
    ...door,
  },
  {
    what: 'a zip without its end',
    name: 'cut.xlsx',
    make: () => makeGood().subarray(0, 300),
    ...invalid,
    detail: /end is missing/,
    fix: saveAgain,
    ...door,
  },
  { what: 'an .xls', name: '売上.xls', make: () => makeCompound('Workbook'), ...unsupported, detail: /\.xls/, fix: saveAgain, ...door },
  {
    what: 'an .xls under another name',
    name: '売上.xlsx',
    make: () => makeCompound('Workbook'),
    ...unsupported,
    detail: /97–2003/,
    fix: saveAgain,
    ...door,
  },
  { what: 'an .ods', name: 'calc.ods', make: makeOds, ...unsupported, detail: /\.ods/, fix: /LibreOffice/, ...door },
  {
    what: 'an .ods under another name',
    name: 'calc.xlsx',
    make: makeOds,
    ...unsupported,
    detail: /OpenDocument/,
    fix: /LibreOffice/,
    ...door,
  },
  {
    what: 'a workbook with a password',
    name: 'secret.xlsx',
    make: () => makeCompound('EncryptedPackage'),
    ...unsupported,
    detail: /password/,
    fix: /clear the password/,
    ...door,
  },
  { what: 'a .pdf', name: 'report.pdf', make: text('%PDF-1.7'), ...unsupported, detail: /\.pdf/, fix: /\.xlsx or \.csv/, ...door },
  {
    what: 'a workbook under the name of a csv',
    name: 'book.csv',
    make: makeGood,
    ...unsupported,
    detail: /workbook under the name/,
    fix: /\.xlsx/,
    ...door,
  },
  { what: 'a bomb', name: 'bomb.xlsx', make: () => makeBomb(true), ...tooLarge, detail: /200 times/, fix: /empty rows/, ...door },
  {
    what: 'a bomb that hides its size',
    name: 'bomb.xlsx',
    make: () => makeBomb(false),
    ...tooLarge,
    detail: /200 times/,
    fix: /empty rows/,
    ...reading,
  },
  {
    what: 'a DOCTYPE in the sheet',
    name: 'doctype.xlsx',
    make: () => withDoctype('xl/worksheets/sheet1.xml'),
    ...invalid,
    detail: /DOCTYPE/,
    fix: saveAgain,
    ...reading,
  },
  {
    what: 'a DOCTYPE in the workbook part',
    name: 'doctype.xlsx',
    make: () => withDoctype('xl/workbook.xml'),
    ...invalid,
    detail: /DOCTYPE/,
    fix: saveAgain,
    ...door,
  },
  {
    what: 'a wrong checksum',
    name: 'damaged.xlsx',
    make: () => makeBook({ sheets: [CELL], change: (part) => (part.name.includes('sheet1') ? { ...part, claimedCrc: 1 } : part) }),
    ...invalid,
    detail: /checksum/,
    fix: saveAgain,
    ...reading,
  },
  {
    what: 'a NUL byte in the sheet',
    name: 'nul.xlsx',
    make: () => makeBook({ sheets: ['<row><c t="inlineStr"><is><t>a\u0000b</t></is></c></row>'] }),
    ...invalid,
    detail: /NUL/,
    fix: saveAgain,
    ...reading,
  },
  {
    what: 'two sheets of one name',
    name: 'twins.xlsx',
    make: () =>
      makeBook({
        sheets: [
          { name: 'A', xml: CELL },
          { name: 'A', xml: CELL },
        ],
      }),
    ...invalid,
    detail: /same name/,
    fix: saveAgain,
    ...door,
  },
  {
    what: 'a workbook whose sheets are all empty',
    name: 'blank.xlsx',
    make: () => makeBook({ sheets: ['', '<row r="1"><c r="A1" s="0"/></row>'] }),
    ...invalid,
    detail: /No sheet/,
    fix: /with content/,
    ...reading,
  },
  {
    what: 'a csv of blank lines',
    name: 'blank.csv',
    make: text('\n\n,,\n'),
    ...invalid,
    detail: /No sheet/,
    fix: /with content/,
    ...reading,
  },
  {
    what: `a sheet with column ${lastColumn + 1}`,
    name: 'wide.xlsx',
    make: () => makeBook({ sheets: [`<row r="1">${'<c><v>1</v></c>'.repeat(lastColumn + 1)}</row>`] }),
    ...tooLarge,
    detail: /beyond column 16384/,
    fix: /./,
    ...reading,
  },
  {
    what: `a csv with ${lastColumn + 1} fields`,
    name: 'wide.csv',
    make: text(`${'1,'.repeat(lastColumn)}1\n`),
    ...tooLarge,
    detail: /16384 fields/,
    fix: /delimiter|split/,
    ...reading,
  },
  {
    what: `a sheet with row ${lastRow + 1}`,
    name: 'long.xlsx',
    make: () => makeBook({ sheets: [`<row r="${lastRow + 1}"><c r="A${lastRow + 1}"><v>1</v></c></row>`] }),
    ...tooLarge,
    detail: /beyond row 1048576/,
    fix: /./,
    ...reading,
  },
  {
    what: `a csv with ${lastRow + 1} rows`,
    name: 'long.csv',
    make: text('1\n'.repeat(lastRow + 1)),
    ...tooLarge,
    detail: /1048576 rows/,
    fix: /Split/,
    ...reading,
  },
  {
    what: 'a csv with a NUL byte',
    name: 'nul.csv',
    make: text('a,b\n1,\u00002\n'),
    ...invalid,
    detail: /NUL/,
    fix: /Export/,
    ...reading,
  },
  {
    what: 'a csv with a quote that is never closed',
    name: 'quote.csv',
    make: text('a,b\n1,"2\n3,4\n'),
    ...invalid,
    detail: /line 2/,
    fix: /Close the quote/,
    ...reading,
  },
  {
    what: 'a csv in no encoding',
    name: 'latin.csv',
    make: () => Buffer.from(`caf\u00e9,\u00ff\u00fe\u00e0\n`.repeat(50), 'latin1'),
    ...invalid,
    detail: /encoding/,
    fix: /UTF-8/,
    ...door,
  },
];
