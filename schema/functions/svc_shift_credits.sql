CREATE OR REPLACE FUNCTION svc_shift_credits(
  p_account text, p_key text, p_at timestamptz, p_source text, p_ends integer, p_from text, p_to text, p_amount integer
) RETURNS void
LANGUAGE sql
AS $$
  INSERT INTO credit_entries (account_id, key, source, ends, bucket, amount, at)
  VALUES (p_account, p_key, p_source, p_ends, p_from, -p_amount, p_at), (p_account, p_key, p_source, p_ends, p_to, p_amount, p_at);
$$;
