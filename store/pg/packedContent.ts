import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants } from 'node:zlib';
import type { results } from '../../schema/index.ts';

/**
 * Rows of JSON that are stored take a sixth when they are packed. PostgreSQL cuts long values into pieces of 2 kB: to write, remove
 * and clean up after those takes several times as long as packing.
 */
const leastBytes = 16_384;
/** The first that finds what repeats at some distance, as the names of columns do. */
const quality = 1;
/** 256 kB: memory for more would be cleared for each. */
const windowBits = 18;

const [compress, decompress] = [promisify(brotliCompress), promisify(brotliDecompress)];

type Content = Pick<typeof results.$inferSelect, 'content' | 'contentForm'>;

/** As it is stored. */
export async function packContent<C extends Content>(result: C): Promise<C> {
  const { content, contentForm } = result;
  if (content === null || contentForm !== 'rows' || content.length < leastBytes) return result;
  const params = { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_LGWIN]: windowBits };
  return { ...result, content: await compress(content, { params }), contentForm: 'packed' };
}

/** As it was, with its content or without. */
export async function unpackContent<C extends Content>(result: C): Promise<C & { contentForm: 'file' | 'rows' }> {
  const { content, contentForm } = result;
  if (contentForm !== 'packed') return { ...result, contentForm };
  return { ...result, content: content && (await decompress(content)), contentForm: 'rows' };
}
