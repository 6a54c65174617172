// The three figures at the top of the overview. Pure.
import type { WholeOverview } from "../app/inventory.ts";
import type { Tone } from "../ui/feedback/tone.ts";
import { many, type ProblemKind } from "./problems.ts";

export type Figure = {
  label: string;
  kind: ProblemKind;
  value: number;
  total: number;
  tone: Tone;
  /** Describes the rest, or what was counted. */
  detail: string;
};

const listed = (parts: readonly (string | false)[]) => parts.filter((part) => part).join(" · ");

/** Good only without exceptions: a green mark next to "7 of 14" would be misleading. */
const toneOf = (failing: number, rest: number, total: number): Tone =>
  total === 0 ? "idle" : failing > 0 ? "bad" : rest > 0 ? "warn" : "good";

export function figuresOf({
  protection,
  workers,
  webhooks,
  channels,
  servers,
}: WholeOverview): Figure[] {
  const { total, protected: good, unconfigured, warned = 0 } = protection;
  const unwell = total - good - unconfigured;
  const down = workers.failing ?? workers.problems.length;
  const away = servers.filter(({ unreachable }) => unreachable != null).length;
  const { unreachable = 0 } = workers;
  const moving = workers.total - workers.up - workers.stopped - down - unreachable;
  const receivers = webhooks.total + channels.total;
  const unreached =
    (webhooks.failing ?? webhooks.problems.length) + (channels.failing ?? channels.problems.length);
  return [
    {
      label: "Protected",
      kind: "unprotected",
      value: good,
      total,
      tone: toneOf(unwell, unconfigured + warned, total),
      detail:
        total === 0
          ? "No sites or databases"
          : good === total && warned === 0
            ? "All sites and databases"
            : listed([
                unwell > 0 && many(unwell, "needs attention", "need attention"),
                warned > 0 && many(warned, "with a warning", "with warnings"),
                unconfigured > 0 && `${unconfigured} without a backup`,
              ]),
    },
    {
      label: "Up",
      kind: "down",
      value: workers.up,
      total: workers.total,
      // A worker that a user stopped is no failure, but not up either.
      tone:
        away > 0
          ? "bad"
          : down === 0 && workers.up < workers.total
            ? "idle"
            : toneOf(down, 0, workers.total),
      detail:
        workers.total === 0 && away === 0
          ? "No workers"
          : workers.up === workers.total && away === 0
            ? "All workers"
            : listed([
                away > 0 &&
                  `${many(away, "server", "servers")} unreachable${unreachable > 0 ? ` with ${many(unreachable, "worker", "workers")}` : ""}`,
                down > 0 && `${down} down`,
                workers.stopped > 0 && `${workers.stopped} stopped`,
                moving > 0 && `${moving} changing`,
              ]),
    },
    {
      label: "Delivered",
      kind: "undelivered",
      value: receivers - unreached,
      total: receivers,
      tone: toneOf(unreached, 0, receivers),
      detail:
        receivers === 0
          ? "No webhooks or channels"
          : unreached === 0
            ? "All webhooks and channels"
            : `${unreached} not reached`,
    },
  ];
}
