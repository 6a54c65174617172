ALTER TABLE "workers" ADD COLUMN "unreachable_since" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "workers" ADD COLUMN "unreachable_reason" text;--> statement-breakpoint
ALTER TABLE "workers" ADD COLUMN "last_status" text;