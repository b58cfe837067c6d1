-- What an audit entry's hash covers, besides the hash before it.
CREATE OR REPLACE FUNCTION svc_audit_message(
  scope text, seq bigint, at timestamptz, actor text, user_id text, credential text,
  action text, target text, detail jsonb, request_id text
) RETURNS bytea
LANGUAGE sql STABLE PARALLEL SAFE
RETURN convert_to(ROW(
  scope, seq, round(date_part('epoch', at) * 1000)::bigint, actor, user_id, credential, action, target, detail, request_id
)::text, 'UTF8');
