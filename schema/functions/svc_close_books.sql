-- Removes the credit books of an account that is being deleted. The setting, which holds in here alone, is what lets rows go.
CREATE OR REPLACE FUNCTION svc_close_books(p_account text) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM accounts WHERE id = p_account AND deleted_at IS NOT NULL) THEN
    RAISE EXCEPTION 'the account % is not being deleted', p_account USING ERRCODE = 'restrict_violation';
  END IF;
  PERFORM set_config('svc.closing_books', 'yes', true);
  DELETE FROM credit_entries WHERE account_id = p_account;
  DELETE FROM credit_movements WHERE account_id = p_account;
  PERFORM set_config('svc.closing_books', '', true);
END;
$$;
