CREATE TABLE "layouts" (
	"workbook_id" text NOT NULL,
	"account_id" text NOT NULL,
	"fingerprint" text NOT NULL,
	"layout" jsonb NOT NULL,
	"corrected_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "layouts_account_id_fingerprint_pk" PRIMARY KEY("account_id","fingerprint")
);
--> statement-breakpoint
ALTER TABLE "layouts" ADD CONSTRAINT "layouts_workbook_id_workbooks_id_fk" FOREIGN KEY ("workbook_id") REFERENCES "public"."workbooks"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "layouts_workbook" ON "layouts" USING btree ("workbook_id");--> statement-breakpoint
CALL svc_wall_off('layouts', 'svc_may_touch(account_id)');
