// Simulates the requests of open dashboards: each user has one tab, whose page polls like the dashboard
// (`src/api/poll.ts`) and whose shell polls the overview, and searches are sent occasionally. Next to each response, a
// bare query is timed.
import { setTimeout as wait } from "node:timers/promises";
import pg from "pg";
import { serviceToken, type ServiceProcess } from "../server/testing/service-process.ts";
import type { Scale } from "./scale-rows.ts";

const users = 50;

type Asked = {
  path: string;
  /** A query that only reads the rows of the same page. */
  bare: { text: string; values: unknown[] };
};
type Kind = { name: string; everyMs: number; of: (scale: Scale) => Asked };

/** Returns a random integer from 1 to `count`. */
const oneOf = (count: number) => 1 + Math.floor(Math.random() * count);

const pageOf = (table: string, column: string, id: number) => ({
  text: `select *, (select count(*) from ${table} where ${column} = $1) from ${table} where ${column} = $1 order by id desc limit 20`,
  values: [id],
});

const pages: readonly Kind[] = [
  {
    name: "servers",
    everyMs: 10_000,
    of: ({ servers }) => {
      const page = oneOf(Math.ceil(servers / 20));
      return {
        path: `/api/servers?page=${page}`,
        bare: {
          text: "select *, (select count(*) from servers) from servers order by id limit 20 offset $1",
          values: [(page - 1) * 20],
        },
      };
    },
  },
  {
    name: "configurations of a server",
    everyMs: 10_000,
    of: ({ servers }) => {
      const id = oneOf(servers);
      return {
        path: `/api/server/${id}/backups`,
        bare: pageOf("backup_configurations", "server_id", id),
      };
    },
  },
  {
    name: "backups of a configuration",
    everyMs: 10_000,
    of: ({ configurations }) => {
      const id = oneOf(configurations);
      return {
        path: `/api/backup-configuration/${id}/backups`,
        bare: pageOf("backups", "configuration_id", id),
      };
    },
  },
  {
    name: "workers of a site",
    everyMs: 10_000,
    of: ({ sites }) => {
      const id = oneOf(sites);
      return { path: `/api/site/${id}/workers`, bare: pageOf("workers", "site_id", id) };
    },
  },
  {
    name: "deliveries of a webhook",
    everyMs: 10_000,
    of: ({ sites }) => {
      const id = oneOf(sites);
      return {
        path: `/api/site-webhook/${id}/deliveries`,
        bare: pageOf("webhook_deliveries", "webhook_id", id),
      };
    },
  },
  {
    name: "activity",
    everyMs: 5000,
    of: () => ({
      path: "/api/activity",
      bare: { text: "select * from activity order by id desc limit 50", values: [] },
    }),
  },
];

const overview: Kind = {
  name: "overview",
  everyMs: 30_000,
  of: () => ({
    path: "/api/overview",
    bare: {
      text: `select
        (select json_agg(one) from (select site_id, status, count(*) from workers group by 1, 2) one) as workers,
        (select json_agg(one) from (select c.id, n.status from backup_configurations c
          join newest_backups n on n.configuration_id = c.id where n.runs is not null) one) as configurations,
        (select json_agg(one) from (select id, name, server_id from sites) one) as sites,
        (select json_agg(one) from (select id, name, server_id from databases) one) as databases`,
      values: [],
    },
  }),
};

const search: Kind = {
  name: "search",
  everyMs: 30_000,
  of: ({ sites }) => {
    const text = `shop-${oneOf(sites)}`;
    return {
      path: `/api/search?q=${text}`,
      bare: {
        text: `select * from (
          select id, name from servers union all select id, name from sites union all select id, name from databases
          union all select c.id, c.name || ' ' || s.name from backup_configurations c join servers s on s.id = c.server_id
          union all select w.id, w.queue || ' ' || s.name || ' ' || v.name from workers w
            join sites s on s.id = w.site_id join servers v on v.id = s.server_id
          union all select h.id, h.url || ' ' || s.name from webhooks h join sites s on s.id = h.site_id
        ) things where name ilike $1 limit 20`,
        values: [`%${text}%`],
      },
    };
  },
};

const kinds = [...pages, overview, search];
export const kindNames = kinds.map(({ name }) => name);

/** Milliseconds, by kind of request. */
export type Times = Map<string, { answers: number[]; bare: number[] }>;

/** Returns the paths of so many requests of each kind, to be sent one after the other. */
export const pathsOf = (scale: Scale, many: number): Map<string, string[]> =>
  new Map(kinds.map(({ name, of }) => [name, Array.from({ length: many }, () => of(scale).path)]));

/** @returns a function that stops the users, and resolves with all measurements */
export function startUsers(
  instances: readonly ServiceProcess[],
  databaseUrl: string,
  scale: Scale,
): { stop(): Promise<Times> } {
  const stopping = new AbortController();
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 5 });
  const times: Times = new Map(kindNames.map((name) => [name, { answers: [], bare: [] }]));

  async function ask({ name, of }: Kind, user: number): Promise<void> {
    const { path, bare } = of(scale);
    const url = instances[user % instances.length]?.url ?? "";
    const startedMs = performance.now();
    const response = await fetch(url + path, {
      headers: { Authorization: `Bearer ${serviceToken}`, Accept: "application/json" },
    }).catch(() => null);
    // An instance may be down, because one of them is killed.
    if (response === null) return;
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`${path} was answered with ${response.status}.`);
    const answeredMs = performance.now();
    await pool.query(bare);
    const found = times.get(name);
    found?.answers.push(answeredMs - startedMs);
    found?.bare.push(performance.now() - answeredMs);
  }

  /** A user who stays on a page for a while. */
  async function poll(kind: Kind, user: number): Promise<void> {
    const { signal } = stopping;
    // Users begin at different times, and a slow response must not synchronize their polls.
    let nextMs = performance.now() + Math.random() * kind.everyMs;
    for (;;) {
      const restMs = Math.max(0, nextMs - performance.now());
      await wait(restMs, null, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      await ask(kind, user);
      nextMs += kind.everyMs;
    }
  }

  const all = Array.from({ length: users }, (_, user) => {
    const page = pages[user % pages.length];
    return [page, overview, search].flatMap((kind) =>
      kind === undefined ? [] : [poll(kind, user)],
    );
  }).flat();

  return {
    async stop() {
      stopping.abort();
      await Promise.all(all);
      await pool.end();
      return times;
    },
  };
}
