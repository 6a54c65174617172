ALTER TABLE "backup_configurations" ADD COLUMN "copy_storage_provider_id" integer;--> statement-breakpoint
ALTER TABLE "backups" ADD COLUMN "copy_of_id" integer;--> statement-breakpoint
ALTER TABLE "backups" ADD COLUMN "taken_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "newest_backups" ADD COLUMN "copied" jsonb;--> statement-breakpoint
ALTER TABLE "backup_configurations" ADD CONSTRAINT "backup_configurations_copy_storage_provider_id_storage_providers_id_fk" FOREIGN KEY ("copy_storage_provider_id") REFERENCES "public"."storage_providers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "backups" ADD CONSTRAINT "backups_copy_of_id_backups_id_fk" FOREIGN KEY ("copy_of_id") REFERENCES "public"."backups"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "backup_configurations_copied" ON "backup_configurations" USING btree ("copy_storage_provider_id") WHERE "backup_configurations"."copy_storage_provider_id" is not null;--> statement-breakpoint
CREATE INDEX "backups_copied" ON "backups" USING btree ("copy_of_id") WHERE "backups"."copy_of_id" is not null;--> statement-breakpoint
CREATE INDEX "backups_copies" ON "backups" USING btree ("configuration_id","id") WHERE "backups"."trigger" = 'copy';--> statement-breakpoint
-- As before, but copies are no runs, a run that waits for its copy has not ended, and what was copied where is summed up, too.
create or replace function sum_up_backups() returns trigger language plpgsql as $$
begin
  select run.status, coalesce(run.is_damaged, false), begun.started_at,
    good.id, good.started_at, good.ended_at, good.size, good.plain_size,
    stored.id, stored.checked_at,
    case when ten.is_well then null else ten.runs end, ten.oldest_ended_at, copies.copied
  into new.status, new.is_damaged, new.begun_at,
    new.good_id, new.good_started_at, new.good_ended_at, new.good_size, new.good_plain_size,
    new.stored_id, new.stored_checked_at,
    new.runs, new.oldest_ended_at, new.copied
  from (
    select max(ended_at) filter (where id = oldest_id) as oldest_ended_at,
      bool_and(id <> last_id or id = good_id and warnings = '{}' and status_reason is null) and bool_and(damage is null)
        and count(good_id) > 0 as is_well,
      jsonb_agg(jsonb_build_object('id', id, 'status', status, 'trigger', trigger, 'damage', damage,
          'reason', split_part(status_reason, e'\n', 1), 'warnings', warnings,
          'ended', case when status <> 'running' then extract(epoch from ended_at)::float8 end) order by id desc)
        filter (where id in (last_id, ended_id, finished_id, good_id) or damage is not null) as runs
    from (
      select *, min(id) over () as oldest_id,
        max(id) filter (where trigger not in ('safety', 'copy')) over () as last_id,
        max(id) filter (where trigger not in ('safety', 'copy') and ended_at is not null and status <> 'running') over () as ended_id,
        max(id) filter (where trigger not in ('safety', 'copy') and status = 'finished') over () as finished_id,
        max(id) filter (where trigger not in ('safety', 'copy') and status = 'finished' and damage is null) over () as good_id
      from (
        select id, status, trigger, damage, status_reason, warnings, ended_at from backups
        where configuration_id = new.configuration_id and trigger <> 'copy' order by id desc limit 10
      ) newest
    ) marked
  ) ten
  left join lateral (
    select status, damage is not null as is_damaged from backups
    where configuration_id = new.configuration_id and trigger not in ('safety', 'copy') order by id desc limit 1
  ) run on true
  left join lateral (
    select started_at from backups
    where configuration_id = new.configuration_id and trigger not in ('safety', 'copy') and status <> 'pending' order by id desc limit 1
  ) begun on true
  left join lateral (
    select id, started_at, ended_at, size, plain_size from backups
    where configuration_id = new.configuration_id and trigger not in ('safety', 'copy') and status = 'finished' and damage is null
    order by id desc limit 1
  ) good on true
  left join lateral (
    select id, coalesce(checked_at, verified_at, ended_at) as checked_at from backups
    where id = coalesce(
      (select id from backups where configuration_id = new.configuration_id and trigger not in ('safety', 'copy') and status = 'finished'
        order by id desc limit 1),
      (select id from backups where configuration_id = new.configuration_id and status = 'finished' order by id desc limit 1))
  ) stored on true
  left join lateral (
    select jsonb_object_agg(of_storage.id::text, jsonb_build_object('run', of_storage.run, 'since', (
      select extract(epoch from ended_at)::float8 from backups
      where configuration_id = new.configuration_id and trigger not in ('safety', 'copy') and status = 'finished'
        and id > of_storage.run order by id limit 1))) as copied
    from (
      select storage_provider_id as id, max(copy_of_id) as run from backups
      where configuration_id = new.configuration_id and trigger = 'copy' and status = 'finished' and damage is null
        and copy_of_id is not null
      group by storage_provider_id
    ) of_storage
  ) copies on true;
  return new;
end
$$;
