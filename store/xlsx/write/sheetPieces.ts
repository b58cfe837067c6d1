import { XmlBuffer } from './xmlBuffer.ts';
import type { ZipEntryWriter } from './zipWriter.ts';

/** How much XML is given to the compressor at a time. */
const pieceBytes = 256 * 1024;

/** The XML of a sheet on its way into the file. */
export class SheetPieces {
  out = new XmlBuffer();
  /** What the compressor may still be reading. */
  private given = new XmlBuffer();

  constructor(private readonly entry: ZipEntryWriter) {}

  /** After each change of `out`, which may be another buffer then. */
  async handOnIfFull(): Promise<void> {
    if (this.out.length >= pieceBytes) await this.handOn();
  }

  async end(): Promise<void> {
    await this.handOn();
    await this.entry.end();
  }

  private async handOn(): Promise<void> {
    const full = this.out;
    // The piece before has been read when this one is taken.
    await this.entry.write(full.view());
    this.out = this.given;
    this.out.clear();
    this.given = full;
  }
}
