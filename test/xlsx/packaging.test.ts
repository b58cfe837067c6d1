import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readWorkbook } from '../../store/xlsx/index.ts';
import { type BookParts, cellsOf, makeBook, readGrid } from './makeWorkbook.ts';

const SHEET = '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1"><f>1+1</f><v>2</v></c></row>';
const STRINGS = '<si><t>text</t></si>';
const EXPECTED = { A1: 'text', B1: 2 };

describe('readWorkbook: zip archives', () => {
  const cases: [name: string, parts: Partial<BookParts>][] = [
    ['stored parts', { change: (part) => ({ ...part, stored: true }) }],
    ['data descriptors', { change: (part) => ({ ...part, descriptor: true }) }],
    ['zip64 sizes', { change: (part) => ({ ...part, zip64: true }) }],
    ['a zip64 directory', { zip: { zip64: true } }],
    ['both', { zip: { zip64: true }, change: (part) => ({ ...part, zip64: true, descriptor: true }) }],
    ['a comment', { zip: { comment: 'made by hand PK\u0005\u0006' } }],
    ['bytes in front', { zip: { prefix: Buffer.from('#!/bin/sh\n') } }],
    [
      'names in other case and with backslashes',
      { change: (part) => ({ ...part, name: part.name.replace('xl/worksheets/', 'XL\\Worksheets\\') }) },
    ],
    ['folders as entries', { extra: [{ name: 'xl/', content: '', stored: true }] }],
  ];
  it.each(cases)('%s', async (_, parts) => {
    expect(cellsOf(await readGrid({ sheets: [SHEET], strings: STRINGS, ...parts }))).toEqual(EXPECTED);
  });

  it('a file on disk, small or large', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'xlsx-'));
    try {
      for (const size of [0, 3 * 1024 * 1024]) {
        const path = join(folder, `book${size}.xlsx`);
        await writeFile(
          path,
          makeBook({ sheets: [SHEET], strings: STRINGS, extra: [{ name: 'media/x.bin', content: Buffer.alloc(size, 7), stored: true }] }),
        );
        expect(cellsOf((await readWorkbook(path)).sheets[0] ?? expect.fail())).toEqual(EXPECTED);
      }
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('targets that are absolute or go up', async () => {
    const grid = await readGrid({
      sheets: [SHEET],
      strings: STRINGS,
      change: (part) => ({
        ...part,
        content: `${part.content}`
          .replace('Target="worksheets', 'Target="/xl/worksheets')
          .replace('Target="sharedStrings', 'Target="../xl/./sharedStrings'),
      }),
    });
    expect(cellsOf(grid)).toEqual(EXPECTED);
  });
});

describe('readWorkbook: XML of other makers', () => {
  const prefixed = (xml: string): string => xml.replace(/<(\/?)(?=[a-z])/gi, '<$1x:');
  const cases: [name: string, change: NonNullable<BookParts['change']>][] = [
    [
      'namespace prefixes',
      (part) => (/sheet1|sharedStrings|workbook\.xml$/.test(part.name) ? { ...part, content: prefixed(`${part.content}`) } : part),
    ],
    [
      'strict OOXML',
      (part) => ({
        ...part,
        content: `${part.content}`
          .replaceAll('http://schemas.openxmlformats.org/officeDocument/2006', 'http://purl.oclc.org/ooxml/officeDocument')
          .replaceAll('http://schemas.openxmlformats.org/spreadsheetml/2006/main', 'http://purl.oclc.org/ooxml/spreadsheetml/main'),
      }),
    ],
    ['UTF-16 with a mark', (part) => ({ ...part, content: Buffer.from(`\ufeff${part.content}`.replace('UTF-8', 'UTF-16'), 'utf16le') })],
    ['UTF-16 big-endian', (part) => ({ ...part, content: Buffer.from(`\ufeff${part.content}`, 'utf16le').swap16() })],
    ['UTF-8 with a mark', (part) => ({ ...part, content: `\ufeff${part.content}` })],
    ['no declaration', (part) => ({ ...part, content: `${part.content}`.replace(/^<\?xml.*?\?>\s*/, '') })],
    ['line breaks everywhere', (part) => ({ ...part, content: `${part.content}`.replaceAll('><', '>\r\n\t<').replaceAll(' ', '\n ') })],
  ];
  it.each(cases)('%s', async (_, change) => {
    expect(cellsOf(await readGrid({ sheets: [SHEET], strings: STRINGS, change }))).toEqual(EXPECTED);
  });

  it('a declared Shift_JIS', async () => {
    const bytes = Buffer.from([0x93, 0x8c, 0x8b, 0x9e]); // 東京
    const strings = Buffer.concat([
      Buffer.from('<?xml version="1.0" encoding="Shift_JIS"?><sst><si><t>'),
      bytes,
      Buffer.from('</t></si></sst>'),
    ]);
    const grid = await readGrid({
      sheets: [SHEET],
      strings: STRINGS,
      change: (part) => (part.name.includes('sharedStrings') ? { ...part, content: strings } : part),
    });
    expect(cellsOf(grid).A1).toBe('東京');
  });

  it('prefixes on every kind of cell', async () => {
    const xml = prefixed(
      '<worksheet><cols><col min="1" max="1" hidden="1"/></cols><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>a</t></is></c><c r="B1" t="inlineStr"><is><r><t>b</t></r><rPh><t>x</t></rPh></is></c><c r="C1" t="str"><f>"&amp;"</f><v>&amp;</v></c><c r="D1"><v><![CDATA[4]]></v></c><c r="E1"/></row></sheetData><mergeCells><mergeCell ref="A1:B1"/></mergeCells></worksheet>',
    ).replace('<x:![', '<![');
    const grid = await readGrid({ sheets: [xml] });
    expect(cellsOf(grid)).toEqual({ A1: 'a', B1: 'b', C1: '&', D1: 4 });
    expect([grid.formulas, grid.merges.length, grid.hiddenColumns.size]).toEqual([['"&"'], 1, 1]);
  });
});
