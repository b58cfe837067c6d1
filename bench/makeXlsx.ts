import { createWriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { crc32, createDeflateRaw } from 'node:zlib';
import { nameColumn } from '../core/a1/address.ts';

/** Writes a workbook as programs do: shared strings, styles for dates, amounts and shares, no formulas. */

const HEADER = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';

export const sheetName = '売上';

const columns = ['伝票番号', '日付', '顧客', '商品', '地域', '数量', '単価', '金額', '税率', '担当', '更新日', '備考'];

type Cell = { text: string } | { number: number; style?: number };

/** Ids, dates, texts of low and high cardinality, decimals, integers; the same on every run. */
function makeRow(n: number): Cell[] {
  const quantity = (n * 7919) % 500;
  const price = ((n * 104_729) % 99_999) / 100;
  return [
    { number: 1_000_000 + n },
    { number: 43_831 + (n % 1800), style: 1 },
    { text: `株式会社 顧客${(n * 31) % 20_000}` },
    { text: `商品-${String((n * 17) % 3000).padStart(5, '0')}` },
    { text: ['北海道', '東北', '関東', '中部', '近畿', '中国', '四国', '九州'][n % 8] ?? '' },
    { number: quantity },
    { number: price },
    { number: Math.round(quantity * price), style: 2 },
    { number: n % 3 === 0 ? 0.08 : 0.1, style: 3 },
    { text: `担当${n % 200}` },
    { number: 43_831 + (n % 1800) + (n % 1440) / 1440, style: 4 },
    { text: n % 20 === 0 ? `note ${n} & more` : `note ${n}` },
  ];
}

export async function makeXlsx(path: string, rows: number): Promise<void> {
  const strings = new Map<string, number>();
  const share = (text: string): number => {
    const known = strings.get(text);
    if (known !== undefined) return known;
    strings.set(text, strings.size);
    return strings.size - 1;
  };
  function* writeSheet(): Generator<string> {
    yield `${HEADER}<worksheet ${MAIN}><dimension ref="A1:${nameColumn(columns.length)}${rows + 1}"/><sheetData>`;
    for (let row = 1; row <= rows + 1; row += 1) {
      const cells: Cell[] = row === 1 ? columns.map((text) => ({ text })) : makeRow(row - 2);
      const xml = cells.map((cell, i) => {
        const at = `r="${nameColumn(i + 1)}${row}"`;
        if ('text' in cell) return `<c ${at} t="s"><v>${share(cell.text)}</v></c>`;
        return `<c ${at}${cell.style === undefined ? '' : ` s="${cell.style}"`}><v>${cell.number}</v></c>`;
      });
      yield `<row r="${row}" spans="1:${columns.length}">${xml.join('')}</row>`;
    }
    yield '</sheetData></worksheet>';
  }
  function* writeStrings(): Generator<string> {
    yield `${HEADER}<sst ${MAIN} uniqueCount="${strings.size}">`;
    for (const text of strings.keys()) yield `<si><t>${text.replaceAll('&', '&amp;')}</t></si>`;
    yield '</sst>';
  }
  const relation = (id: string, type: string, target: string) => `<Relationship Id="${id}" Type="${OFFICE}/${type}" Target="${target}"/>`;
  const override = (part: string, type: string) =>
    `<Override PartName="/xl/${part}.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.${type}+xml"/>`;
  const formats = ['yyyy\\-mm\\-dd', '#,##0', '0.0%', 'yyyy/mm/dd\\ hh:mm'];
  await writeZip(path, [
    [
      '[Content_Types].xml',
      [
        `${HEADER}<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>${override('workbook', 'sheet.main')}${override('worksheets/sheet1', 'worksheet')}${override('styles', 'styles')}${override('sharedStrings', 'sharedStrings')}</Types>`,
      ],
    ],
    [
      '_rels/.rels',
      [`${HEADER}<Relationships xmlns="${PACKAGE}/relationships">${relation('r1', 'officeDocument', 'xl/workbook.xml')}</Relationships>`],
    ],
    [
      'xl/_rels/workbook.xml.rels',
      [
        `${HEADER}<Relationships xmlns="${PACKAGE}/relationships">${relation('r1', 'worksheet', 'worksheets/sheet1.xml')}${relation('r2', 'styles', 'styles.xml')}${relation('r3', 'sharedStrings', 'sharedStrings.xml')}</Relationships>`,
      ],
    ],
    [
      'xl/workbook.xml',
      [`${HEADER}<workbook ${MAIN} xmlns:r="${OFFICE}"><sheets><sheet name="${sheetName}" sheetId="1" r:id="r1"/></sheets></workbook>`],
    ],
    [
      'xl/styles.xml',
      [
        `${HEADER}<styleSheet ${MAIN}><numFmts count="${formats.length}">${formats.map((code, i) => `<numFmt numFmtId="${164 + i}" formatCode="${code}"/>`).join('')}</numFmts><fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts><fills count="1"><fill><patternFill patternType="none"/></fill></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf numFmtId="0"/></cellStyleXfs><cellXfs count="${formats.length + 1}"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/>${formats.map((_, i) => `<xf numFmtId="${164 + i}" fontId="0" fillId="0" borderId="0" applyNumberFormat="1"/>`).join('')}</cellXfs></styleSheet>`,
      ],
    ],
    ['xl/worksheets/sheet1.xml', writeSheet()],
    ['xl/sharedStrings.xml', writeStrings()],
  ]);
}

/** Goes back to write the sizes in front of the data: some readers do not find them behind it. */
async function writeZip(path: string, parts: [name: string, text: Iterable<string>][]): Promise<void> {
  const file = await open(path, 'w');
  const directory: Buffer[] = [];
  let offset = 0;
  try {
    for (const [name, text] of parts) {
      const start = offset;
      const head = Buffer.alloc(30 + Buffer.byteLength(name));
      offset += head.length;
      const part = { crc: 0, packed: 0, size: 0 };
      const count = new Transform({
        transform(piece: Buffer, _, done) {
          part.packed += piece.length;
          done(null, piece);
        },
      });
      await pipeline(
        Readable.from(gather(text, part)),
        createDeflateRaw({ level: 6 }),
        count,
        createWriteStream(path, { flags: 'r+', start: offset }),
      );
      offset += part.packed;
      head.writeUInt32LE(0x04034b50, 0);
      writeFacts(head, 4, name, part);
      head.write(name, 30);
      await file.write(head, 0, head.length, start);
      const entry = Buffer.alloc(46 + Buffer.byteLength(name));
      entry.writeUInt32LE(0x02014b50, 0);
      entry.writeUInt16LE(20, 4);
      writeFacts(entry, 6, name, part);
      entry.writeUInt32LE(start, 42);
      entry.write(name, 46);
      directory.push(entry);
    }
    const size = directory.reduce((sum, entry) => sum + entry.length, 0);
    const end = Buffer.alloc(22);
    end.writeUInt32LE(0x06054b50, 0);
    end.writeUInt16LE(parts.length, 8);
    end.writeUInt16LE(parts.length, 10);
    end.writeUInt32LE(size, 12);
    end.writeUInt32LE(offset, 16);
    const tail = Buffer.concat([...directory, end]);
    await file.write(tail, 0, tail.length, offset);
  } finally {
    await file.close();
  }
}

function writeFacts(head: Buffer, at: number, name: string, part: { crc: number; packed: number; size: number }): void {
  head.writeUInt16LE(20, at);
  head.writeUInt16LE(0x800, at + 2);
  head.writeUInt16LE(8, at + 4);
  head.writeUInt32LE(0x00210000, at + 6);
  head.writeUInt32LE(part.crc, at + 10);
  head.writeUInt32LE(part.packed, at + 14);
  head.writeUInt32LE(part.size, at + 18);
  head.writeUInt16LE(Buffer.byteLength(name), at + 22);
}

function* gather(text: Iterable<string>, part: { crc: number; size: number }): Generator<Buffer> {
  let held: string[] = [];
  let length = 0;
  const take = (): Buffer => {
    const piece = Buffer.from(held.join(''));
    part.crc = crc32(piece, part.crc);
    part.size += piece.length;
    held = [];
    length = 0;
    return piece;
  };
  for (const line of text) {
    held.push(line);
    length += line.length;
    if (length > 256 * 1024) yield take();
  }
  yield take();
}
