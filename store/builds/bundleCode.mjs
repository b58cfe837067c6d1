// @ts-check
import { basename } from 'node:path';
import { projectDir } from '../projectDir.mjs';

/**
 * Bundles programs into one file each, which start much faster than hundreds of files that are compiled on the way.
 *
 * @param {object} options
 * @param {Record<string, string>} options.entries Files of the project by the name of their program.
 * @param {string[]} options.sources Where code of the project may come from; the build is made anew when one of these changes.
 * @param {Partial<import('esbuild').BuildOptions>} options.settings
 * @returns {Promise<Record<string, Uint8Array>>}
 */
export async function bundleCode({ entries, sources, settings }) {
  // Loaded only where something is to be bundled.
  const { buildSync } = await import('esbuild');
  // The synchronous form leaves no process behind.
  const { outputFiles, metafile } = buildSync({
    absWorkingDir: projectDir,
    entryPoints: entries,
    // As deep as builds are kept, so that the source maps find the sources.
    outdir: 'build/bundle',
    outExtension: { '.js': '.mjs' },
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'silent',
    // Some packages have a main file that cannot be bundled, because it hides what it requires.
    mainFields: ['module', 'main'],
    // Packages written for CommonJS call `require`, also for modules of Node itself.
    banner: { js: "import{createRequire as makeRequire}from'node:module';const require=makeRequire(import.meta.url);" },
    ...settings,
  });
  const isKnown = (/** @type {string} */ path) =>
    path.includes('node_modules/') || sources.some((each) => `${path}/`.startsWith(`${each}/`));
  const unknown = Object.keys(metafile?.inputs ?? {}).filter((path) => !isKnown(path));
  if (unknown.length > 0)
    throw new Error(`${Object.keys(entries).join(', ')}: ${unknown.join(', ')} must be among the sources of the bundle`);
  return Object.fromEntries((outputFiles ?? []).map(({ path, contents }) => [basename(path), contents]));
}
