-- Writes what a change leaves behind: ops, audit entries, events, usage. Called last in its transaction: the lock on the head row
-- gives the numbers, so they have no gaps and follow the order of commits. `p_at` is cut to milliseconds, as the columns hold it:
-- what is hashed must be what is stored.
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
