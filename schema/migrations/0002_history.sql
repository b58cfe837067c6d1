CREATE TABLE "log_files" (
	"table_id" text NOT NULL,
	"key" text NOT NULL,
	"kind" text NOT NULL,
	"after" bigint NOT NULL,
	"up_to" bigint NOT NULL,
	"rows" integer NOT NULL,
	"min_row" bigint NOT NULL,
	"max_row" bigint NOT NULL,
	"bytes" bigint NOT NULL,
	CONSTRAINT "log_files_table_id_up_to_key_pk" PRIMARY KEY("table_id","up_to","key")
);
--> statement-breakpoint
ALTER TABLE "log_files" ADD CONSTRAINT "log_files_table_id_tables_id_fk" FOREIGN KEY ("table_id") REFERENCES "public"."tables"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "ops_table" ON "ops" USING btree ("table_id","edit_version") WHERE table_id IS NOT NULL;