-- Counters of a minute are rebuilt within a minute: they need not survive a crash, and cost no WAL.
ALTER TABLE rate_windows SET UNLOGGED;
--> statement-breakpoint
ALTER TABLE login_attempts SET UNLOGGED;
--> statement-breakpoint
-- HMAC-SHA256 from the built-in hash. `inner_pad` and `outer_pad` are the key's two 64-byte pads; the key itself is
-- never in the database.
CREATE FUNCTION svc_hmac(inner_pad bytea, outer_pad bytea, message bytea) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sha256(outer_pad || sha256(inner_pad || message));
--> statement-breakpoint
-- What an audit entry's hash covers, besides the hash before it.
CREATE FUNCTION svc_audit_message(
  scope text, seq bigint, at timestamptz, actor text, user_id text, credential text,
  action text, target text, detail jsonb, request_id text
) RETURNS bytea
LANGUAGE sql STABLE PARALLEL SAFE
RETURN convert_to(ROW(
  scope, seq, round(date_part('epoch', at) * 1000)::bigint, actor, user_id, credential, action, target, detail, request_id
)::text, 'UTF8');
--> statement-breakpoint
CREATE FUNCTION svc_head_seal(inner_pad bytea, outer_pad bytea, scope text, seq bigint, chain_hash bytea) RETURNS bytea
LANGUAGE sql STABLE PARALLEL SAFE
RETURN svc_hmac(inner_pad, outer_pad, convert_to('head ' || scope || ' ' || seq || ' ', 'UTF8') || chain_hash);
--> statement-breakpoint
CREATE FUNCTION svc_chain_start(inner_pad bytea, outer_pad bytea, scope text) RETURNS bytea
LANGUAGE sql STABLE PARALLEL SAFE
RETURN svc_hmac(inner_pad, outer_pad, convert_to('start ' || scope, 'UTF8'));
--> statement-breakpoint
CREATE FUNCTION svc_open_head(p_scope text, p_account text, p_inner bytea, p_outer bytea) RETURNS void
LANGUAGE sql
AS $$
  INSERT INTO heads (scope, account_id, chain_hash, seal)
  SELECT p_scope, p_account, start, svc_head_seal(p_inner, p_outer, p_scope, 0, start)
  FROM (SELECT svc_chain_start(p_inner, p_outer, p_scope) AS start);
$$;
--> statement-breakpoint
-- Writes what a change leaves behind: ops, audit entries, events, usage. Called last in its transaction: the head row's
-- lock gives the numbers, so they are gap-free and in commit order.
CREATE FUNCTION svc_journal(
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
-- Whether the chain is whole: every hash follows from the one before it, no number is missing, and the sealed head
-- ends where the entries end. Each row carries its own hash, so this is one scan, not a recursion.
CREATE FUNCTION svc_chain_valid(p_scope text, p_inner bytea, p_outer bytea) RETURNS boolean
LANGUAGE sql STABLE
AS $$
  WITH links AS (
    SELECT seq, hash,
           lag(seq, 1, 0::bigint) OVER w AS seq_before,
           lag(hash, 1, svc_chain_start(p_inner, p_outer, p_scope)) OVER w AS hash_before,
           svc_audit_message(scope, seq, at, actor, user_id, credential, action, target, detail, request_id) AS message
    FROM audit_entries WHERE scope = p_scope
    WINDOW w AS (ORDER BY seq)
  ), whole AS (
    SELECT count(*) AS entries,
           coalesce(bool_and(seq = seq_before + 1 AND hash = svc_hmac(p_inner, p_outer, hash_before || message)), true) AS linked
    FROM links
  )
  SELECT coalesce((
    SELECT whole.linked
       AND whole.entries = heads.audit_seq
       AND heads.seal = svc_head_seal(p_inner, p_outer, p_scope, heads.audit_seq, heads.chain_hash)
       AND heads.chain_hash = coalesce(
             (SELECT hash FROM audit_entries WHERE scope = p_scope ORDER BY seq DESC LIMIT 1),
             svc_chain_start(p_inner, p_outer, p_scope))
    FROM heads, whole WHERE heads.scope = p_scope
  ), false);
$$;
--> statement-breakpoint
-- Takes up to `p_wanted` of a minute's allowance for one process; returns how much was given and how much is left.
CREATE FUNCTION svc_lease_rate(p_subject text, p_minute integer, p_limit integer, p_wanted integer)
RETURNS TABLE (granted integer, remaining integer)
LANGUAGE plpgsql
AS $$
DECLARE
  before integer;
BEGIN
  INSERT INTO rate_windows AS w (subject, minute, leased) VALUES (p_subject, p_minute, 0)
  ON CONFLICT (subject) DO UPDATE SET
    leased = CASE WHEN w.minute < p_minute THEN 0 ELSE w.leased END,
    minute = greatest(w.minute, p_minute)
  RETURNING w.leased INTO before;
  granted := greatest(0, least(p_wanted, p_limit - before));
  UPDATE rate_windows SET leased = before + granted WHERE subject = p_subject;
  remaining := p_limit - before - granted;
  RETURN NEXT;
END;
$$;
--> statement-breakpoint
-- Notes an attempt unless `p_limit` failed ones of the last minute stand against any of the subjects ('no'). Attempts that
-- are being checked may still fail: when they could fill the number, the next one waits ('wait'). So parallel guesses
-- are counted, and parallel good log-ins are not held against anyone. One whose process died is forgotten soon.
CREATE FUNCTION svc_begin_login(p_subjects text[], p_attempt text, p_limit integer) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
  failures bigint;
  open_ones bigint;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended(s, 7)) FROM (SELECT unnest(p_subjects) AS s ORDER BY 1);
  SELECT coalesce(max(f), 0), coalesce(max(f + o), 0) INTO failures, open_ones FROM (
    SELECT count(*) FILTER (WHERE failed) AS f, count(*) FILTER (WHERE NOT failed AND at > clock_timestamp() - interval '10 seconds') AS o
    FROM login_attempts WHERE subject = ANY (p_subjects) AND at > clock_timestamp() - interval '1 minute' GROUP BY subject
  ) AS counts;
  IF failures >= p_limit THEN
    RETURN 'no';
  END IF;
  IF open_ones >= p_limit THEN
    RETURN 'wait';
  END IF;
  INSERT INTO login_attempts (subject, attempt, at) SELECT unnest(p_subjects), p_attempt, clock_timestamp();
  RETURN 'go';
END;
$$;
--> statement-breakpoint
-- Moves a table to its next version if it still stands at the one that the caller has read; no row comes back if not.
-- `p_entries` is an array of [row id, op, changed column ids, cells, before]; a row id of -n means the n-th new row, and
-- new rows are numbered here, in the same transaction as the row. `p_layers`, if given, is the new manifest, in which
-- the text "$version" stands for the number of the new version.
CREATE FUNCTION svc_edit_table(
  p_table text, p_expected bigint, p_uid text, p_at timestamptz, p_inserted integer, p_deleted integer,
  p_entries json, p_manifest text, p_layers jsonb, p_schema_changed boolean
) RETURNS TABLE (edit_version bigint, first_row_id bigint, row_count bigint, tail_count integer)
LANGUAGE plpgsql
AS $$
DECLARE
  head tables%ROWTYPE;
  added integer := json_array_length(p_entries);
BEGIN
  UPDATE tables t SET
    edit_version = t.edit_version + 1,
    version_uid = p_uid,
    next_row_id = t.next_row_id + CASE WHEN added > 0 THEN p_inserted ELSE 0 END,
    row_count = t.row_count + p_inserted - p_deleted,
    tail_count = t.tail_count + added,
    manifest_id = coalesce(p_manifest, t.manifest_id),
    schema_version = CASE WHEN p_schema_changed THEN t.edit_version + 1 ELSE t.schema_version END,
    updated_at = p_at
  WHERE t.id = p_table AND t.edit_version = p_expected AND t.deleted_at IS NULL AND t.state = 'active'
  RETURNING t.* INTO head;
  IF NOT FOUND THEN
    RETURN;
  END IF;

  IF p_layers IS NOT NULL THEN
    INSERT INTO manifests (id, table_id, layers, created_at)
    VALUES (p_manifest, p_table, replace(p_layers::text, '"$version"', head.edit_version::text)::jsonb, p_at);
  END IF;

  INSERT INTO table_versions (table_id, edit_version, uid, manifest_id, schema_version, row_count, created_at)
  VALUES (p_table, head.edit_version, p_uid, head.manifest_id, head.schema_version, head.row_count, p_at);

  IF added > 0 THEN
    INSERT INTO row_log (table_id, edit_version, row_id, op, changed, cells, before)
    SELECT p_table, head.edit_version,
           CASE WHEN (e->>0)::bigint < 0 THEN head.next_row_id - p_inserted - (e->>0)::bigint - 1 ELSE (e->>0)::bigint END,
           e->>1, ARRAY(SELECT json_array_elements_text(e->2)::integer),
           CASE WHEN json_typeof(e->3) = 'null' THEN NULL ELSE e->3 END, CASE WHEN json_typeof(e->4) = 'null' THEN NULL ELSE e->4 END
    FROM json_array_elements(p_entries) AS e;
  END IF;

  RETURN QUERY SELECT head.edit_version, head.next_row_id - CASE WHEN added > 0 THEN p_inserted ELSE 0 END, head.row_count, head.tail_count;
END;
$$;
--> statement-breakpoint
-- Takes a range of row ids for a large insert, ahead of writing its file. Gaps are allowed, reuse is not.
CREATE FUNCTION svc_reserve_rows(p_table text, p_count bigint) RETURNS bigint
LANGUAGE sql
AS $$
  UPDATE tables SET next_row_id = next_row_id + p_count WHERE id = p_table RETURNING next_row_id - p_count;
$$;
