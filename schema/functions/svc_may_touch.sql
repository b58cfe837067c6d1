-- Whether a row of this account may be seen and changed. The service says for each request or activity whose rows it is about, in
-- the setting `svc.accounts`: ids of accounts between commas, or `*` for work that is about all. When unset, no row is seen.
CREATE OR REPLACE FUNCTION svc_may_touch(account_id text) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN current_setting('svc.accounts', true) = '*' OR account_id = ANY (string_to_array(current_setting('svc.accounts', true), ','));
