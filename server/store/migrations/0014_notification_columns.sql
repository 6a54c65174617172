ALTER TABLE "events" RENAME COLUMN "news" TO "notification";--> statement-breakpoint
ALTER TABLE "workers" RENAME COLUMN "told_failed" TO "notified_failed";--> statement-breakpoint
UPDATE "activity" SET "action" = CASE "action"
	WHEN 'told' THEN 'notified'
	WHEN 'not told' THEN 'undelivered'
	WHEN 'asked to be told again' THEN 'asked to redeliver'
	ELSE 'asked to redeliver what it missed' END
WHERE "action" IN ('told', 'not told', 'asked to be told again', 'asked to be told what it missed');
