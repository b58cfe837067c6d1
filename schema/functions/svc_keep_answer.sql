-- Keeps the answer to a request with an Idempotency-Key. Called last in the statement of its change: fails with SV002 if the key has
-- an answer already, or if another transaction works under it, so that the change is rolled back.
-- `p_body` is encrypted and lacks what only the change could tell, which is `p_outcome`. An expired answer is overwritten.
CREATE OR REPLACE FUNCTION svc_keep_answer(
  p_scope text, p_key bytea, p_lock bigint, p_request bytea, p_status integer, p_headers jsonb, p_body bytea,
  p_policy bigint, p_expires timestamptz, p_outcome jsonb
) RETURNS boolean
LANGUAGE plpgsql
AS $$
BEGIN
  IF pg_try_advisory_xact_lock(hashtextextended(p_scope, p_lock)) THEN
    INSERT INTO idempotency AS i (scope, key_hash, request_hash, status, headers, body, policy_version, expires_at, outcome)
    VALUES (p_scope, p_key, p_request, p_status, p_headers, p_body, p_policy, p_expires, p_outcome)
    ON CONFLICT (scope, key_hash) DO UPDATE SET
      request_hash = excluded.request_hash, status = excluded.status, headers = excluded.headers, body = excluded.body, job_id = NULL,
      policy_version = excluded.policy_version, created_at = excluded.created_at, expires_at = excluded.expires_at, outcome = excluded.outcome
    WHERE i.expires_at <= now();
    IF FOUND THEN
      RETURN true;
    END IF;
  END IF;
  RAISE EXCEPTION 'the key is taken' USING ERRCODE = 'SV002';
END;
$$;
