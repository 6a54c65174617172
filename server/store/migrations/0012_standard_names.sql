ALTER TABLE "events" RENAME COLUMN "told_at" TO "dispatched_at";--> statement-breakpoint
ALTER TABLE "webhooks" RENAME COLUMN "told_exhausted" TO "notified_exhausted";--> statement-breakpoint
ALTER INDEX "events_untold" RENAME TO "events_undispatched";
