import { expect, test } from "vitest";
import type { WholeOverview } from "../app/inventory.ts";
import { failureCount } from "../app/shell/failures.ts";
import { calmText } from "./calm.ts";
import { figuresOf } from "./figures.ts";
import { firstSteps } from "./first-steps.ts";
import { groupsOf, linesOf, listOf } from "./problems.ts";

const at = (minute: number) => `2026-01-31T09:${String(minute).padStart(2, "0")}:00.000000Z`;

const empty: WholeOverview = {
  workers: { total: 0, up: 0, stopped: 0, failing: 0, problems: [] },
  webhooks: { total: 0, failing: 0, problems: [] },
  channels: { total: 0, failing: 0, problems: [] },
  protection: { total: 0, protected: 0, unconfigured: 0, configurations: 0, problems: [] },
  servers: [],
};

const worker = (id: number, minute: number): WholeOverview["workers"]["problems"][number] => ({
  id,
  server_id: 1,
  site_id: 1,
  site: "shop.example.com",
  queue: "exports",
  connection: "redis",
  status: "failed",
  is_crash_loop: false,
  reason: "Process 1: Exited with code 1.\nLast lines of the log:",
  at: at(minute),
});

const target = (id: number, configuration_id: number | null, minute: number | null) => ({
  type: "site" as const,
  id,
  name: `site-${id}`,
  server_id: 1,
  server: "web-1",
  state: configuration_id === null ? ("unprotected" as const) : ("late" as const),
  reason: "The last run failed.",
  configuration_id,
  at: minute === null ? null : at(minute),
});

const troubled: WholeOverview = {
  ...empty,
  workers: { total: 60, up: 56, stopped: 2, failing: 2, problems: [worker(1, 5), worker(2, 30)] },
  protection: {
    total: 80,
    protected: 37,
    unconfigured: 42,
    configurations: 38,
    problems: [
      target(9, 4, 20),
      ...Array.from({ length: 42 }, (_, id) => target(100 + id, null, null)),
    ],
  },
};

test("a failed or overdue backup of Quarterdeck itself is a separate problem", () => {
  const own = { reason: "The disk is full.", at: at(3) };
  const problemsOf = (self_backup: WholeOverview["self_backup"]) =>
    groupsOf({ ...empty, self_backup }).flatMap(({ problems }) => problems);
  expect(problemsOf({ state: "failed", ...own })).toMatchObject([
    { title: "Backup of Quarterdeck itself failed", tone: "bad", reason: "The disk is full." },
  ]);
  expect(problemsOf({ state: "overdue", reason: null, at: at(3) })).toMatchObject([
    { title: "Backup of Quarterdeck itself is overdue", tone: "warn" },
  ]);
  expect(problemsOf(null)).toEqual([]);
});

test("a figure is good only if everything in it is", () => {
  expect(figuresOf(troubled)).toMatchObject([
    { value: 37, total: 80, tone: "bad", detail: "1 needs attention · 42 without a backup" },
    { value: 56, total: 60, tone: "bad", detail: "2 down · 2 stopped" },
    { value: 0, total: 0, tone: "idle", detail: "No webhooks or channels" },
  ]);
  const stopped = { ...empty, workers: { ...empty.workers, total: 3, up: 2, stopped: 1 } };
  expect(figuresOf(stopped)[1]).toMatchObject({ tone: "idle", detail: "1 stopped" });
  const up = { ...empty, workers: { ...empty.workers, total: 3, up: 3 } };
  expect(figuresOf(up)[1]).toMatchObject({ tone: "good", detail: "All workers" });
});

test("a backup with a warning is protected, and never green", () => {
  const odd: WholeOverview = {
    ...empty,
    protection: {
      ...empty.protection,
      total: 1,
      protected: 1,
      warned: 1,
      configurations: 1,
      problems: [{ ...target(1, 2, 20), state: "protected", warning: "Nearly empty: 1 kB." }],
    },
  };
  expect(figuresOf(odd)[0]).toMatchObject({ value: 1, tone: "warn", detail: "1 with a warning" });
  expect(linesOf(groupsOf(odd))).toMatchObject([
    {
      problem: {
        tone: "warn",
        title: "Backup of site-1 needs attention",
        reason: "Nearly empty: 1 kB.",
      },
    },
  ]);
  expect(failureCount(odd)).toBe(1);
});

test("offers an action only if it fixes the problem", () => {
  const actionsOf = (overview: WholeOverview) =>
    groupsOf(overview).flatMap(({ problems }) =>
      problems.map(({ action }) => action?.kind ?? null),
    );
  const { protection, workers } = empty;
  const configured = { ...target(1, 2, 20), can_run: true };
  expect(
    actionsOf({
      ...empty,
      workers: {
        ...workers,
        failing: 3,
        problems: [
          worker(1, 5),
          { ...worker(2, 5), status: "installed", is_crash_loop: true },
          { ...worker(3, 5), status: "restarting" },
        ],
      },
      protection: {
        ...protection,
        total: 3,
        unconfigured: 1,
        problems: [configured, target(2, 3, 20), { ...target(4, null, null), can_run: false }],
      },
    }),
  ).toEqual(["start", null, null, "run", null, null]);
});

test("an unreachable server is one line, however many workers it has, and links to the server's page", () => {
  const server = (id: number, what: "server" | "workers" | null) => ({
    id,
    name: `web-${id}`,
    health: "failing" as const,
    targets: 0,
    protected: 0,
    problems: 1,
    running: 0,
    next_run_at: null,
    sites: [],
    unreachable: what && { what, since: at(5), reason: "Couldn't connect." },
  });
  const overview: WholeOverview = {
    ...empty,
    workers: { ...empty.workers, total: 60, up: 20, unreachable: 40 },
    servers: [server(1, "server"), server(2, null), server(3, "workers")],
  };
  const problem = { reason: "Couldn't connect.", at: at(5) };
  expect(linesOf(groupsOf(overview))).toMatchObject([
    {
      problem: {
        ...problem,
        title: "web-1 is unreachable",
        link: { to: "/servers/1", label: "View server" },
      },
    },
    {
      problem: {
        ...problem,
        title: "Workers on web-3 are unreachable",
        link: { to: "/servers/3", label: "View server" },
      },
    },
  ]);
  expect(figuresOf(overview)[1]).toMatchObject({
    value: 20,
    total: 60,
    tone: "bad",
    detail: "2 servers unreachable with 40 workers",
  });
  expect(figuresOf({ ...overview, workers: empty.workers })[1]).toMatchObject({
    tone: "bad",
    detail: "2 servers unreachable",
  });
  expect(failureCount(overview)).toBe(2);
  expect(calmText({ ...overview, servers: [] })).not.toBeNull();
});

test("groups many similar problems in one line, newest first", () => {
  const lines = linesOf(groupsOf(troubled)).map((line) =>
    line.type === "group" ? line.group.title(line.group.total) : line.problem.title,
  );
  expect(lines).toEqual([
    "Worker exports on redis failed",
    "Backup of site-9 needs attention",
    "Worker exports on redis failed",
    "42 sites without a backup",
  ]);
});

test("a list of one kind shows each problem, and how many are not listed", () => {
  const many = { ...troubled.workers, failing: 120 };
  const { problems, more } = listOf(groupsOf({ ...troubled, workers: many }), "down");
  expect(problems.map(({ key }) => key)).toEqual(["worker 2", "worker 1"]);
  expect(problems[0]?.reason).toBe("Process 1: Exited with code 1.");
  expect(more).toBe(118);
});

test("claims no problems only for what exists", () => {
  expect(calmText(empty)).toBeNull();
  expect(calmText({ ...empty, workers: { ...empty.workers, total: 1, up: 1 } })).toBe(
    "No problems: 1 worker up.",
  );
});

test("does not count the sample as a site that a user added", () => {
  const sample = { id: 1, name: "sample", health: "good", is_sample: true } as const;
  const server = {
    id: 1,
    name: "here",
    health: "good",
    targets: 1,
    protected: 0,
    problems: 0,
  } as const;
  const rest = { running: 0, next_run_at: null };
  const done = (sites: WholeOverview["servers"][number]["sites"]) =>
    firstSteps({ ...empty, servers: [{ ...server, ...rest, sites }] }).map(({ isDone }) => isDone);
  expect(done([sample])).toEqual([true, false, false, false]);
  expect(done([sample, { id: 2, name: "shop", health: "good" }])[1]).toBe(true);
});
