-- Whether the work is about all accounts: for rows that name no account themselves, instead of looking at their parent.
CREATE OR REPLACE FUNCTION svc_may_touch_all() RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN current_setting('svc.accounts', true) = '*';
