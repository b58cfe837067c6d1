export * from './eras.js';
export * from './period.js';
