-- Keeps sites.worker_count: whoever adds or removes workers, by whatever way.
create function count_workers() returns trigger language plpgsql as $$
begin
  update sites
  set worker_count = worker_count + change.amount
  from (
    select site_id, count(*) * case tg_op when 'INSERT' then 1 else -1 end as amount
    from changed group by site_id
  ) change
  where sites.id = change.site_id;
  return null;
end
$$;
--> statement-breakpoint
create trigger workers_added after insert on workers
  referencing new table as changed for each statement execute function count_workers();
--> statement-breakpoint
create trigger workers_removed after delete on workers
  referencing old table as changed for each statement execute function count_workers();
