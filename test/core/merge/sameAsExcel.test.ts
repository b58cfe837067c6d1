import { describe, expect, it } from 'vitest';
import { type ColumnType, parseColumnType } from '../../../core/cells/columnTypes.ts';
import { readFileCell } from '../../../core/merge/fileCell.ts';
import { sameAsExcel } from '../../../core/merge/sameAsExcel.ts';
import type { CellValue } from '../../../core/types/infer.ts';

const text = (value: string): CellValue => ({ kind: 'text', text: value });
const number = (value: number, numberFormat = 'General'): CellValue => ({ kind: 'number', number: value, numberFormat });
const boolean = (value: boolean): CellValue => ({ kind: 'boolean', boolean: value });
const date = (iso: string): CellValue => ({ kind: 'date', iso, hasTime: iso.length > 10, timeOnly: false });
const time = (clock: string): CellValue => ({ kind: 'date', iso: `1899-12-31T${clock}`, hasTime: true, timeOnly: true });

function compare(type: string, stored: string | null, value: CellValue | null, isLoose = false): boolean {
  const parsed = parseColumnType(type) as ColumnType;
  return sameAsExcel(parsed, stored, readFileCell(parsed, value, isLoose));
}

type Case = [what: string, type: string, stored: string | null, value: CellValue | null];

const notEdited: Case[] = [
  ['the same text', 'VARCHAR', 'a', text('a')],
  ['an empty text as a blank cell', 'VARCHAR', '', null],
  ['nothing as an empty text', 'VARCHAR', null, text('')],
  ['nothing as blanks', 'VARCHAR', null, text('  ')],
  ['trailing blanks dropped', 'VARCHAR', 'Tokyo  ', text('Tokyo')],
  ['trailing blanks of Japanese text dropped', 'VARCHAR', '東京\u3000', text('東京')],
  ['line ends of Windows', 'VARCHAR', 'a\r\nb', text('a\nb')],
  ['an escaped carriage return', 'VARCHAR', 'a\r\nb', text('a_x000D_\nb')],
  ['leading zeros lost', 'VARCHAR', '007', number(7)],
  ['leading zeros shown by a format', 'VARCHAR', '007', number(7, '000')],
  ['more than 15 digits of a code', 'VARCHAR', '4988012345678901234', number(4988012345678900000)],
  ['a text with a decimal zero', 'VARCHAR', '1.50', number(1.5)],
  ['a text with separators', 'VARCHAR', '1,234', number(1234)],
  ['a text with an exponent', 'VARCHAR', '1E5', number(100_000)],
  ['a percent text', 'VARCHAR', '12%', number(0.12, '0%')],
  ['a percent text without a format', 'VARCHAR', '12%', number(0.12)],
  ['a text of a day as a date', 'VARCHAR', '2024/4/1', date('2024-04-01')],
  ['a text of a day as its serial number', 'VARCHAR', '2024-04-01', number(45_383)],
  ['a text of day and time', 'VARCHAR', '2024-04-01 09:30', date('2024-04-01T09:30:00')],
  ['a text of a time', 'VARCHAR', '9:30', time('09:30:00')],
  ['a truth as a text', 'VARCHAR', 'true', boolean(true)],
  ['a whole number', 'BIGINT', '12', number(12)],
  ['a long whole number rounded to 15 digits', 'BIGINT', '1234567890123456789', number(1234567890123460000)],
  ['a long whole number cut off after 15 digits', 'BIGINT', '1234567890123456789', number(1234567890123450000)],
  ['a long code cut off after 15 digits', 'VARCHAR', '4988012345678999', number(4988012345678990)],
  ['a time just before midnight', 'TIME', '23:59:59.999999', date('1900-01-01T00:00:00')],
  ['a long whole number as text', 'BIGINT', '1234567890123456789', text('1234567890123456789')],
  ['a number typed as text', 'BIGINT', '1234', text('1,234')],
  ['a decimal without its zeros', 'DECIMAL(10,2)', '1.50', number(1.5)],
  ['a decimal of 18 digits', 'DECIMAL(18,2)', '1234567890123456.78', number(1234567890123460)],
  ['a share as a percentage', 'DOUBLE', '0.125', number(0.125, '0.0%')],
  ['a share as the text of a percentage', 'DOUBLE', '0.125', text('12.5%')],
  ['a double with noise in its last digits', 'DOUBLE', '0.30000000000000004', number(0.3)],
  ['a number that no file holds', 'DOUBLE', 'nan', null],
  ['a truth', 'BOOLEAN', 'true', boolean(true)],
  ['a truth as a number', 'BOOLEAN', 'false', number(0)],
  ['a truth as text', 'BOOLEAN', 'true', text('TRUE')],
  ['a day', 'DATE', '2024-04-01', date('2024-04-01')],
  ['a day as its serial number', 'DATE', '2024-04-01', number(45_383)],
  ['an early day as its serial number', 'DATE', '1900-01-01', number(1)],
  ['a day before 1900, which is text', 'DATE', '1868-10-23', text('1868-10-23')],
  ['a day written with slashes', 'DATE', '2024-04-01', text('2024/4/1')],
  ['a moment', 'TIMESTAMP', '2024-04-01 09:30:00', date('2024-04-01T09:30:00')],
  ['a moment as its serial number', 'TIMESTAMP', '2024-04-01 12:00:00', number(45_383.5)],
  ['a moment without its microseconds', 'TIMESTAMP', '2024-04-01 09:30:00.123456', date('2024-04-01T09:30:00')],
  ['a moment at midnight', 'TIMESTAMP', '2024-04-01 00:00:00', date('2024-04-01')],
  ['a time', 'TIME', '09:30:00', time('09:30:00')],
  ['a time as a part of a day', 'TIME', '18:00:00', number(0.75)],
  ['a JSON text', 'JSON', '{"a":1}', text('{"a":1}')],
];

const edited: Case[] = [
  ['another text', 'VARCHAR', 'a', text('b')],
  ['a code cut by hand', 'VARCHAR', '007', text('7')],
  ['another number', 'VARCHAR', '007', number(8)],
  ['a unit that no spreadsheet reads', 'VARCHAR', '3千円', number(3000)],
  ['blanks before', 'VARCHAR', 'a', text(' a')],
  ['a cleared text', 'VARCHAR', 'a', null],
  ['a filled cell', 'VARCHAR', null, text('a')],
  ['another truth', 'VARCHAR', 'true', boolean(false)],
  ['another number of a column', 'BIGINT', '12', number(13)],
  ['a long number with another of its 15 digits', 'BIGINT', '1234567890123456789', number(1234567890123560000)],
  ['a cleared number', 'BIGINT', '0', null],
  ['another share', 'DOUBLE', '0.12', number(0.13, '0%')],
  ['another truth of a column', 'BOOLEAN', 'true', boolean(false)],
  ['the next day', 'DATE', '2024-04-01', date('2024-04-02')],
  ['the next day as its serial number', 'DATE', '2024-04-01', number(45_384)],
  ['another second', 'TIMESTAMP', '2024-04-01 09:30:00', date('2024-04-01T09:30:01')],
  ['the minute without its seconds', 'TIMESTAMP', '2024-04-01 09:30:15', date('2024-04-01T09:30:00')],
  ['another time', 'TIME', '09:30:00', time('09:31:00')],
  ['an error', 'BIGINT', '12', { kind: 'error', text: '#REF!' }],
];

describe('what a spreadsheet makes of a value', () => {
  it.each(notEdited)('is no edit: %s', (_, type, stored, value) => expect(compare(type, stored, value)).toBe(true));

  it.each(edited)('is told from an edit: %s', (_, type, stored, value) => expect(compare(type, stored, value)).toBe(false));
});

const csvNotEdited: [what: string, type: string, stored: string | null, value: string][] = [
  ['leading zeros lost', 'VARCHAR', '007', '7'],
  ['the digits that are shown of a long code', 'VARCHAR', '4988012345678901234', '4.98801E+18'],
  ['a guard before what could be run', 'VARCHAR', '=1+1', "'=1+1"],
  ['an apostrophe that belongs to the text', 'VARCHAR', "'=1+1", "'=1+1"],
  ['a date in the form of the country', 'VARCHAR', '2024-04-01', '4/1/2024'],
  ['a truth in capitals', 'VARCHAR', 'true', 'TRUE'],
  ['a truth of a column', 'BOOLEAN', 'true', 'TRUE'],
  ['the digits that are shown of a double', 'DOUBLE', '0.1234567891234', '0.123456789'],
  ['a day in the form of the country', 'DATE', '2024-04-01', '4/1/2024'],
  ['a moment without its seconds', 'TIMESTAMP', '2024-04-01 09:30:15', '2024/4/1 9:30'],
  ['a long whole number', 'BIGINT', '1234567890123456789', '1.23457E+18'],
];

describe('a csv file saved by a spreadsheet', () => {
  it.each(csvNotEdited)('holds no edit: %s', (_, type, stored, value) => expect(compare(type, stored, text(value), true)).toBe(true));

  it.each([
    ['another number', 'VARCHAR', '007', '8'],
    ['fewer digits than are shown', 'DOUBLE', '0.1234567', '0.12'],
    ['another day', 'DATE', '2024-04-01', '4/2/2024'],
    ['another minute', 'TIMESTAMP', '2024-04-01 09:30:15', '2024/4/1 9:31'],
  ])('holds an edit: %s', (_, type, stored, value) => expect(compare(type, stored, text(value), true)).toBe(false));
});
