ALTER TABLE "credentials" ADD COLUMN "ancestors" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
-- Credentials that were minted by others end with them from now on.
WITH RECURSIVE line AS (
  SELECT c.id, ARRAY[]::text[] AS ancestors FROM credentials c WHERE NOT EXISTS (SELECT 1 FROM credentials p WHERE p.id = c.issued_by)
  UNION ALL
  SELECT c.id, line.ancestors || line.id FROM credentials c JOIN line ON line.id = c.issued_by)
UPDATE credentials c SET ancestors = line.ancestors FROM line WHERE line.id = c.id AND line.ancestors <> '{}';--> statement-breakpoint
UPDATE credentials c SET revoked_at = up.revoked_at
FROM (SELECT k.id, min(p.revoked_at) AS revoked_at FROM credentials k JOIN credentials p ON p.id = ANY (k.ancestors) GROUP BY k.id) AS up
WHERE up.id = c.id AND c.revoked_at IS NULL AND up.revoked_at IS NOT NULL;--> statement-breakpoint
-- Private workbooks of people who have left the workspace: nobody sees them.
UPDATE workbooks w SET owner_id = a.owner_id FROM accounts a
WHERE a.id = w.account_id AND w.owner_id <> a.owner_id AND w.visibility = 'private'
  AND NOT EXISTS (SELECT 1 FROM members m WHERE m.workspace_id = w.workspace_id AND m.user_id = w.owner_id);
