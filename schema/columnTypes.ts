import { bigint, customType, timestamp } from 'drizzle-orm/pg-core';

export const bytea = customType<{ data: Buffer }>({ dataType: () => 'bytea' });

/** A time in milliseconds, which JavaScript's dates hold exactly. */
export const at = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: 'date' });

/** A bigint that never exceeds what a JavaScript number holds exactly. */
export const count = (name: string) => bigint(name, { mode: 'number' });
