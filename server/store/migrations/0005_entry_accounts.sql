ALTER TABLE "databases" ADD COLUMN "account" jsonb;--> statement-breakpoint
ALTER TABLE "sites" ADD COLUMN "account" jsonb;