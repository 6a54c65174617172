// The problems of all servers: one for each object, grouped where many are alike, newest first. Pure.
import { workerName } from "../../contract/workers/worker-name.ts";
import type { WholeOverview } from "../app/inventory.ts";
import { paths } from "../paths.ts";
import type { Tone } from "../ui/feedback/tone.ts";

/** The three questions that the page answers, as kinds of problems. */
export const problemKinds = ["unprotected", "down", "undelivered"] as const;
export type ProblemKind = (typeof problemKinds)[number];

export type Problem = {
  key: string;
  kind: ProblemKind;
  tone: Tone;
  title: string;
  /** The site or server of the object. */
  place: string | null;
  reason: string | null;
  /** Since when; null = always, or unknown. */
  at: string | null;
  /** Whether it lasts since `at`, so that its duration is shown. */
  isFailing?: boolean;
  /** Where the problem is shown, and solved unless `action` does that. */
  link: { to: string; label: string };
  /** An action that solves it at once, where that is safe. */
  action?: ProblemAction | undefined;
};

export type ProblemAction =
  | { kind: "run"; configuration: { id: number; name: string } }
  | { kind: "start"; worker: { id: number; queue: string; connection: string; status: string } }
  | { kind: "enable"; webhook: { id: number; host: string } };

export type ProblemGroup = {
  key: string;
  kind: ProblemKind;
  /** Number of problems, including those that are not listed. */
  total: number;
  /** Returns the title of so many problems. */
  title(count: number): string;
  action: string;
  /** Where all of them are solved together; by default the list of their kind. */
  to?: string | undefined;
  problems: readonly Problem[];
};

/** Larger groups are shown as one line. */
const maxShown = 3;

export const many = (count: number, one: string, more: string): string =>
  `${count} ${count === 1 ? one : more}`;

/** The first line of a reason: a worker's reason continues with its log. */
const firstLine = (text: string | null) => text?.split("\n", 1)[0] ?? null;

const channelPath = (siteId: number | null, serverId: number | null | undefined): string =>
  siteId !== null
    ? paths.notifications(siteId)
    : serverId == null
      ? paths.home()
      : paths.serverNotifications(serverId);

function protectionGroups({ protection }: WholeOverview): ProblemGroup[] {
  const { problems, unconfigured, total, protected: good, warned = 0 } = protection;
  const toProblem = (one: (typeof problems)[number]): Problem => ({
    key: `${one.type} ${one.id}`,
    kind: "unprotected",
    tone: one.state !== "unprotected" ? "warn" : one.configuration_id === null ? "idle" : "bad",
    title:
      one.configuration_id === null
        ? `${one.name} has no backup`
        : one.state !== "unprotected"
          ? `Backup of ${one.name} needs attention`
          : `${one.name} is unprotected`,
    place: one.server,
    reason: one.configuration_id === null ? null : (one.warning ?? one.reason),
    at: one.at,
    link:
      one.configuration_id === null
        ? { to: paths.newBackupConfiguration(one.server_id, one), label: "Set up backup" }
        : { to: paths.backupConfiguration(one.configuration_id), label: "View" },
    action:
      one.configuration_id !== null && one.can_run === true
        ? { kind: "run", configuration: { id: one.configuration_id, name: one.name } }
        : undefined,
  });
  const unset = problems.filter((one) => one.configuration_id === null);
  const servers = new Set(unset.map(({ server_id: id }) => id));
  const [server] = servers;
  const isOfOneServer = servers.size === 1 && unset.length === unconfigured;
  const things = new Set(unset.map(typeOf));
  const plural =
    things.size > 1 ? "sites and databases" : things.has("site") ? "sites" : "databases";
  return [
    {
      key: "configured",
      kind: "unprotected",
      total: total - good - unconfigured + warned,
      title: (count) => many(count, "backup needs attention", "backups need attention"),
      action: "Show all",
      problems: problems.filter((one) => one.configuration_id !== null).map(toProblem),
    },
    {
      key: "unconfigured",
      kind: "unprotected",
      total: unconfigured,
      title: (count) => `${count} ${plural} without a backup`,
      action: "Set up",
      to: isOfOneServer && server !== undefined ? paths.backups(server) : undefined,
      problems: unset.map(toProblem),
    },
  ];
}

function selfBackupGroup({ self_backup: own }: WholeOverview): ProblemGroup {
  const problems: Problem[] =
    own == null
      ? []
      : [
          {
            key: "self-backup",
            kind: "unprotected",
            tone: own.state === "overdue" ? "warn" : "bad",
            title: `Backup of Quarterdeck itself ${own.state === "overdue" ? "is overdue" : "failed"}`,
            place: null,
            reason: own.reason,
            at: own.at,
            link: { to: paths.settings(), label: "Check installation" },
          },
        ];
  return {
    key: "self-backup",
    kind: "unprotected",
    total: problems.length,
    title: () => "Backup of Quarterdeck itself",
    action: "Show all",
    problems,
  };
}

const typeOf = ({ type }: { type: string }) => type;

/** One line for a server, instead of one for each of its workers. */
function unreachableGroup({ servers }: WholeOverview): ProblemGroup {
  const problems = servers.flatMap(({ id, name, unreachable }): Problem[] => {
    if (unreachable == null) return [];
    const isServer = unreachable.what === "server";
    return [
      {
        key: `unreachable ${id}`,
        kind: "down",
        tone: "bad",
        title: isServer ? `${name} is unreachable` : `Workers on ${name} are unreachable`,
        place: null,
        reason: unreachable.reason,
        at: unreachable.since,
        link: { to: paths.server(id), label: "View server" },
      },
    ];
  });
  return {
    key: "unreachable",
    kind: "down",
    total: problems.length,
    title: (count) => `${many(count, "server", "servers")} unreachable`,
    action: "Show all",
    problems,
  };
}

function workerGroup({ workers }: WholeOverview): ProblemGroup {
  return {
    key: "workers",
    kind: "down",
    total: workers.failing ?? workers.problems.length,
    title: (count) => `${many(count, "worker", "workers")} down`,
    action: "Show all",
    problems: workers.problems.map((one) => ({
      key: `worker ${one.id}`,
      kind: "down",
      tone: one.status === "failed" || one.is_crash_loop ? "bad" : "warn",
      title: `Worker ${one.connection === undefined ? one.queue : workerName({ queue: one.queue, connection: one.connection })} ${one.is_crash_loop ? "is crash-looping" : one.status === "failed" ? "failed" : `is ${one.status}`}`,
      place: one.site,
      reason: firstLine(one.reason),
      at: one.at ?? null,
      link: { to: paths.worker(one.id), label: "View" },
      action:
        one.status === "failed" && one.connection !== undefined
          ? { kind: "start", worker: { ...one, connection: one.connection } }
          : undefined,
    })),
  };
}

function receiverGroups({
  webhooks,
  channels,
  servers_without_channels: unnotified = [],
}: WholeOverview): ProblemGroup[] {
  return [
    {
      key: "webhooks",
      kind: "undelivered",
      total: webhooks.failing ?? webhooks.problems.length,
      title: (count) => `${many(count, "webhook", "webhooks")} not reached`,
      action: "Show all",
      problems: webhooks.problems.map((one) => ({
        key: `webhook ${one.id}`,
        kind: "undelivered",
        tone: "bad",
        title: `Webhook to ${one.host} ${one.status === "disabled" ? "is disabled" : "is failing"}`,
        place: one.site,
        reason: one.reason,
        at: one.at ?? one.failing_since,
        isFailing: one.status !== "disabled",
        link: { to: paths.webhook(one.id), label: "View" },
        action: one.status === "disabled" ? { kind: "enable", webhook: one } : undefined,
      })),
    },
    {
      key: "channels",
      kind: "undelivered",
      total: channels.failing ?? channels.problems.length,
      title: (count) => `${many(count, "channel", "channels")} not reached`,
      action: "Show all",
      problems: channels.problems.map((one) => ({
        key: `channel ${one.id}`,
        kind: "undelivered",
        tone: "bad",
        title: `Couldn't notify ${one.name}`,
        place: one.title,
        reason: one.answer,
        at: one.at,
        link: { to: channelPath(one.site_id, one.server_id), label: "Send test" },
      })),
    },
    {
      key: "servers",
      kind: "undelivered",
      total: unnotified.length,
      title: (count) =>
        `${many(count, "server has", "servers have")} backups without notifications`,
      action: "Show all",
      problems: unnotified.map(({ id, name, configurations }) => ({
        key: `server ${id}`,
        kind: "undelivered",
        tone: "warn",
        title: `No notifications for ${many(configurations, "backup", "backups")} on ${name}`,
        place: null,
        reason: "No site lists the database, and the server has no notification channel.",
        at: null,
        link: { to: paths.serverNotifications(id), label: "Choose channels" },
      })),
    },
  ];
}

const newestOf = ({ problems }: ProblemGroup) =>
  problems.map(({ at }) => at ?? "").reduce((a, b) => (a > b ? a : b), "");

export const groupsOf = (overview: WholeOverview): ProblemGroup[] =>
  [
    unreachableGroup(overview),
    workerGroup(overview),
    ...receiverGroups(overview),
    ...protectionGroups(overview),
    selfBackupGroup(overview),
  ].filter(({ total, problems }) => total > 0 && problems.length > 0);

/** A line of the list: a single problem, or a group. */
type ProblemLine = { at: string } & (
  | { type: "problem"; problem: Problem }
  | { type: "group"; group: ProblemGroup }
);

/** Newest first; problems without a time come last. */
export const linesOf = (groups: readonly ProblemGroup[]): ProblemLine[] =>
  groups
    .flatMap((group): ProblemLine[] =>
      group.total > maxShown
        ? [{ type: "group", group, at: newestOf(group) }]
        : group.problems.map((problem) => ({ type: "problem", problem, at: problem.at ?? "" })),
    )
    .toSorted((a, b) => b.at.localeCompare(a.at));

/** Returns all problems of one kind separately, and how many the service does not list. */
export function listOf(
  groups: readonly ProblemGroup[],
  kind: ProblemKind,
): { problems: Problem[]; more: number } {
  const own = groups.filter((group) => group.kind === kind);
  const problems = own.flatMap((group) => group.problems);
  const total = own.reduce((sum, group) => sum + group.total, 0);
  return {
    problems: problems.toSorted((a, b) => (b.at ?? "").localeCompare(a.at ?? "")),
    more: total - problems.length,
  };
}
