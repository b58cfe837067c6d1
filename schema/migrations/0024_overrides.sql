CREATE TABLE "overrides" (
	"table_id" text NOT NULL,
	"account_id" text NOT NULL,
	"row_id" bigint NOT NULL,
	"column_id" integer NOT NULL,
	"from_version" bigint NOT NULL,
	"to_version" bigint,
	"value" text,
	"below" text,
	CONSTRAINT "overrides_table_id_row_id_column_id_from_version_pk" PRIMARY KEY("table_id","row_id","column_id","from_version")
);
--> statement-breakpoint
ALTER TABLE "overrides" ADD CONSTRAINT "overrides_table_id_tables_id_fk" FOREIGN KEY ("table_id") REFERENCES "public"."tables"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "overrides_live" ON "overrides" USING btree ("table_id") WHERE to_version IS NULL;--> statement-breakpoint
CREATE INDEX "conflicts_open_override" ON "conflicts" USING btree ("table_id") WHERE kind = 'stale_override' AND status = 'open';--> statement-breakpoint
CALL svc_wall_off('overrides', 'svc_may_touch(account_id)');
