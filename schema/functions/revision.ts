/**
 * Raise the number whenever a function changes. A process of an older revision that starts later then leaves the newer functions
 * alone. The hash is that of all files; a test says what it must be.
 */
export const functionsRevision = { number: 1, hash: 'a38adec8fb768e1dedb6cee4921cbe31c7bd42fc3b6c182ad2e9627982a88e95' };

/**
 * Functions that have no file any more, by signature. Processes of the version before may still call them: on a database that
 * was in use they are dropped at the first start a day later. A function that gets other parameters or another result is a new
 * one, and its old signature goes here.
 */
export const retiredFunctions = ['svc_chain_valid(text, bytea, bytea)', 'svc_reserve_rows(text, bigint)'];
