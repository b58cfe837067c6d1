-- One account's credits move one after the other.
CREATE OR REPLACE FUNCTION svc_lock_credits(p_account text) RETURNS void
LANGUAGE sql
AS $$ SELECT pg_advisory_xact_lock(hashtextextended('credits ' || p_account, 0)); $$;
