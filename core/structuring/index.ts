export { analyze } from './analyze.js';
export { build } from './build.js';
export * from './output.js';
export * from './spec.js';
export { describeSheets, type SheetLine } from './describe.js';
