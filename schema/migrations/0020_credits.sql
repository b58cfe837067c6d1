CREATE TABLE "credit_entries" (
	"account_id" text NOT NULL,
	"key" text NOT NULL,
	"source" text NOT NULL,
	"ends" integer NOT NULL,
	"bucket" text NOT NULL,
	"amount" integer NOT NULL,
	"seq" integer NOT NULL,
	"balance" integer NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "credit_entries_account_id_key_source_ends_bucket_pk" PRIMARY KEY("account_id","key","source","ends","bucket"),
	CONSTRAINT "credit_entries_source" CHECK (source in ('included', 'purchased')),
	CONSTRAINT "credit_entries_bucket" CHECK (bucket in ('issued', 'available', 'reserved', 'spent', 'expired')),
	CONSTRAINT "credit_entries_month" CHECK (ends between 200001 and 999912 and ends % 100 between 1 and 12),
	CONSTRAINT "credit_entries_amount" CHECK (amount <> 0),
	CONSTRAINT "credit_entries_not_overdrawn" CHECK (case bucket when 'issued' then balance <= 0 else balance >= 0 end)
);
--> statement-breakpoint
CREATE TABLE "credit_movements" (
	"account_id" text NOT NULL,
	"key" text NOT NULL,
	"kind" text NOT NULL,
	"ref" text,
	"workbook_id" text,
	"at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "credit_movements_account_id_key_pk" PRIMARY KEY("account_id","key"),
	CONSTRAINT "credit_movements_kind" CHECK (kind in ('grant', 'purchase', 'reserve', 'settle', 'release', 'expire'))
);
--> statement-breakpoint
ALTER TABLE "credit_entries" ADD CONSTRAINT "credit_entries_movement" FOREIGN KEY ("account_id","key") REFERENCES "public"."credit_movements"("account_id","key") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "credit_entries_balance" ON "credit_entries" USING btree ("account_id","bucket","source","ends","seq");--> statement-breakpoint
CREATE INDEX "credit_entries_spent" ON "credit_entries" USING btree ("account_id","source","ends","at","seq") WHERE bucket = 'spent';