ALTER TABLE "backup_configurations" ADD COLUMN "incremental" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "backups" ADD COLUMN "base_id" integer;--> statement-breakpoint
CREATE INDEX "backups_of_base" ON "backups" USING btree ("base_id") WHERE "backups"."base_id" is not null;--> statement-breakpoint
-- Leaves a full as it is while a backup needs it. Whoever asked sees that nothing was changed, as if somebody else had been first: also
-- the code before this, whose retention knows nothing of this column.
create function keep_base() returns trigger language plpgsql as $$
begin
  if exists (select from backups where base_id = new.id and status in ('pending', 'running', 'finished')) then
    return null;
  end if;
  return new;
end
$$;
--> statement-breakpoint
create trigger backups_keep_base before update on backups
  for each row when (new.status = 'deleting' and old.status <> 'deleting')
  execute function keep_base();
