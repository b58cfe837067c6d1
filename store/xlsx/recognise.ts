/** Tells workbooks from other files that people upload, so that the refusal can say what to do. */

import { DomainError } from '../../core/errors.ts';
import type { ByteSource } from './byteSource.ts';
import { refuseFormat } from './fileRefusals.ts';
import { partKey, type ZipIndex } from './zip.ts';

const CFB_SIGNATURE = Buffer.from('d0cf11e0a1b11ae1', 'hex');

/** Passes for a zip archive; refuses everything else with advice. */
export async function checkIsZip(source: ByteSource): Promise<void> {
  if (source.size === 0) throw new DomainError('validation-failed', 'The file is empty.', 'Send a file with content.');
  const head = await source.read(0, 512);
  if (head.subarray(0, 8).equals(CFB_SIGNATURE)) throw await refuseCompound(source);
  const signature = head.length >= 4 ? head.readUInt32LE(0) : 0;
  if (signature === 0x04034b50 || signature === 0x06054b50) return;
  // An archive may have other bytes in front; then its end is still an archive's end.
  const tail = await source.read(Math.max(0, source.size - 22), 22);
  if (tail.length === 22 && tail.readUInt32LE(0) === 0x06054b50) return;
  throw refuseOther(head);
}

/** The container of Office 97 to 2003, and of every workbook with a password. */
async function refuseCompound(source: ByteSource): Promise<Error> {
  const found = await findFirst(source, [
    Buffer.from('EncryptedPackage', 'utf16le'),
    Buffer.from('Workbook\0', 'utf16le'),
    Buffer.from('Book\0', 'utf16le'),
  ]);
  if (found === 0)
    return refuseFormat(
      'The workbook is protected by a password.',
      'In Excel: File, Info, Protect Workbook, Encrypt with Password; clear the password, save and send it again.',
    );
  if (found > 0) return refuseFormat('The file is a workbook of Excel 97–2003 (.xls).');
  return refuseFormat('The file is an Office document of an old format, not a workbook.');
}

async function findFirst(source: ByteSource, needles: Buffer[]): Promise<number> {
  const step = 1024 * 1024;
  const found = new Set<number>();
  for (let offset = 0; offset < source.size && !found.has(0); offset += step) {
    const window = await source.read(offset, step + 64);
    needles.forEach((needle, i) => {
      if (window.includes(needle)) found.add(i);
    });
  }
  return found.size === 0 ? -1 : Math.min(...found);
}

function refuseOther(head: Buffer): Error {
  const text = head
    .toString('latin1')
    .replace(/^\u00ef\u00bb\u00bf/, '')
    .trimStart()
    .toLowerCase();
  if (text.startsWith('%pdf')) return refuseFormat('The file is a PDF.', 'Send the workbook it was made from.');
  if (text.startsWith('<')) return refuseFormat('The file is a web page or XML under the name of a workbook.');
  const isText = !head.includes(0) && head.length > 0;
  if (isText) return refuseFormat('The file is text, not a workbook.', 'Send it with the extension .csv or .tsv.');
  return refuseFormat('The file is not an Excel workbook.');
}

/** A zip archive without a workbook part. */
export function refusePackage(index: ZipIndex): Error {
  const has = (name: string): boolean => index.has(partKey(name));
  if (has('xl/workbook.bin')) return refuseFormat('The file is a binary workbook (.xlsb).');
  if (has('mimetype') || has('META-INF/manifest.xml'))
    return refuseFormat(
      'The file is an OpenDocument spreadsheet (.ods).',
      'Open the file in LibreOffice or Excel, save it as .xlsx and send that.',
    );
  if (has('Index/Document.iwa') || has('Index.zip'))
    return refuseFormat('The file is a Numbers spreadsheet.', 'In Numbers: File, Export To, Excel; send the .xlsx.');
  if (has('word/document.xml') || has('ppt/presentation.xml')) return refuseFormat('The file is an Office document without sheets.');
  return refuseFormat('The file is a zip archive, not an Excel workbook.', 'Unpack it and send the workbook inside.');
}
