// The first steps of a new service, before it monitors anything. Pure, except for the stored dismissal.
import type { WholeOverview } from "../app/inventory.ts";
import { attempt } from "../api/kept-session.ts";
import { paths } from "../paths.ts";
import { createStore } from "../store.ts";

type Step = { title: string; isDone: boolean; action: { to: string; label: string } | null };

/** Steps without a link are done in the inventory file, which the page describes. */
export function firstSteps({ servers, protection, channels }: WholeOverview): Step[] {
  const [server] = servers;
  const sites = servers.flatMap((one) => one.sites);
  const site = sites.find(({ is_sample: isSample }) => isSample !== true) ?? sites[0];
  return [
    { title: "Connect a server", isDone: server !== undefined, action: null },
    {
      title: "Add a site",
      isDone: sites.some(({ is_sample: isSample }) => isSample !== true),
      action: null,
    },
    {
      title: "Set up a backup",
      isDone: protection.configurations > 0,
      action:
        server === undefined
          ? null
          : { to: paths.newBackupConfiguration(server.id), label: "New backup" },
    },
    {
      title: "Choose who is notified",
      isDone: channels.total > 0,
      action:
        site === undefined ? null : { to: paths.notifications(site.id), label: "Choose channels" },
    },
  ];
}

const key = "quarterdeck.first-steps";

const dismissed = createStore(attempt(() => localStorage.getItem(key)) === "dismissed");

export const firstStepsDismissed = {
  ...dismissed,
  dismiss(): void {
    dismissed.set(true);
    attempt(() => localStorage.setItem(key, "dismissed"));
  },
};
