ALTER TABLE "backup_configurations" ADD COLUMN "exclude" jsonb;--> statement-breakpoint
ALTER TABLE "backup_configurations" ADD COLUMN "exclude_caches" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "backup_configurations" ADD COLUMN "compression_level" integer;--> statement-breakpoint
ALTER TABLE "backup_configurations" ADD COLUMN "bytes_per_second" bigint;