-- Movements and entries of credits are only ever added, until the books of a deleted account are closed.
CREATE OR REPLACE FUNCTION svc_refuse_credit_change() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
  IF TG_OP = 'DELETE' AND current_setting('svc.closing_books', true) = 'yes' THEN
    RETURN NULL;
  END IF;
  RAISE EXCEPTION 'the credit books are only added to' USING ERRCODE = 'restrict_violation';
END;
$$;
