import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectDir } from '../../store/config.ts';
import { findUnsafeStatements } from './unsafeStatements.ts';

/** A migration is applied while processes of the release before still run: docs/adding.md, "A table". */

const folder = join(projectDir, 'schema/migrations');
/** Those before it were written before there was this rule. */
const firstHeld = 39;
const migrations = readdirSync(folder)
  .filter((name) => name.endsWith('.sql') && Number.parseInt(name, 10) >= firstHeld)
  .sort();

it('migrations are safe while processes of the release before run', () => {
  const unsafe = migrations.flatMap((name) =>
    findUnsafeStatements(readFileSync(join(folder, name), 'utf8')).map((statement) => `${name}: ${statement}`),
  );
  expect(unsafe).toEqual([]);
});

describe('what is not safe is found', () => {
  it.each([
    ['DROP TABLE "things";', 1],
    ['ALTER TABLE "things" DROP COLUMN "size";', 1],
    ['ALTER TABLE "things" RENAME COLUMN "size" TO "bytes";', 1],
    ['ALTER TABLE "things" ALTER COLUMN "size" SET DATA TYPE bigint;', 1],
    ['ALTER TABLE "things" ALTER COLUMN "size" SET NOT NULL;', 1],
    ['ALTER TABLE "things" ALTER COLUMN "size" DROP DEFAULT;', 1],
    ['ALTER TABLE "things" ADD COLUMN "size" bigint NOT NULL;', 1],
    ['ALTER TABLE "things" ADD CONSTRAINT "sized" CHECK (size > 0);', 1],
    ['CREATE UNIQUE INDEX "one" ON "things" USING btree ("name");', 1],
    ['CREATE INDEX "by_name" ON "things" USING btree ("name");', 1],
    ['DROP FUNCTION svc_thing(text);', 1],
    ['ALTER TABLE "things" ADD COLUMN "size" bigint DEFAULT 0 NOT NULL;', 0],
    ['ALTER TABLE "things" ADD COLUMN "size" bigint;', 0],
    ['ALTER TABLE "things" ALTER COLUMN "size" DROP NOT NULL;', 0],
    ["CALL svc_wall_off('things', 'svc_may_touch(account_id)');", 0],
    ['CREATE TABLE "things" ("id" text PRIMARY KEY NOT NULL);--> statement-breakpoint\nCREATE UNIQUE INDEX "one" ON "things" ("name");', 0],
    [
      'CREATE TABLE "a" ("id" text NOT NULL);--> statement-breakpoint\nALTER TABLE "a" ADD CONSTRAINT "b" FOREIGN KEY ("id") REFERENCES "c"("id");',
      0,
    ],
    ['-- Safe while the release before runs: nothing has used it since 0.1.0.\nALTER TABLE "things" DROP COLUMN "size";', 0],
    ['-- Safe while the release before runs:\nALTER TABLE "things" DROP COLUMN "size";', 1],
    ['-- DROP TABLE in a comment\nSELECT 1;', 0],
  ])('%s: %i', (text, count) => expect(findUnsafeStatements(text)).toHaveLength(count));
});
