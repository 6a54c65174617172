-- In two steps: of the rows that are there already it is not known.
ALTER TABLE "backup_configurations" ADD COLUMN "status_since" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "backup_configurations" ALTER COLUMN "status_since" SET DEFAULT now();--> statement-breakpoint
ALTER TABLE "workers" ADD COLUMN "status_since" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "workers" ALTER COLUMN "status_since" SET DEFAULT now();
