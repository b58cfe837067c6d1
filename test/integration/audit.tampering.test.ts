import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeWorkbook } from '../setup/credentials.ts';
import { startAudit } from './journal.ts';

/** The chain of the journal says so when somebody has been at the tables. */

const { api, owner, accountId, readLog, isValid, rename, isChainValid, isAccountValid } = await startAudit();
afterAll(() => api.stop());

describe('chain_valid: tampering by SQL', () => {
  let id: string;
  let other: string;
  let early: Record<string, unknown>;

  beforeAll(async () => {
    id = await makeWorkbook(owner.client, 'Tampered with');
    other = await makeWorkbook(owner.client, 'Another');
    await rename(other, 'Another one');
    for (let i = 0; i < 3; i++) await rename(id, `Tampered with ${i}`);
    [early] = (await api.sql.query('SELECT * FROM heads WHERE scope = $1', [id])).rows as [Record<string, unknown>];
    for (let i = 0; i < 2; i++) await rename(id, `Tampered with again ${i}`);
    await api.sql.query(
      'CREATE TABLE saved_entries AS SELECT * FROM audit_entries WHERE scope IN ($1, $2)'
        .replace('$1', `'${id}'`)
        .replace('$2', `'${other}'`),
    );
    await api.sql.query(`CREATE TABLE saved_heads AS SELECT * FROM heads WHERE scope IN ('${id}', '${other}')`);
  });

  async function restore(): Promise<void> {
    await api.sql.query(
      'BEGIN; DELETE FROM audit_entries WHERE scope IN (SELECT scope FROM saved_heads); DELETE FROM heads WHERE scope IN (SELECT scope FROM saved_heads); INSERT INTO audit_entries SELECT * FROM saved_entries; INSERT INTO heads SELECT * FROM saved_heads; COMMIT',
    );
  }

  /** `:id` and `:other` stand for the two workbooks. */
  const entries: [string, string][] = [
    ['its time', "UPDATE audit_entries SET at = at + interval '1 millisecond' WHERE scope = :id AND seq = 3"],
    ['its actor', "UPDATE audit_entries SET actor = 'Somebody' WHERE scope = :id AND seq = 3"],
    ['its user', "UPDATE audit_entries SET user_id = 'usr_other' WHERE scope = :id AND seq = 3"],
    ['its user, to none', 'UPDATE audit_entries SET user_id = NULL WHERE scope = :id AND seq = 3'],
    ['its credential', "UPDATE audit_entries SET credential = 'none' WHERE scope = :id AND seq = 3"],
    ['its action', "UPDATE audit_entries SET action = 'workbook.read' WHERE scope = :id AND seq = 3"],
    ['its target', 'UPDATE audit_entries SET target = :other WHERE scope = :id AND seq = 3'],
    ['its detail', 'UPDATE audit_entries SET detail = detail || \'{"more": 1}\' WHERE scope = :id AND seq = 3'],
    ['its detail, emptied', "UPDATE audit_entries SET detail = '{}' WHERE scope = :id AND seq = 3"],
    ['its request', "UPDATE audit_entries SET request_id = 'req_other' WHERE scope = :id AND seq = 3"],
    ['its hash', 'UPDATE audit_entries SET hash = sha256(hash) WHERE scope = :id AND seq = 3'],
    ['its number', 'UPDATE audit_entries SET seq = 7 WHERE scope = :id AND seq = 6'],
    ['its workbook', 'UPDATE audit_entries SET scope = :other, seq = 3 WHERE scope = :id AND seq = 6'],
    ['actor and credential swapped', 'UPDATE audit_entries SET actor = credential, credential = actor WHERE scope = :id AND seq = 3'],
  ];
  const removals: [string, string][] = [
    ['the first', 'DELETE FROM audit_entries WHERE scope = :id AND seq = 1'],
    ['one in the middle', 'DELETE FROM audit_entries WHERE scope = :id AND seq = 3'],
    [
      'one in the middle, the others moved up',
      'DELETE FROM audit_entries WHERE scope = :id AND seq = 3; UPDATE audit_entries SET seq = seq - 1 WHERE scope = :id AND seq > 3; UPDATE heads SET audit_seq = 5 WHERE scope = :id',
    ],
    ['the last', 'DELETE FROM audit_entries WHERE scope = :id AND seq = 6'],
    ['all', 'DELETE FROM audit_entries WHERE scope = :id'],
    [
      'the last, and the head’s number with it',
      'DELETE FROM audit_entries WHERE scope = :id AND seq = 6; UPDATE heads SET audit_seq = 5 WHERE scope = :id',
    ],
    [
      'the last, and the head adjusted to the one before',
      'DELETE FROM audit_entries WHERE scope = :id AND seq = 6; UPDATE heads SET audit_seq = 5, chain_hash = (SELECT hash FROM audit_entries WHERE scope = :id AND seq = 5) WHERE scope = :id',
    ],
    [
      'all, and the head set to the beginning',
      'DELETE FROM audit_entries WHERE scope = :id; UPDATE heads SET audit_seq = 0, chain_hash = (SELECT chain_hash FROM saved_heads WHERE scope = :id) WHERE scope = :id',
    ],
  ];
  const orders: [string, string][] = [
    [
      'two entries swapped',
      'UPDATE audit_entries SET seq = -3 WHERE scope = :id AND seq = 3; UPDATE audit_entries SET seq = 3 WHERE scope = :id AND seq = 4; UPDATE audit_entries SET seq = 4 WHERE scope = :id AND seq = -3',
    ],
    [
      'the contents of two swapped, their hashes left',
      'UPDATE audit_entries e SET at = o.at, detail = o.detail, request_id = o.request_id FROM saved_entries o WHERE e.scope = :id AND o.scope = :id AND e.seq IN (3, 4) AND o.seq = 7 - e.seq',
    ],
    [
      'the order turned round',
      'UPDATE audit_entries SET seq = -seq WHERE scope = :id; UPDATE audit_entries SET seq = 7 + seq WHERE scope = :id',
    ],
  ];
  const columns = 'scope, seq, at, actor, user_id, credential, action, target, detail, request_id, hash';
  const insertions: [string, string][] = [
    [
      'at the end',
      `INSERT INTO audit_entries SELECT scope, 7, at, actor, user_id, credential, 'forged', target, detail, request_id, sha256(hash) FROM audit_entries WHERE scope = :id AND seq = 6`,
    ],
    [
      'at the end, and the head moved on',
      `INSERT INTO audit_entries SELECT scope, 7, at, actor, user_id, credential, 'forged', target, detail, request_id, sha256(hash) FROM audit_entries WHERE scope = :id AND seq = 6; UPDATE heads SET audit_seq = 7, chain_hash = (SELECT hash FROM audit_entries WHERE scope = :id AND seq = 7) WHERE scope = :id`,
    ],
    [
      'at the beginning',
      `INSERT INTO audit_entries SELECT scope, 0, at, actor, user_id, credential, 'forged', target, detail, request_id, sha256(hash) FROM audit_entries WHERE scope = :id AND seq = 1`,
    ],
    [
      'in the middle, the others moved on',
      `UPDATE audit_entries SET seq = -seq - 1 WHERE scope = :id AND seq > 3; UPDATE audit_entries SET seq = -seq WHERE scope = :id AND seq < 0; INSERT INTO audit_entries (${columns}) SELECT scope, 4, at, actor, user_id, credential, 'forged', target, detail, request_id, hash FROM audit_entries WHERE scope = :id AND seq = 3; UPDATE heads SET audit_seq = 7 WHERE scope = :id`,
    ],
    [
      'again, the last one',
      `INSERT INTO audit_entries SELECT scope, 7, at, actor, user_id, credential, action, target, detail, request_id, hash FROM audit_entries WHERE scope = :id AND seq = 6`,
    ],
  ];
  const headChanges: [string, string][] = [
    ['deleted', 'DELETE FROM heads WHERE scope = :id'],
    ['with another number', 'UPDATE heads SET audit_seq = audit_seq + 1 WHERE scope = :id'],
    ['with another hash', 'UPDATE heads SET chain_hash = sha256(chain_hash) WHERE scope = :id'],
    ['with another seal', 'UPDATE heads SET seal = sha256(seal) WHERE scope = :id'],
    [
      'of another workbook',
      'UPDATE heads h SET chain_hash = o.chain_hash, seal = o.seal, audit_seq = o.audit_seq FROM heads o WHERE h.scope = :id AND o.scope = :other',
    ],
    ['deleted with all its entries', 'DELETE FROM audit_entries WHERE scope = :id; DELETE FROM heads WHERE scope = :id'],
  ];

  const tamper = (statements: string) => api.sql.query(statements.replaceAll(':id', `'${id}'`).replaceAll(':other', `'${other}'`));

  async function expectDetected(statements: string): Promise<void> {
    expect(await isValid(id)).toBe(true);
    await tamper(statements);
    const changed = await api.sql.query(
      '(SELECT t::text FROM audit_entries t WHERE scope IN (SELECT scope FROM saved_heads) UNION ALL SELECT t::text FROM heads t WHERE scope IN (SELECT scope FROM saved_heads)) EXCEPT (SELECT t::text FROM saved_entries t UNION ALL SELECT t::text FROM saved_heads t) UNION ALL ((SELECT t::text FROM saved_entries t UNION ALL SELECT t::text FROM saved_heads t) EXCEPT (SELECT t::text FROM audit_entries t UNION ALL SELECT t::text FROM heads t))',
    );
    const detected = await isValid(id);
    await restore();
    expect({ changed: (changed.rowCount ?? 0) > 0, valid: detected }).toEqual({ changed: true, valid: false });
    expect(await isValid(id)).toBe(true);
  }

  it.each(entries)('is seen when an entry was altered: %s', (_, statements) => expectDetected(statements));
  it.each(removals)('is seen when an entry was removed: %s', (_, statements) => expectDetected(statements));
  it.each(orders)('is seen when entries were reordered: %s', (_, statements) => expectDetected(statements));
  it.each(insertions)('is seen when an entry was put in: %s', (_, statements) => expectDetected(statements));
  it.each(headChanges)('is seen when the head was: %s', (_, statements) => expectDetected(statements));

  const oldHead = () =>
    `UPDATE heads SET audit_seq = 4, chain_hash = '\\x${(early.chain_hash as Buffer).toString('hex')}', seal = '\\x${(early.seal as Buffer).toString('hex')}' WHERE scope = :id`;

  it('is seen when an old head was put back', () => expectDetected(oldHead()));

  it('is seen when the end was cut off and the head of that time put back', () =>
    expectDetected(`DELETE FROM audit_entries WHERE scope = :id AND seq > 4; ${oldHead()}`));

  it('of one workbook leaves the others whole, and is seen in the account’s log, too', async () => {
    await tamper("UPDATE audit_entries SET actor = 'Somebody' WHERE scope = :id AND seq = 3");
    expect([await isValid(id), await isValid(other)]).toEqual([false, true]);
    await restore();
    expect(await isAccountValid()).toBe(true);
    await api.sql.query("UPDATE audit_entries SET actor = 'Somebody' WHERE scope = $1 AND seq = 2", [accountId]);
    expect(await isAccountValid()).toBe(false);
    await api.sql.query("UPDATE audit_entries SET actor = 'Owner' WHERE scope = $1 AND seq = 2", [accountId]);
  });
});

describe('chain_valid: a hundred thousand entries', () => {
  it('are verified inside PostgreSQL, and one altered among them is found', async () => {
    const id = await makeWorkbook(owner.client, 'Long');
    const { inner, outer } = api.services.auditPads;
    const audit = Array.from({ length: 1000 }, (_, i) => ({
      action: 'rows.upsert',
      target: `table ${i}`,
      detail: { edit_version: i, rows: 12, table: '売上明細' },
    }));
    const started = performance.now();
    for (let i = 0; i < 100; i++) {
      await api.sql.query('SELECT svc_journal($1, now(), $2, $3, $4, $5, $6, $7, $6, $6, $8, $9)', [
        id,
        'Owner',
        owner.userId,
        'ses_x',
        `req_${i}`,
        '[]',
        JSON.stringify(audit),
        inner,
        outer,
      ]);
    }
    const written = performance.now();
    await api.sql.query('ANALYZE audit_entries');
    const times: number[] = [];
    for (let i = 0; i < 3; i++) {
      const before = performance.now();
      expect(await isChainValid(id, { inner, outer })).toBe(true);
      times.push(performance.now() - before);
    }
    const log = await readLog(id, 1);
    expect([log.chain_valid, log.entries[0]?.seq]).toEqual([true, 100_001]);
    const best = Math.min(...times);
    console.log(`100,001 entries: written in ${Math.round(written - started)} ms, verified in ${times.map(Math.round).join(', ')} ms`);
    expect(best).toBeLessThan(10_000);
    await api.sql.query('UPDATE audit_entries SET target = $2 WHERE scope = $1 AND seq = 50000', [id, 'table x']);
    expect(await isValid(id)).toBe(false);
  });
});
