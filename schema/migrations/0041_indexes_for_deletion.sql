-- What the deletion of an account or workbook looks for, also by references. docs/operations.md, "Upgrade", has the statements for large
-- databases: an index that is there already is left alone.
-- Safe while the release before runs: the table comes with this release.
CREATE INDEX IF NOT EXISTS "billing_events_account" ON "billing_events" USING btree ("account_id");--> statement-breakpoint
-- Safe while the release before runs: the table comes with this release.
CREATE INDEX IF NOT EXISTS "billing_profiles_shares" ON "billing_profiles" USING btree ("shares_with");--> statement-breakpoint
-- Safe while the release before runs: the table comes with this release.
CREATE INDEX IF NOT EXISTS "billing_sessions_account" ON "billing_sessions" USING btree ("account_id");--> statement-breakpoint
-- Safe while the release before runs: the table comes with this release.
CREATE INDEX IF NOT EXISTS "drive_grants_account" ON "drive_grants" USING btree ("account_id");--> statement-breakpoint
-- Safe while the release before runs: the table comes with this release.
CREATE INDEX IF NOT EXISTS "file_link_versions_snapshot" ON "file_link_versions" USING btree ("snapshot_id");--> statement-breakpoint
-- Safe while the release before runs: a row for each session of an agent that was used in the last day.
CREATE INDEX IF NOT EXISTS "mcp_sessions_account" ON "mcp_sessions" USING btree ("account_id");--> statement-breakpoint
-- Safe while the release before runs: a row for each conflict of a merge, and large databases make it by hand before, as the notes of the release say.
CREATE INDEX IF NOT EXISTS "conflicts_table" ON "conflicts" USING btree ("table_id");--> statement-breakpoint
-- Safe while the release before runs: a row for each name that somebody gave to a version.
CREATE INDEX IF NOT EXISTS "named_versions_snapshot" ON "named_versions" USING btree ("snapshot_id");--> statement-breakpoint
-- Safe while the release before runs: rows go after a week, and large databases make it by hand before, as the notes of the release say.
CREATE INDEX IF NOT EXISTS "results_workbook" ON "results" USING btree ("workbook_id");--> statement-breakpoint
-- Safe while the release before runs: a row for each transform.
CREATE INDEX IF NOT EXISTS "transforms_workbook" ON "transforms" USING btree ("workbook_id");--> statement-breakpoint
-- Safe while the release before runs: the table comes with this release.
CREATE INDEX IF NOT EXISTS "deliveries_scope" ON "deliveries" USING btree ("scope");--> statement-breakpoint
-- Safe while the release before runs: the table comes with this release.
CREATE INDEX IF NOT EXISTS "webhooks_account" ON "webhooks" USING btree ("account_id");
