// The content of the large seed: names and numbers only, the same at every start. The sizes are those that are hard for a
// dashboard: 13 servers, 80 sites, 60 workers, 41 backup configurations.

type PlannedWorker = { site: number; connection: string; queue: string; processes: number };
type PlannedConfiguration = {
  server: number;
  name: string;
  type: "site" | "database";
  id: number;
  storage: number;
  frequency: string;
  /** How many runs are started while the seed is created. */
  runs: number;
};

/** One server has more than one page of sites, others have none, and one name is too long for any column. */
const serverSizes = [
  ["web-1", 24],
  ["web-2", 12],
  ["web-3", 8],
  ["web-4", 6],
  ["web-5", 6],
  ["eu-west-1", 6],
  ["eu-west-2", 5],
  ["us-east-1", 5],
  ["production-eu-central-1-application-07", 4],
  ["staging", 3],
  ["queue-1", 1],
  ["db-1", 0],
  ["db-2", 0],
] as const;

const owners = [
  "example.com",
  "northwind.example",
  "acme.example",
  "globex.example",
  "initech.example",
  "umbrella.example",
  "hooli.example",
  "stark-industries.example",
  "wayne-enterprises.example",
  "northwind-traders-international.example",
];
const hosts = ["shop", "blog", "api", "admin", "docs", "billing", "intranet", "customer-portal"];
const zones = ["UTC", "Europe/Berlin", "America/New_York"];
const queues = ["default", "emails", "exports", "images", "search", "imports"];
const connections = ["redis", "database"];

/** Returns the item at an index, which wraps around at the end. */
const around = <Item>(items: readonly [Item, ...Item[]] | Item[], place: number): Item => {
  const item = items[place % items.length];
  if (item === undefined) throw new Error("The list is empty.");
  return item;
};

const servers = serverSizes.map(([name], index) => ({
  id: index + 1,
  name,
  zone: around(zones, index),
}));

const sites = serverSizes
  .flatMap(([, many], index) => Array.from({ length: many }, () => index + 1))
  .map((server, index) => ({
    id: index + 1,
    server,
    name: `${around(hosts, index)}.${around(owners, Math.floor(index / hosts.length))}`,
  }));

const databaseServers = [12, 13];
const databases = [
  "shop",
  "crm",
  "billing",
  "search",
  "analytics",
  "forum",
  "legacy-crm",
  "wiki",
].map((name, index) => ({ id: index + 1, server: around(databaseServers, index), name }));

/** The second storage cannot store anything, because its folder would be below a file. */
const brokenStorage = 2;
/** A file that is not a database. */
const brokenDatabase = 7;

/** Several workers on the first sites, one on some of the others. */
const workers: PlannedWorker[] = Array.from({ length: 60 }, (_, index) => ({
  site: index < 24 ? Math.floor(index / 6) + 1 : index - 19,
  queue: around(queues, index),
  connection: around(connections, Math.floor(index / queues.length)),
  processes: index % 12 === 1 ? 3 : 1,
}));

const frequencyOf = (index: number) => `${(index * 7) % 60} ${index % 6} * * *`;

const configurations: PlannedConfiguration[] = [
  ...databases.map(({ id, server, name }, index) => ({
    server,
    name: `${name}, nightly`,
    type: "database" as const,
    id,
    storage: 1,
    frequency: frequencyOf(index),
    runs: id === brokenDatabase ? 0 : id === 1 ? 6 : 1,
  })),
  ...sites
    .filter(({ id }) => id % 5 === 1 || id % 5 === 3 || id === 2)
    .map(({ id, server, name }, index) => ({
      server,
      name: `${name}, nightly`,
      type: "site" as const,
      id,
      storage: index === 4 ? brokenStorage : 1,
      frequency: frequencyOf(index + databases.length),
      // One has not run yet, and one cannot run.
      runs: index === 4 || index === 9 ? 0 : 1,
    })),
];

/** Sites whose folder is removed after the first run, so that their last run failed. */
const lostSites = [11, 41];

/** The receiver's path decides on the result of a delivery. */
const webhooks = [
  ...sites.filter(({ id }) => id % 8 === 1).map(({ id }) => ({ site: id, path: "/hooks" })),
  { site: 1, path: "/hooks/failing" },
  { site: 12, path: "/hooks/failing" },
  { site: 25, path: "/hooks/unsubscribed" },
];

const channels = [
  { id: 1, name: "ops", type: "slack" },
  { id: 2, name: "on-call", type: "email" },
  { id: 3, name: "deployments", type: "slack" },
] as const;

export const largePlan = {
  servers,
  sites,
  databases,
  brokenDatabase,
  workers,
  configurations,
  lostSites,
  webhooks,
  channels,
  /** Channels by site: the first two sites have an email channel, although no mail server is set up. */
  channelsOf: (site: number) => (site <= 2 ? [1, 2] : site % 4 === 0 ? [] : [1]),
  /** Site and queue of two workers that fail at once, and of one that is crash-looping. */
  failing: [
    { site: 1, queue: "exports" },
    { site: 14, queue: "images" },
  ],
  crashLoop: { site: 3, queue: "search" },
  /** Indexes of workers that are stopped. */
  stoppedWorkers: [20, 35, 47],
  deployments: sites.filter(({ id }) => id % 6 === 1).map(({ id }) => id),
  failedDeployment: 13,
};
