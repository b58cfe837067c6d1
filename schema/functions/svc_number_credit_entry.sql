-- Numbers an entry and carries the balance on, whatever its writer says. When two writers have read the same balance, the unique
-- number stops the second; when a bucket would be overdrawn, the check on the balance stops the entry.
CREATE OR REPLACE FUNCTION svc_number_credit_entry() RETURNS trigger
LANGUAGE plpgsql
AS $$
DECLARE
  newest record;
BEGIN
  SELECT seq, balance INTO newest FROM credit_entries
  WHERE account_id = NEW.account_id AND bucket = NEW.bucket AND source = NEW.source AND ends = NEW.ends
  ORDER BY seq DESC LIMIT 1;
  NEW.seq := coalesce(newest.seq, 0) + 1;
  NEW.balance := coalesce(newest.balance, 0) + NEW.amount;
  RETURN NEW;
END;
$$;
