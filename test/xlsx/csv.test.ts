import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Grid } from '../../core/grid/grid.ts';
import { type CsvOptions, readCsv, scanCsv } from '../../store/csv/index.ts';

/** Rows of texts, blank fields as empty ones. */
function rowsOf(grid: Grid): string[][] {
  const rows: string[][] = [];
  for (let i = 0; i < grid.size; i += 1) {
    const at = (grid.rows[i] ?? 0) - 1;
    const row = rows[at] ?? [];
    row[(grid.columns[i] ?? 0) - 1] = grid.strings[grid.texts[i] ?? -1] ?? '?';
    rows[at] = row;
  }
  return Array.from(rows, (row) => Array.from(row ?? [], (field) => field ?? ''));
}

const read = async (text: string | Uint8Array, options?: CsvOptions): Promise<string[][]> =>
  rowsOf((await readCsv(Buffer.from(text as Uint8Array), options)).grid);

describe('readCsv: fields and rows', () => {
  const cases: [name: string, text: string, expected: string[][]][] = [
    [
      'plain',
      'a,b\n1,2\n',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    [
      'no line end at the end',
      'a,b\n1,2',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    [
      'CR LF',
      'a,b\r\n1,2\r\n',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    [
      'CR alone',
      'a,b\r1,2\r',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    [
      'quotes',
      '"a,1","b ""x""",c\n"","2",3\n',
      [
        ['a,1', 'b "x"', 'c'],
        ['', '2', '3'],
      ],
    ],
    [
      'line breaks inside of quotes',
      'a,"x\ny\r\nz"\n1,2\n',
      [
        ['a', 'x\ny\r\nz'],
        ['1', '2'],
      ],
    ],
    [
      'quotes inside of plain fields',
      'a,5" pipe\n1,2\n',
      [
        ['a', '5" pipe'],
        ['1', '2'],
      ],
    ],
    [
      'text behind a closing quote',
      '"a"b,c\n1,2\n',
      [
        ['ab', 'c'],
        ['1', '2'],
      ],
    ],
    ['ragged rows and blank lines', 'a,b,c\n1\n\n1,2,3,4\n', [['a', 'b', 'c'], ['1'], [], ['1', '2', '3', '4']]],
    [
      'trailing delimiters',
      'a,b,\n1,2,\n',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    ['blanks around fields stay', ' a , b \n', [[' a ', ' b ']]],
    ['numbers stay texts', '007,1e5,"1,000"\n', [['007', '1e5', '1,000']]],
    ['one column', 'name\nx\ny\n', [['name'], ['x'], ['y']]],
    [
      'tabs',
      'a\tb\n1,5\t2\n',
      [
        ['a', 'b'],
        ['1,5', '2'],
      ],
    ],
    [
      'semicolons with decimal commas',
      'a;b;c\nx;1,5;2,5\ny;3,5;4,5\n',
      [
        ['a', 'b', 'c'],
        ['x', '1,5', '2,5'],
        ['y', '3,5', '4,5'],
      ],
    ],
    [
      'pipes',
      'a|b|c\n1, 2|3|4\n',
      [
        ['a', 'b', 'c'],
        ['1, 2', '3', '4'],
      ],
    ],
    [
      "Excel's sep line",
      'sep=;\na;b,c\n1;2\n',
      [
        ['a', 'b,c'],
        ['1', '2'],
      ],
    ],
    ['a title above the table', '売上一覧\n\na,b\n1,2\n3,4\n', [['売上一覧'], [], ['a', 'b'], ['1', '2'], ['3', '4']]],
    ['nothing but blank lines', '\n\n', []],
  ];
  it.each(cases)('%s', async (_, text, expected) => {
    expect(await read(text)).toEqual(expected);
  });

  it('prefers the tab for .tsv where both would do, and takes what it is told', async () => {
    expect(await read('a,b\tc\n1,2\t3\n')).toEqual([
      ['a', 'b\tc'],
      ['1', '2\t3'],
    ]);
    expect(await read('a,b\tc\n1,2\t3\n', { filename: 'x.tsv' })).toEqual([
      ['a,b', 'c'],
      ['1,2', '3'],
    ]);
    expect(await read('a,b\n', { delimiter: ';' })).toEqual([['a,b']]);
  });

  it('says what it found', async () => {
    const result = await readCsv(Buffer.from('a;b\n1;2;3\n4\n'), { filename: '月次.売上.csv' });
    expect(result).toMatchObject({ encoding: 'utf-8', delimiter: ';', rows: 3, raggedRows: 2, grid: { sheet: '月次.売上', size: 6 } });
  });
});

describe('readCsv: encodings', () => {
  const TEXT = '会社名,住所,金額\n株式会社青木製作所,東京都千代田区,1000\nカタカナ商店,ひらがな市,2000\n';
  // TextEncoder writes UTF-8 only, so the Japanese encodings are made by asking every byte pair what it stands for.
  const encoders = new Map<string, Map<string, number[]>>();
  const encode = (text: string, encoding: string): Buffer => {
    let table = encoders.get(encoding);
    if (!table) {
      table = new Map();
      const decoder = new TextDecoder(encoding);
      for (let lead = 0x81; lead <= 0xfe; lead += 1) {
        for (let trail = 0x40; trail <= 0xfe; trail += 1) {
          const character = decoder.decode(Uint8Array.of(lead, trail));
          if (character.length === 1 && !table.has(character)) table.set(character, [lead, trail]);
        }
        const single = decoder.decode(Uint8Array.of(lead));
        if (single.length === 1 && single !== '\ufffd') table.set(single, [lead]);
      }
      encoders.set(encoding, table);
    }
    const known = table;
    return Buffer.from(
      [...text].flatMap((character) =>
        character < '\x80' ? [character.charCodeAt(0)] : (known.get(character) ?? expect.fail(`no ${character}`)),
      ),
    );
  };
  const utf16 = (text: string, mark: boolean, bigEndian: boolean): Buffer => {
    const bytes = Buffer.from(`${mark ? '\ufeff' : ''}${text}`, 'utf16le');
    return bigEndian ? bytes.swap16() : bytes;
  };
  const expected = TEXT.trim()
    .split('\n')
    .map((line) => line.split(','));

  const cases: [name: string, encoding: string, bytes: Buffer][] = [
    ['UTF-8', 'utf-8', Buffer.from(TEXT)],
    ['UTF-8 with a mark', 'utf-8', Buffer.from(`\ufeff${TEXT}`)],
    ['UTF-16 LE with a mark', 'utf-16le', utf16(TEXT, true, false)],
    ['UTF-16 BE with a mark', 'utf-16be', utf16(TEXT, true, true)],
    ['UTF-16 LE', 'utf-16le', utf16(TEXT, false, false)],
    ['UTF-16 BE', 'utf-16be', utf16(TEXT, false, true)],
    ['Shift_JIS', 'shift_jis', encode(TEXT, 'shift_jis')],
    ['EUC-JP', 'euc-jp', encode(TEXT, 'euc-jp')],
  ];
  it.each(cases)('%s', async (_, encoding, bytes) => {
    const result = await readCsv(bytes);
    expect(result.encoding).toBe(encoding);
    expect(rowsOf(result.grid)).toEqual(expected);
  });

  const words = [
    '東京',
    '大阪府',
    '売上高',
    '株式会社',
    'カタカナ',
    'ひらがな',
    '注文番号',
    '合計',
    '単位：千円',
    '数量',
    '令和６年',
    'ありがとう',
    '備考',
    '氏名',
    '部署',
  ];
  it.each(words)('tells %s in Shift_JIS from EUC-JP and UTF-8', async (word) => {
    for (const encoding of ['shift_jis', 'euc-jp'] as const)
      expect(await readCsv(encode(`${word},1\n`, encoding))).toMatchObject({ encoding });
    expect(await readCsv(Buffer.from(`${word},1\n`))).toMatchObject({ encoding: 'utf-8' });
  });

  it('characters of CP932 only, and half-width kana', async () => {
    expect(await read(encode('①㈱髙橋,ﾔﾏﾀﾞ ﾀﾛｳ\n', 'shift_jis'))).toEqual([['①㈱髙橋', 'ﾔﾏﾀﾞ ﾀﾛｳ']]);
  });

  it('finds the encoding beyond any amount of ASCII', async () => {
    const ascii = 'id,name\n'.repeat(100_000);
    const result = await readCsv(Buffer.concat([Buffer.from(ascii), encode('1,東京都\n', 'shift_jis')]));
    expect(result.encoding).toBe('shift_jis');
    expect(result.grid.strings.at(-1)).toBe('東京都');
  });

  it('a character cut by a chunk', async () => {
    for (const encoding of ['shift_jis', 'euc-jp'] as const) {
      const text = `x${'東京都,'.repeat(10)}\n${'長い文章,'.repeat(4000)}`.repeat(40);
      const { grid } = await readCsv(encode(text, encoding));
      expect(grid.strings.filter((value) => value.includes('\ufffd'))).toEqual([]);
    }
  });

  it('bears one broken character in much text', async () => {
    const { encoding, grid } = await readCsv(Buffer.concat([Buffer.from('東京都,大阪府\n'.repeat(50)), Buffer.from([0xe6, 0x2c, 0x31])]));
    expect(encoding).toBe('utf-8');
    expect(grid.strings).toContain('\ufffd');
  });
});

describe('readCsv: bad input', () => {
  const cases: [name: string, bytes: Uint8Array, options: CsvOptions, code: string, words: RegExp][] = [
    ['empty', Buffer.alloc(0), {}, 'validation-failed', /empty/],
    ['a NUL byte', Buffer.from('a,b\n1,\0\n2,3\n'), {}, 'validation-failed', /NUL/],
    ['a NUL byte far down', Buffer.from(`${'a,b\n'.repeat(200_000)}\0`), {}, 'validation-failed', /NUL/],
    ['a short file with a NUL', Buffer.from('a\0b'), {}, 'validation-failed', /NUL/],
    ['a workbook', Buffer.from('PK\u0003\u0004xxxx'), {}, 'unsupported-media', /workbook/],
    ['an .xls', Buffer.from('d0cf11e0a1b11ae1', 'hex'), {}, 'unsupported-media', /workbook/],
    ['a PDF', Buffer.from('%PDF-1.4'), {}, 'unsupported-media', /PDF/],
    ['an encoding of none of the kinds', Buffer.from([0x61, 0xff, 0x80, 0xfe, 0xa0, 0x0a]), {}, 'validation-failed', /encoding/],
    ['a quote that is never closed', Buffer.from('a,b\n1,"2\n3,4\n'), {}, 'validation-failed', /opens in line 2/],
    ['size', Buffer.from('a,b\n1,2\n'), { limits: { fileBytes: 5 } }, 'too-large', /larger than 5/],
    ['rows', Buffer.from('a\nb\nc\n'), { limits: { rows: 2 } }, 'too-large', /2 rows/],
    ['more rows than a sheet has', Buffer.from('1\n'.repeat(1_048_577)), {}, 'too-large', /1048576 rows/],
    ['columns', Buffer.from(`${'1,'.repeat(16_384)}1\n`), {}, 'too-large', /16384 fields/],
    ['cells', Buffer.from('1,2\n3,4\n'), { limits: { cellsInMemory: 3 } }, 'too-large', /3 cells/],
    ['one row', Buffer.from(`"${'x'.repeat(2_000_000)}`), { limits: { elementBytes: 1_000_000 } }, 'too-large', /line 1/],
  ];
  it.each(cases)('%s', async (_, bytes, options, code, words) => {
    const error = await readCsv(bytes, options).catch((e: unknown) => e);
    expect(error).toMatchObject({ code, suggestedFix: expect.stringMatching(/./) });
    expect((error as { detail: string }).detail).toMatch(words);
  });

  it('stops when it is told to', async () => {
    await expect(readCsv(Buffer.from('a,b\n'), { signal: AbortSignal.abort() })).rejects.toMatchObject({ name: 'AbortError' });
  });
});

describe('scanCsv', () => {
  it('gives the cells of the grid in batches, from a file', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'csv-'));
    try {
      const path = join(folder, 'big.csv');
      const lines = Array.from({ length: 60_000 }, (_, i) => `${i},名前${i % 50},"q ""${i}"""${i % 7 === 0 ? '' : ',x'}`);
      await writeFile(path, lines.join('\r\n'));
      const { grid, raggedRows } = await readCsv(path);
      expect([grid.sheet, raggedRows]).toEqual(['big', 51_428]);
      const all = rowsOf(grid);
      let rows = 0;
      let batches = 0;
      for await (const batch of scanCsv(path)) {
        batches += 1;
        batch.rows.forEach((row, i) => {
          const fields = batch.columns.map(({ texts }) => batch.strings[texts?.[i] ?? -1]).filter((field) => field !== undefined);
          if (row % 997 === 0 || i === 0) expect(fields).toEqual(all[row - 1]);
        });
        rows += batch.rows.length;
      }
      expect(rows).toBe(60_000);
      expect(batches).toBeGreaterThan(3);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
