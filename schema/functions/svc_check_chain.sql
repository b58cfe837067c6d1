-- Checks an audit chain from the entry after `p_after`, whose hash is `p_hash`, up to its head. `whole`: every hash follows from
-- the one before it, no number is missing, and the sealed head ends where the entries end. Returns no row when there is no head.
-- Each row carries its own hash, so that rows can be checked independently, by parallel workers; RETURN QUERY allows these.
-- The plan is made for the chain at hand: a long one is a thousand times longer than the average.
CREATE OR REPLACE FUNCTION svc_check_chain(p_scope text, p_after bigint, p_hash bytea, p_inner bytea, p_outer bytea)
RETURNS TABLE (whole boolean, seq bigint, hash bytea)
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  -- From the beginning nothing may stand before the first entry either.
  low bigint := CASE WHEN p_after = 0 THEN -9223372036854775808 ELSE p_after END;
BEGIN
  RETURN QUERY
  WITH part AS (
    SELECT count(*) AS entries, min(e.seq) AS lowest, max(e.seq) AS highest,
           bool_and(coalesce(e.hash = svc_hmac(p_inner, p_outer,
             CASE WHEN e.seq = p_after + 1 THEN p_hash ELSE b.hash END || svc_audit_message(
               e.scope, e.seq, e.at, e.actor, e.user_id, e.credential, e.action, e.target, e.detail, e.request_id)), false)) AS linked
    FROM audit_entries e LEFT JOIN audit_entries b ON b.scope = p_scope AND b.seq > low AND b.seq = e.seq - 1
    WHERE e.scope = p_scope AND e.seq > low
  )
  SELECT coalesce(part.linked, true)
           AND part.entries = head.audit_seq - p_after
           AND (part.entries = 0 OR (part.lowest = p_after + 1 AND part.highest = head.audit_seq))
           AND head.seal = svc_head_seal(p_inner, p_outer, p_scope, head.audit_seq, head.chain_hash)
           AND head.chain_hash = CASE WHEN part.entries = 0 THEN p_hash
                                      ELSE (SELECT l.hash FROM audit_entries l WHERE l.scope = p_scope AND l.seq = part.highest) END,
         head.audit_seq, head.chain_hash
  FROM heads head, part WHERE head.scope = p_scope;
END;
$$;
