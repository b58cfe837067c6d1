CREATE TABLE "audit_anchors" (
	"scope" text PRIMARY KEY NOT NULL,
	"seq" bigint NOT NULL,
	"broken_at" timestamp (3) with time zone
);
--> statement-breakpoint
DROP INDEX "users_email";--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "email_verified" boolean DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX "audit_anchors_broken" ON "audit_anchors" USING btree ("scope") WHERE broken_at IS NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "users_login_email" ON "users" USING btree (lower("email")) WHERE password_hash IS NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "users_verified_email" ON "users" USING btree (lower("email")) WHERE email_verified;--> statement-breakpoint
CREATE INDEX "users_email" ON "users" USING btree (lower("email"));
--> statement-breakpoint
-- Those who have come through an issuer only, under an address that it had verified: others were given subject@issuer.
UPDATE users u SET email_verified = true
FROM user_identities i
WHERE i.user_id = u.id AND u.password_hash IS NULL
  AND lower(u.email) <> lower(i.subject || '@' || split_part(split_part(i.issuer, '://', 2), '/', 1));
--> statement-breakpoint
-- As in 0001, but for its first statement: what is hashed must be what is stored, and columns hold milliseconds.
CREATE OR REPLACE FUNCTION svc_journal(
  p_scope text, p_at timestamptz, p_actor text, p_user text, p_credential text, p_request text,
  p_ops jsonb, p_audit jsonb, p_events jsonb, p_usage jsonb, p_inner bytea, p_outer bytea
) RETURNS TABLE (first_op bigint, first_audit bigint, first_event bigint)
LANGUAGE plpgsql
AS $$
DECLARE
  head heads%ROWTYPE;
  entry jsonb;
  chain bytea;
  next_audit bigint;
BEGIN
  p_at := date_trunc('milliseconds', p_at);
  SELECT * INTO head FROM heads WHERE scope = p_scope FOR UPDATE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'no head for %', p_scope USING ERRCODE = 'no_data_found';
  END IF;

  INSERT INTO ops (scope, op_id, kind, table_id, table_name, edit_version, actor, user_id, credential, code_ref, undoable, created_at)
  SELECT p_scope, head.op_seq + o.n, o.op->>'kind', o.op->>'table_id', o.op->>'table_name', (o.op->>'edit_version')::bigint,
         p_actor, p_user, p_credential, o.op->>'code_ref', coalesce((o.op->>'undoable')::boolean, false), p_at
  FROM jsonb_array_elements(p_ops) WITH ORDINALITY AS o(op, n);

  chain := head.chain_hash;
  next_audit := head.audit_seq;
  FOR entry IN SELECT * FROM jsonb_array_elements(p_audit) LOOP
    next_audit := next_audit + 1;
    chain := svc_hmac(p_inner, p_outer, chain || svc_audit_message(
      p_scope, next_audit, p_at, p_actor, p_user, p_credential, entry->>'action', entry->>'target', entry->'detail', p_request));
    INSERT INTO audit_entries (scope, seq, at, actor, user_id, credential, action, target, detail, request_id, hash)
    VALUES (p_scope, next_audit, p_at, p_actor, p_user, p_credential, entry->>'action', entry->>'target', entry->'detail', p_request, chain);
  END LOOP;

  INSERT INTO outbox (scope, seq, event_id, type, actor, data, created_at)
  SELECT p_scope, head.event_seq + e.n, e.event->>'id', e.event->>'type', p_actor, e.event->'data', p_at
  FROM jsonb_array_elements(p_events) WITH ORDINALITY AS e(event, n);

  INSERT INTO usage_entries (account_id, scope, kind, amount, at)
  SELECT head.account_id, p_scope, u.usage->>'kind', (u.usage->>'amount')::integer, p_at
  FROM jsonb_array_elements(p_usage) AS u(usage);

  UPDATE heads SET
    op_seq = head.op_seq + jsonb_array_length(p_ops),
    audit_seq = next_audit,
    event_seq = head.event_seq + jsonb_array_length(p_events),
    chain_hash = chain,
    seal = svc_head_seal(p_inner, p_outer, p_scope, next_audit, chain)
  WHERE scope = p_scope;

  RETURN QUERY SELECT head.op_seq + 1, head.audit_seq + 1, head.event_seq + 1;
END;
$$;
--> statement-breakpoint
-- How a chain stands from the entry after `p_after`, before which `p_hash` stood, up to its head: `whole` when every hash
-- follows from the one before it, no number is missing, and the sealed head ends where the entries end. No row comes
-- back when there is no head. Each row carries its own hash, so rows are checked independently of each other, by several
-- processes at once where the server has them; RETURN QUERY is what lets it. Planned for the chain at hand: a long one is
-- a thousand times longer than the average.
CREATE FUNCTION svc_check_chain(p_scope text, p_after bigint, p_hash bytea, p_inner bytea, p_outer bytea)
RETURNS TABLE (whole boolean, seq bigint, hash bytea)
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  -- From the beginning nothing may stand before the first entry either.
  low bigint := CASE WHEN p_after = 0 THEN -9223372036854775808 ELSE p_after END;
BEGIN
  RETURN QUERY
  WITH part AS (
    SELECT count(*) AS entries, min(e.seq) AS lowest, max(e.seq) AS highest,
           bool_and(coalesce(e.hash = svc_hmac(p_inner, p_outer,
             CASE WHEN e.seq = p_after + 1 THEN p_hash ELSE b.hash END || svc_audit_message(
               e.scope, e.seq, e.at, e.actor, e.user_id, e.credential, e.action, e.target, e.detail, e.request_id)), false)) AS linked
    FROM audit_entries e LEFT JOIN audit_entries b ON b.scope = p_scope AND b.seq > low AND b.seq = e.seq - 1
    WHERE e.scope = p_scope AND e.seq > low
  )
  SELECT coalesce(part.linked, true)
           AND part.entries = head.audit_seq - p_after
           AND (part.entries = 0 OR (part.lowest = p_after + 1 AND part.highest = head.audit_seq))
           AND head.seal = svc_head_seal(p_inner, p_outer, p_scope, head.audit_seq, head.chain_hash)
           AND head.chain_hash = CASE WHEN part.entries = 0 THEN p_hash
                                      ELSE (SELECT l.hash FROM audit_entries l WHERE l.scope = p_scope AND l.seq = part.highest) END,
         head.audit_seq, head.chain_hash
  FROM heads head, part WHERE head.scope = p_scope;
END;
$$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION svc_chain_valid(p_scope text, p_inner bytea, p_outer bytea) RETURNS boolean
LANGUAGE sql STABLE
AS $$
  SELECT coalesce((
    SELECT whole FROM svc_check_chain(p_scope, 0, svc_chain_start(p_inner, p_outer, p_scope), p_inner, p_outer)
  ), false);
$$;
