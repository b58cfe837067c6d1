-- Removes some movements of an account that is being deleted, with their entries, but for the one named `p_kept`; returns how many
-- there were. A job's reservation goes before its close, so that none looks open that is not.
CREATE OR REPLACE FUNCTION svc_shorten_books(p_account text, p_kept text, p_movements integer) RETURNS integer
LANGUAGE plpgsql
AS $$
DECLARE
  keys text[];
BEGIN
  IF NOT EXISTS (SELECT 1 FROM accounts WHERE id = p_account AND deleted_at IS NOT NULL) THEN
    RAISE EXCEPTION 'the account % is not being deleted', p_account USING ERRCODE = 'restrict_violation';
  END IF;
  PERFORM pg_advisory_xact_lock(hashtextextended('credits ' || p_account, 0));
  keys := ARRAY(
    SELECT key FROM credit_movements WHERE account_id = p_account AND key <> p_kept ORDER BY key DESC LIMIT p_movements
  );
  PERFORM set_config('svc.closing_books', 'yes', true);
  DELETE FROM credit_entries WHERE account_id = p_account AND key = ANY (keys);
  DELETE FROM credit_movements WHERE account_id = p_account AND key = ANY (keys);
  PERFORM set_config('svc.closing_books', '', true);
  RETURN cardinality(keys);
END;
$$;
