-- False: this purchase is in the books already.
CREATE OR REPLACE FUNCTION svc_buy_credits(p_account text, p_ref text, p_amount integer, p_ends integer, p_at timestamptz) RETURNS boolean
LANGUAGE plpgsql
AS $$
DECLARE
  move_key text := 'purchase:' || p_ref;
BEGIN
  PERFORM svc_lock_credits(p_account);
  INSERT INTO credit_movements (account_id, key, kind, ref, at) VALUES (p_account, move_key, 'purchase', p_ref, p_at)
  ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  PERFORM svc_shift_credits(p_account, move_key, p_at, 'purchased', p_ends, 'issued', 'available', p_amount);
  RETURN true;
END;
$$;
