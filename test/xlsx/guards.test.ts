import { describe, expect, it } from 'vitest';
import type { ReadLimits } from '../../store/xlsx/index.ts';
import { readWorkbook, scanSheet } from '../../store/xlsx/index.ts';
import { type BookParts, makeBook, readGrid } from './makeWorkbook.ts';
import { writeZip } from './zipWriter.ts';

const CELL = '<row r="1"><c r="A1"><v>1</v></c></row>';
const good = (): Buffer => makeBook({ sheets: [CELL] });

/** An Office 97 container as far as anyone looks: signature, then names of streams. */
function compound(stream: string): Buffer {
  const file = Buffer.alloc(2048);
  Buffer.from('d0cf11e0a1b11ae1', 'hex').copy(file);
  Buffer.from(`Root Entry\0${stream}\0`, 'utf16le').copy(file, 1024);
  return file;
}

describe('readWorkbook: files that are no workbook', () => {
  const cases: [name: string, bytes: Uint8Array, code: string, words: RegExp][] = [
    ['empty', Buffer.alloc(0), 'validation-failed', /empty/],
    ['not a zip', Buffer.from([1, 2, 0, 4, 5]), 'unsupported-media', /not an Excel workbook/],
    ['text', Buffer.from('a,b\n1,2\n'), 'unsupported-media', /text, not a workbook/],
    ['a web page', Buffer.from('<html><table/></html>'), 'unsupported-media', /web page/],
    ['a PDF', Buffer.from('%PDF-1.7'), 'unsupported-media', /PDF/],
    ['.xls', compound('Workbook'), 'unsupported-media', /97–2003/],
    ['.xls of Excel 95', compound('Book'), 'unsupported-media', /97–2003/],
    ['.doc', compound('WordDocument'), 'unsupported-media', /not a workbook/],
    ['with a password', compound('EncryptedPackage'), 'unsupported-media', /password/],
    [
      '.ods',
      writeZip([
        { name: 'mimetype', content: 'application/vnd.oasis.opendocument.spreadsheet', stored: true },
        { name: 'content.xml', content: '<x/>' },
      ]),
      'unsupported-media',
      /OpenDocument/,
    ],
    ['.xlsb', writeZip([{ name: 'xl/workbook.bin', content: 'x' }]), 'unsupported-media', /\.xlsb/],
    ['.docx', writeZip([{ name: 'word/document.xml', content: '<x/>' }]), 'unsupported-media', /without sheets/],
    ['another zip', writeZip([{ name: 'readme.txt', content: 'x' }]), 'unsupported-media', /zip archive/],
    ['an empty zip', writeZip([]), 'unsupported-media', /zip archive/],
    ['a zip with a password', writeZip([{ name: 'xl/workbook.xml', content: 'x', flags: 1 }]), 'unsupported-media', /password/],
    ['cut off at the end', good().subarray(0, -30), 'validation-failed', /end is missing/],
    ['cut off in the middle', good().subarray(0, 300), 'validation-failed', /end is missing/],
  ];
  it.each(cases)('%s', async (_, bytes, code, words) => {
    const error = await readWorkbook(bytes).catch((e: unknown) => e);
    expect(error).toMatchObject({ code, suggestedFix: expect.stringMatching(/./) });
    expect((error as { detail: string }).detail).toMatch(words);
  });
});

describe('readWorkbook: damaged workbooks', () => {
  const damaged: [name: string, parts: Partial<BookParts>, words: RegExp][] = [
    ['a wrong checksum', { change: (part) => (part.name.includes('sheet1') ? { ...part, claimedCrc: 1 } : part) }, /checksum/],
    ['a wrong size', { change: (part) => (part.name.includes('sheet1') ? { ...part, claimedSize: 9 } : part) }, /checksum/],
    [
      'packed bytes that do not unpack',
      { change: (part) => (part.name.includes('sheet1') ? { ...part, stored: true, method: 8 } : part) },
      /cannot be unpacked/,
    ],
    ['a part twice', { extra: [{ name: 'XL/workbook.xml', content: '<x/>' }] }, /twice/],
    ['fewer entries than claimed', { zip: { claimedEntries: 9 } }, /cut off/],
    ['a missing sheet', { change: (part) => (part.name.includes('worksheets/') ? { ...part, name: 'elsewhere' } : part) }, /missing/],
    ['a sheet that ends early', { sheets: ['<worksheet><sheetData><row r="1"><c r="A1"><v>1</v>'] }, /cut off/],
    ['a tag that never ends', { sheets: ['<worksheet><sheetData></sheetData><mergeCell ref="'] }, /cut off/],
    ['shared strings that end early', { strings: '<sst><si><t>a</t></si><si><t>' }, /cut off/],
    ['a text that is not there', { sheets: ['<row r="1"><c r="A1" t="s"><v>5</v></c></row>'], strings: '' }, /text that is not there/],
    [
      'an unknown encoding',
      {
        change: (part) => (part.name.includes('workbook.xml') ? { ...part, content: `${part.content}`.replace('UTF-8', 'x-none') } : part),
      },
      /encoding/,
    ],
  ];
  it.each(damaged)('%s', async (_, parts, words) => {
    const error = await readGrid({ sheets: [CELL], ...parts }).catch((e: unknown) => e);
    expect(error).toMatchObject({ code: 'validation-failed' });
    expect((error as { detail: string }).detail).toMatch(words);
  });

  it('any byte changed or missing gives an answer, never a crash', { timeout: 180_000 }, async () => {
    const bytes = makeBook({ sheets: [CELL], strings: '<si><t>a</t></si>', styles: ['0', '14'] });
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 0x55;
      for (const candidate of [changed, bytes.subarray(0, at)]) {
        const error = await readWorkbook(candidate).then(
          () => null,
          (e: unknown) => e,
        );
        if (error !== null) expect(error).toMatchObject({ name: 'DomainError' });
      }
    }
  });
});

describe('readWorkbook: DOCTYPE', () => {
  const DOCTYPE = '<!DOCTYPE x [<!ENTITY a "b">]>';
  const parts = [
    '_rels/.rels',
    'xl/workbook.xml',
    'xl/_rels/workbook.xml.rels',
    'xl/styles.xml',
    'xl/sharedStrings.xml',
    'xl/worksheets/sheet1.xml',
    'xl/theme/theme1.xml',
  ];
  const book = (change: NonNullable<BookParts['change']>): Promise<unknown> =>
    readGrid({ sheets: [CELL], strings: '', styles: ['0'], theme: '<?xml version="1.0"?><theme/>', change }).catch((e: unknown) => e);

  it.each(parts)('in %s', async (name) => {
    expect(
      await book((part) => (part.name === name ? { ...part, content: `${part.content}`.replace('?>', `?>${DOCTYPE}`) } : part)),
    ).toMatchObject({ code: 'validation-failed', detail: expect.stringMatching(/DOCTYPE/) });
  });

  it('in UTF-16, and inside of a cell', async () => {
    expect(
      await book((part) =>
        part.name.includes('sheet1') ? { ...part, content: Buffer.from(`\ufeff${DOCTYPE}${part.content}`, 'utf16le') } : part,
      ),
    ).toMatchObject({ detail: expect.stringMatching(/DOCTYPE/) });
    expect(await readGrid({ sheets: [`<row r="1"><c r="A1">${DOCTYPE}<v>1</v></c></row>`] }).catch((e: unknown) => e)).toMatchObject({
      detail: expect.stringMatching(/DOCTYPE/),
    });
    expect(await readGrid({ sheets: [CELL], strings: `<si>${DOCTYPE}<t>1</t></si>` }).catch((e: unknown) => e)).toMatchObject({
      detail: expect.stringMatching(/DOCTYPE/),
    });
  });
});

/** Random letters, which do not pack. */
function noise(length: number): string {
  let seed = 7;
  return Array.from({ length }, () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return String.fromCharCode(97 + (seed % 26));
  }).join('');
}

/** What the process computed: a busy machine must not make a test fail. */
function cpuMsSince(started: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(started);
  return (user + system) / 1000;
}

/** The directory says that the sheet is tiny. */
const lie: NonNullable<BookParts['change']> = (part) => (part.name.includes('sheet1') ? { ...part, claimedSize: 1 } : part);

describe('readWorkbook: limits', () => {
  const many = (count: number): string =>
    Array.from({ length: count }, (_, i) => `<row r="${i + 1}"><c r="A${i + 1}"><v>${i}</v></c></row>`).join('');
  /** A formula that many cells share. */
  const shared = (formula: string, cells: number): string =>
    `<row r="1"><c r="A1"><f t="shared" si="0" ref="A1:A${cells}">${formula}</f><v>1</v></c></row>` +
    Array.from({ length: cells - 1 }, (_, i) => `<row r="${i + 2}"><c r="A${i + 2}"><f t="shared" si="0"/><v>1</v></c></row>`).join('');
  const twoMillion = shared(`B1${'+1'.repeat(1_000)}`, 1_000);
  const cases: [name: string, limits: Partial<ReadLimits>, parts: BookParts, words: RegExp][] = [
    [
      'formulas of all sheets',
      { formulaCharacters: 3 * 1024 ** 2 },
      { sheets: [twoMillion, twoMillion] },
      /formulas of the file.*3 million/,
    ],
    ['references of shared formulas', {}, { sheets: [shared(`B1${'+B1'.repeat(2_000_000)}`, 2)] }, /2000000 references/],
    ['size of the file', { fileBytes: 500 }, { sheets: [CELL] }, /larger than 500/],
    ['unpacked size, as claimed', { unpackedBytes: 5000 }, { sheets: [many(500)] }, /unpacks to more/],
    ['unpacked size, for real', { unpackedBytes: 5000 }, { sheets: [many(500)], change: lie }, /unpacks to more/],
    ['ratio, as claimed', { ratioFromBytes: 1000, ratio: 5 }, { sheets: [many(500)] }, /times its size/],
    ['ratio, for real', { ratioFromBytes: 1000, ratio: 5 }, { sheets: [many(500)], change: lie }, /times its size/],
    [
      'ratio of a part nobody reads',
      { ratioFromBytes: 1000, ratio: 100 },
      { sheets: [CELL], extra: [{ name: 'xl/media/x.bmp', content: Buffer.alloc(100_000) }] },
      /times its size/,
    ],
    ['parts', { entries: 3 }, { sheets: [CELL] }, /parts/],
    ['sheets', { sheets: 1 }, { sheets: [CELL, CELL] }, /sheets/],
    ['cells of a sheet', { cellsPerSheet: 10 }, { sheets: [many(11)] }, /10 cells/],
    ['cells in memory', { cellsInMemory: 10 }, { sheets: [many(6), many(6)] }, /10 cells/],
    ['rows', {}, { sheets: ['<row r="1048577"><c r="A1048577"><v>1</v></c></row>'] }, /beyond row 1048576/],
    ['rows, by a cell alone', {}, { sheets: ['<row r="1"><c r="A9999999"><v>1</v></c></row>'] }, /beyond row/],
    ['columns', {}, { sheets: ['<row r="1"><c r="XFE1"><v>1</v></c></row>'] }, /beyond column 16384/],
    ['columns without addresses', {}, { sheets: [`<row r="1">${'<c/>'.repeat(16_385)}</row>`] }, /beyond column/],
    [
      'one element',
      { elementBytes: 300_000 },
      { sheets: [`<row r="1"><c r="A1" t="inlineStr"><is><t>${noise(900_000)}</t></is></c></row>`] },
      /element/,
    ],
    [
      'a part that is held as a whole',
      { partBytes: 2000 },
      { sheets: [CELL], styles: Array.from({ length: 100 }, () => '14') },
      /larger than 2000/,
    ],
    [
      'merged ranges',
      { objects: 5 },
      { sheets: [`<worksheet><sheetData/><mergeCells>${'<mergeCell ref="A1:B1"/>'.repeat(6)}</mergeCells></worksheet>`] },
      /merged ranges/,
    ],
    [
      'defined names',
      { objects: 5 },
      { sheets: [CELL], workbookInner: `<definedNames>${'<definedName name="a">1</definedName>'.repeat(6)}</definedNames>` },
      /names/,
    ],
  ];
  it.each(cases)('%s', async (_, limits, parts, words) => {
    const error = await readWorkbook(makeBook(parts), { limits }).catch((e: unknown) => e);
    expect(error).toMatchObject({ code: 'too-large' });
    expect((error as { detail: string }).detail).toMatch(words);
  });

  it('formulas of one sheet that are within what all may have', async () => {
    const { sheets } = await readWorkbook(makeBook({ sheets: [twoMillion] }), { limits: { formulaCharacters: 3 * 1024 ** 2 } });
    expect(sheets[0]?.formulas).toHaveLength(1_000);
  });

  it('a bomb of 300 MB in 0.3 MB is refused before it is unpacked', { timeout: 180_000 }, async () => {
    const bomb = makeBook({ sheets: [`<row r="1">${' '.repeat(300_000_000)}</row>`], change: lie });
    expect(bomb.length).toBeLessThan(400_000);
    const started = process.cpuUsage();
    expect(await readWorkbook(bomb).catch((e: unknown) => e)).toMatchObject({ code: 'too-large' });
    expect(cpuMsSince(started)).toBeLessThan(5000);
  });

  it('the same holds for scanSheet', async () => {
    const scan = async (): Promise<void> => {
      for await (const _ of scanSheet(makeBook({ sheets: [many(50)] }), 0, { limits: { cellsPerSheet: 10 } }));
    };
    await expect(scan()).rejects.toMatchObject({ code: 'too-large' });
  });

  it('stops when it is told to', async () => {
    const controller = new AbortController();
    controller.abort();
    await expect(readWorkbook(good(), { signal: controller.signal })).rejects.toMatchObject({ name: 'AbortError' });
    const later = new AbortController();
    const bytes = makeBook({ sheets: [many(100_000)] });
    setTimeout(() => later.abort(), 5);
    await expect(readWorkbook(bytes, { signal: later.signal })).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('a million styled blank rows cost nothing', { timeout: 180_000 }, async () => {
    const rows: string[] = ['<row r="1"><c r="A1"><v>1</v></c></row>'];
    for (let row = 2; row <= 1_048_576; row += 1)
      rows.push(`<row r="${row}" s="1" customFormat="1" hidden="1" outlineLevel="1"><c r="A${row}" s="1"/><c r="B${row}" s="1"/></row>`);
    const styles =
      '<styleSheet><fonts><font/></fonts><fills><fill/></fills><borders><border/><border><top style="thin"/></border></borders><cellXfs><xf/><xf borderId="1"/></cellXfs></styleSheet>';
    const bytes = makeBook({ sheets: [rows.join('')], styles });
    rows.length = 0;
    const started = process.cpuUsage();
    const { sheets } = await readWorkbook(bytes);
    expect(cpuMsSince(started)).toBeLessThan(10_000);
    expect(sheets[0]).toMatchObject({ size: 1, blanks: [], hiddenRows: new Set() });
    expect(sheets[0]?.rowOutlines).toBeUndefined();
  });

  it('16,384 columns are read', async () => {
    const grid = await readGrid({ sheets: [`<row r="1">${'<c><v>1</v></c>'.repeat(16_384)}</row>`] });
    expect(grid.size).toBe(16_384);
    expect(grid.columns.at(-1)).toBe(16_384);
  });
});
