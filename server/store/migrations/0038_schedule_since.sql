ALTER TABLE "backup_configurations" ADD COLUMN "schedule_zone" text;--> statement-breakpoint
ALTER TABLE "backup_configurations" ADD COLUMN "schedule_since" timestamp (3) with time zone;