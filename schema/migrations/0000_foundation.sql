CREATE TABLE "accounts" (
	"id" text PRIMARY KEY NOT NULL,
	"owner_id" text NOT NULL,
	"name" text NOT NULL,
	"kind" text NOT NULL,
	"plan" text DEFAULT 'free' NOT NULL,
	"plan_status" text DEFAULT 'none' NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"deleted_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "credentials" (
	"id" text PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"account_id" text NOT NULL,
	"user_id" text NOT NULL,
	"name" text,
	"secret_hash" text NOT NULL,
	"prefix" text NOT NULL,
	"scopes" text[] NOT NULL,
	"resource" text NOT NULL,
	"rate_limit_per_minute" integer NOT NULL,
	"issued_by" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp (3) with time zone,
	"revoked_at" timestamp (3) with time zone,
	CONSTRAINT "credentials_rate" CHECK (rate_limit_per_minute between 1 and 10000)
);
--> statement-breakpoint
CREATE TABLE "members" (
	"workspace_id" text NOT NULL,
	"user_id" text NOT NULL,
	"role" text NOT NULL,
	"roles" text[] DEFAULT '{}' NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "members_workspace_id_user_id_pk" PRIMARY KEY("workspace_id","user_id")
);
--> statement-breakpoint
CREATE TABLE "sessions" (
	"jti" text PRIMARY KEY NOT NULL,
	"user_id" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"revoked_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "user_identities" (
	"issuer" text NOT NULL,
	"subject" text NOT NULL,
	"user_id" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "user_identities_issuer_subject_pk" PRIMARY KEY("issuer","subject")
);
--> statement-breakpoint
CREATE TABLE "users" (
	"id" text PRIMARY KEY NOT NULL,
	"email" text NOT NULL,
	"name" text,
	"password_hash" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "workspaces" (
	"id" text PRIMARY KEY NOT NULL,
	"account_id" text NOT NULL,
	"name" text NOT NULL,
	"kind" text NOT NULL,
	"residency" text,
	"preprocess_rules" text,
	"idp_config" jsonb,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"deleted_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "audit_entries" (
	"scope" text NOT NULL,
	"seq" bigint NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	"actor" text NOT NULL,
	"user_id" text,
	"credential" text NOT NULL,
	"action" text NOT NULL,
	"target" text NOT NULL,
	"detail" jsonb NOT NULL,
	"request_id" text NOT NULL,
	"hash" "bytea" NOT NULL,
	CONSTRAINT "audit_entries_scope_seq_pk" PRIMARY KEY("scope","seq")
);
--> statement-breakpoint
CREATE TABLE "heads" (
	"scope" text PRIMARY KEY NOT NULL,
	"account_id" text NOT NULL,
	"op_seq" bigint DEFAULT 0 NOT NULL,
	"audit_seq" bigint DEFAULT 0 NOT NULL,
	"event_seq" bigint DEFAULT 0 NOT NULL,
	"chain_hash" "bytea" NOT NULL,
	"seal" "bytea" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ops" (
	"scope" text NOT NULL,
	"op_id" bigint NOT NULL,
	"kind" text NOT NULL,
	"table_id" text,
	"table_name" text,
	"edit_version" bigint,
	"actor" text NOT NULL,
	"user_id" text,
	"credential" text NOT NULL,
	"code_ref" text,
	"undoable" boolean DEFAULT false NOT NULL,
	"undone_by" bigint,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "ops_scope_op_id_pk" PRIMARY KEY("scope","op_id")
);
--> statement-breakpoint
CREATE TABLE "outbox" (
	"scope" text NOT NULL,
	"seq" bigint NOT NULL,
	"event_id" text NOT NULL,
	"type" text NOT NULL,
	"actor" text NOT NULL,
	"data" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "outbox_scope_seq_pk" PRIMARY KEY("scope","seq")
);
--> statement-breakpoint
CREATE TABLE "usage_entries" (
	"account_id" text NOT NULL,
	"scope" text NOT NULL,
	"kind" text NOT NULL,
	"amount" integer NOT NULL,
	"at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "idempotency" (
	"scope" text NOT NULL,
	"key_hash" "bytea" NOT NULL,
	"request_hash" "bytea" NOT NULL,
	"status" integer NOT NULL,
	"headers" jsonb NOT NULL,
	"body" "bytea",
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "idempotency_scope_key_hash_pk" PRIMARY KEY("scope","key_hash")
);
--> statement-breakpoint
CREATE TABLE "login_attempts" (
	"subject" text NOT NULL,
	"attempt" text NOT NULL,
	"at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "rate_windows" (
	"subject" text PRIMARY KEY NOT NULL,
	"minute" integer NOT NULL,
	"leased" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "request_counts" (
	"account_id" text NOT NULL,
	"user_id" text NOT NULL,
	"credential_id" text NOT NULL,
	"kind" text NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	"requests" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "annotations" (
	"table_id" text NOT NULL,
	"row_id" bigint DEFAULT 0 NOT NULL,
	"column_id" integer DEFAULT 0 NOT NULL,
	"style" jsonb,
	"note" text,
	"actor" text NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "annotations_table_id_row_id_column_id_pk" PRIMARY KEY("table_id","row_id","column_id")
);
--> statement-breakpoint
CREATE TABLE "manifests" (
	"id" text PRIMARY KEY NOT NULL,
	"table_id" text NOT NULL,
	"layers" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "named_versions" (
	"workbook_id" text NOT NULL,
	"label" text NOT NULL,
	"snapshot_id" text NOT NULL,
	"summary" text,
	"user_id" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "named_versions_workbook_id_label_pk" PRIMARY KEY("workbook_id","label")
);
--> statement-breakpoint
CREATE TABLE "results" (
	"id" text PRIMARY KEY NOT NULL,
	"account_id" text NOT NULL,
	"workbook_id" text NOT NULL,
	"user_id" text NOT NULL,
	"blob_key" text NOT NULL,
	"columns" jsonb NOT NULL,
	"row_count" bigint NOT NULL,
	"tables" jsonb NOT NULL,
	"masked_columns" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "row_log" (
	"table_id" text NOT NULL,
	"edit_version" bigint NOT NULL,
	"row_id" bigint NOT NULL,
	"op" text NOT NULL,
	"changed" integer[] NOT NULL,
	"cells" json,
	"before" json,
	CONSTRAINT "row_log_table_id_edit_version_row_id_pk" PRIMARY KEY("table_id","edit_version","row_id")
);
--> statement-breakpoint
CREATE TABLE "snapshot_tables" (
	"snapshot_id" text NOT NULL,
	"table_id" text NOT NULL,
	"name" text NOT NULL,
	"state" text NOT NULL,
	"description" text,
	"edit_version" bigint NOT NULL,
	"version_uid" text NOT NULL,
	CONSTRAINT "snapshot_tables_snapshot_id_table_id_pk" PRIMARY KEY("snapshot_id","table_id")
);
--> statement-breakpoint
CREATE TABLE "snapshots" (
	"id" text PRIMARY KEY NOT NULL,
	"workbook_id" text NOT NULL,
	"summary" text NOT NULL,
	"event_type" text NOT NULL,
	"user_id" text,
	"actor" text NOT NULL,
	"committed_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "table_columns" (
	"table_id" text NOT NULL,
	"column_id" integer NOT NULL,
	"from_version" bigint NOT NULL,
	"to_version" bigint,
	"name" text NOT NULL,
	"type" text NOT NULL,
	"default_text" text,
	"position" integer NOT NULL,
	"description" text,
	CONSTRAINT "table_columns_table_id_column_id_from_version_pk" PRIMARY KEY("table_id","column_id","from_version")
);
--> statement-breakpoint
CREATE TABLE "table_versions" (
	"table_id" text NOT NULL,
	"edit_version" bigint NOT NULL,
	"uid" text NOT NULL,
	"manifest_id" text NOT NULL,
	"schema_version" bigint NOT NULL,
	"row_count" bigint NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "table_versions_table_id_edit_version_pk" PRIMARY KEY("table_id","edit_version")
);
--> statement-breakpoint
CREATE TABLE "tables" (
	"id" text PRIMARY KEY NOT NULL,
	"workbook_id" text NOT NULL,
	"account_id" text NOT NULL,
	"name" text NOT NULL,
	"type" text DEFAULT 'table' NOT NULL,
	"layer" text NOT NULL,
	"state" text DEFAULT 'active' NOT NULL,
	"description" text,
	"edit_version" bigint NOT NULL,
	"version_uid" text NOT NULL,
	"manifest_id" text NOT NULL,
	"schema_version" bigint NOT NULL,
	"row_count" bigint NOT NULL,
	"next_row_id" bigint NOT NULL,
	"next_column_id" integer NOT NULL,
	"tail_count" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	"deleted_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "jobs" (
	"id" text PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"status" text DEFAULT 'pending' NOT NULL,
	"account_id" text NOT NULL,
	"workbook_id" text,
	"user_id" text NOT NULL,
	"workflow_id" text NOT NULL,
	"stage" text,
	"done" integer DEFAULT 0 NOT NULL,
	"total" integer,
	"result" jsonb,
	"error" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"finished_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "workbooks" (
	"id" text PRIMARY KEY NOT NULL,
	"account_id" text NOT NULL,
	"workspace_id" text NOT NULL,
	"owner_id" text NOT NULL,
	"title" text NOT NULL,
	"visibility" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"deleted_at" timestamp (3) with time zone
);
--> statement-breakpoint
ALTER TABLE "accounts" ADD CONSTRAINT "accounts_owner_id_users_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "credentials" ADD CONSTRAINT "credentials_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "credentials" ADD CONSTRAINT "credentials_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "members" ADD CONSTRAINT "members_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "members" ADD CONSTRAINT "members_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "user_identities" ADD CONSTRAINT "user_identities_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "workspaces" ADD CONSTRAINT "workspaces_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "annotations" ADD CONSTRAINT "annotations_table_id_tables_id_fk" FOREIGN KEY ("table_id") REFERENCES "public"."tables"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "manifests" ADD CONSTRAINT "manifests_table_id_tables_id_fk" FOREIGN KEY ("table_id") REFERENCES "public"."tables"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "named_versions" ADD CONSTRAINT "named_versions_workbook_id_workbooks_id_fk" FOREIGN KEY ("workbook_id") REFERENCES "public"."workbooks"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "named_versions" ADD CONSTRAINT "named_versions_snapshot_id_snapshots_id_fk" FOREIGN KEY ("snapshot_id") REFERENCES "public"."snapshots"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "results" ADD CONSTRAINT "results_workbook_id_workbooks_id_fk" FOREIGN KEY ("workbook_id") REFERENCES "public"."workbooks"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "snapshot_tables" ADD CONSTRAINT "snapshot_tables_snapshot_id_snapshots_id_fk" FOREIGN KEY ("snapshot_id") REFERENCES "public"."snapshots"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "snapshot_tables" ADD CONSTRAINT "snapshot_tables_table_id_tables_id_fk" FOREIGN KEY ("table_id") REFERENCES "public"."tables"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "snapshots" ADD CONSTRAINT "snapshots_workbook_id_workbooks_id_fk" FOREIGN KEY ("workbook_id") REFERENCES "public"."workbooks"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "table_columns" ADD CONSTRAINT "table_columns_table_id_tables_id_fk" FOREIGN KEY ("table_id") REFERENCES "public"."tables"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "table_versions" ADD CONSTRAINT "table_versions_table_id_tables_id_fk" FOREIGN KEY ("table_id") REFERENCES "public"."tables"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tables" ADD CONSTRAINT "tables_workbook_id_workbooks_id_fk" FOREIGN KEY ("workbook_id") REFERENCES "public"."workbooks"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "jobs" ADD CONSTRAINT "jobs_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "jobs" ADD CONSTRAINT "jobs_workbook_id_workbooks_id_fk" FOREIGN KEY ("workbook_id") REFERENCES "public"."workbooks"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "jobs" ADD CONSTRAINT "jobs_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "workbooks" ADD CONSTRAINT "workbooks_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "workbooks" ADD CONSTRAINT "workbooks_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "workbooks" ADD CONSTRAINT "workbooks_owner_id_users_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "accounts_owner" ON "accounts" USING btree ("owner_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "accounts_one_default" ON "accounts" USING btree ("owner_id") WHERE kind = 'default';--> statement-breakpoint
CREATE INDEX "credentials_account" ON "credentials" USING btree ("account_id","kind","id");--> statement-breakpoint
CREATE INDEX "credentials_user" ON "credentials" USING btree ("user_id","kind","id");--> statement-breakpoint
CREATE INDEX "members_user" ON "members" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "sessions_expiry" ON "sessions" USING btree ("expires_at");--> statement-breakpoint
CREATE UNIQUE INDEX "users_email" ON "users" USING btree (lower("email"));--> statement-breakpoint
CREATE INDEX "workspaces_account" ON "workspaces" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "usage_account" ON "usage_entries" USING btree ("account_id","at");--> statement-breakpoint
CREATE INDEX "idempotency_expiry" ON "idempotency" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "login_attempts_subject" ON "login_attempts" USING btree ("subject","at");--> statement-breakpoint
CREATE INDEX "request_counts_user" ON "request_counts" USING btree ("user_id","at");--> statement-breakpoint
CREATE INDEX "request_counts_credential" ON "request_counts" USING btree ("credential_id","at");--> statement-breakpoint
CREATE INDEX "request_counts_account" ON "request_counts" USING btree ("account_id","at");--> statement-breakpoint
CREATE INDEX "manifests_table" ON "manifests" USING btree ("table_id");--> statement-breakpoint
CREATE INDEX "results_expiry" ON "results" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "row_log_row" ON "row_log" USING btree ("table_id","row_id","edit_version");--> statement-breakpoint
CREATE INDEX "snapshot_tables_table" ON "snapshot_tables" USING btree ("table_id");--> statement-breakpoint
CREATE INDEX "snapshots_workbook" ON "snapshots" USING btree ("workbook_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "tables_name" ON "tables" USING btree ("workbook_id",lower("name")) WHERE state = 'active' AND deleted_at IS NULL;--> statement-breakpoint
CREATE INDEX "tables_workbook" ON "tables" USING btree ("workbook_id","id");--> statement-breakpoint
CREATE INDEX "jobs_account" ON "jobs" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "jobs_workbook" ON "jobs" USING btree ("workbook_id","id");--> statement-breakpoint
CREATE INDEX "workbooks_workspace" ON "workbooks" USING btree ("workspace_id","id");--> statement-breakpoint
CREATE INDEX "workbooks_account" ON "workbooks" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "workbooks_owner" ON "workbooks" USING btree ("owner_id","id");--> statement-breakpoint
CREATE INDEX "workbooks_deleted" ON "workbooks" USING btree ("deleted_at");