CREATE TABLE "derivations" (
	"table_id" text NOT NULL,
	"account_id" text NOT NULL,
	"edit_version" bigint NOT NULL,
	"transform_id" text NOT NULL,
	"revision" integer NOT NULL,
	"inputs" jsonb NOT NULL,
	CONSTRAINT "derivations_table_id_edit_version_pk" PRIMARY KEY("table_id","edit_version")
);
--> statement-breakpoint
ALTER TABLE "derivations" ADD CONSTRAINT "derivations_version" FOREIGN KEY ("table_id","edit_version") REFERENCES "public"."table_versions"("table_id","edit_version") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CALL svc_wall_off('derivations', 'svc_may_touch(account_id)');
