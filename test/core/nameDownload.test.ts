import { expect, it } from 'vitest';
import { nameDownload } from '../../core/outbound/nameDownload.ts';

const latin1 = (text: string) => Buffer.from(text).toString('latin1');

it.each([
  ['https://example.com/%E7%B5%B1%E8%A8%88.csv', undefined, undefined, '', '統計.csv'],
  ['https://example.com/a/b.XLSX?download=1#x', undefined, undefined, '', 'b.XLSX'],
  ['https://example.com/export?format=csv', undefined, 'text/csv; charset=utf-8', '', 'export.csv'],
  ['https://example.com/export', undefined, 'application/octet-stream', 'PK\x03\x04', 'export.xlsx'],
  ['https://example.com/export', undefined, undefined, 'PAR1', 'export.parquet'],
  ['https://example.com/export', undefined, 'Application/JSON', '[1]', 'export.json'],
  // What it is by its bytes is surer than what it is said to be.
  ['https://example.com/data.php', undefined, 'text/csv', 'PK\x03\x04', 'data.php.xlsx'],
  ['https://example.com/report.2024', undefined, 'text/tab-separated-values', '', 'report.2024.tsv'],
  ['https://example.com/page', undefined, 'text/html', '<html', 'page'],
  ['https://example.com/', undefined, 'text/csv', '', 'example.com.csv'],
  ['https://example.com/%E7%.csv', undefined, undefined, '', '%E7%.csv'],
  ['https://example.com/x', 'attachment; filename="sales.csv"', undefined, '', 'sales.csv'],
  ['https://example.com/x', "attachment; filename=a.csv; filename*=UTF-8''%E5%A3%B2%E4%B8%8A.csv", undefined, '', '売上.csv'],
  ['https://example.com/x', `attachment; filename="${latin1('売上.csv')}"`, undefined, '', '売上.csv'],
  ['https://example.com/x', 'attachment; filename="caf\xe9.csv"', undefined, '', 'café.csv'],
  ['https://example.com/x.csv', 'inline', undefined, '', 'x.csv'],
  ['https://example.com/x.csv', '"; broken', undefined, '', 'x.csv'],
  ['https://example.com/x.csv', 'attachment; filename=""', undefined, '', 'x.csv'],
])('%s, %s, %s, %j is named', (url, disposition, contentType, head, name) => {
  expect(nameDownload({ url: new URL(url), disposition, contentType, head: Buffer.from(head, 'latin1') })).toBe(name);
});
