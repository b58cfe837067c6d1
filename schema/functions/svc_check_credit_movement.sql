-- Runs at the end of the transaction, for every movement that it wrote or added to: its entries must sum to zero in every lot.
CREATE OR REPLACE FUNCTION svc_check_credit_movement() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM credit_entries WHERE account_id = NEW.account_id AND key = NEW.key)
    OR EXISTS (
      SELECT 1 FROM credit_entries WHERE account_id = NEW.account_id AND key = NEW.key GROUP BY source, ends HAVING sum(amount) <> 0
    )
  THEN
    RAISE EXCEPTION 'credit movement % of % does not sum to zero', NEW.key, NEW.account_id
      USING ERRCODE = 'check_violation', CONSTRAINT = TG_NAME;
  END IF;
  RETURN NULL;
END;
$$;
