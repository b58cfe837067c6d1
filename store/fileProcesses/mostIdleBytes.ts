/** The memory that a process may have after a file to serve a further one: what it has freed is not always given back. */
export const mostIdleBytes = 400 * 1024 * 1024;
