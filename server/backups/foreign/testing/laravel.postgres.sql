CREATE EXTENSION IF NOT EXISTS pgcrypto;
CREATE TYPE public.state AS ENUM ('open', 'paid; shipped');
CREATE TABLE public.users (
  id bigserial PRIMARY KEY,
  name character varying(255) NOT NULL,
  email character varying(255) NOT NULL UNIQUE,
  settings jsonb DEFAULT '{"a": "\\!"}'::jsonb,
  created_at timestamp(0) without time zone
);
CREATE TABLE public.orders (
  id bigserial PRIMARY KEY,
  user_id bigint NOT NULL REFERENCES public.users (id) ON DELETE CASCADE,
  state public.state DEFAULT 'open',
  note text,
  total numeric(8, 2) GENERATED ALWAYS AS (1.5) STORED
);
CREATE TABLE public."failed jobs" (id bigserial PRIMARY KEY, payload text);
CREATE TABLE public.events (id int, at date) PARTITION BY RANGE (at);
CREATE TABLE public.events_2026 PARTITION OF public.events FOR VALUES FROM ('2026-01-01') TO ('2027-01-01');
CREATE INDEX orders_note ON public.orders (note);
CREATE VIEW public.paid AS SELECT * FROM public.orders WHERE state <> 'open';
CREATE FUNCTION public.touch() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
  -- \! this is no command; neither is '
  NEW.note := coalesce(NEW.note, '') || E'\\n';
  RETURN NEW;
END;
$body$;
CREATE FUNCTION public.twice(n int) RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT n; SELECT n * 2; END;
CREATE TRIGGER touch BEFORE UPDATE ON public.orders FOR EACH ROW EXECUTE FUNCTION public.touch();
INSERT INTO public.users (name, email) SELECT 'User ' || n || ' ü', n || '@example.com' FROM generate_series(1, 50) n;
INSERT INTO public.orders (user_id, note) SELECT 1 + n % 50, E'\\! line\n\\.\n\tof ' || n FROM generate_series(1, 120) n;
INSERT INTO public."failed jobs" (payload) VALUES ('it''s; $$'), (NULL);
INSERT INTO public.events VALUES (1, '2026-05-01'), (2, '2026-06-01');
SELECT lo_from_bytea(0, '\x0102');
