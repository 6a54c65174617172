// The text and tone of a server's or site's health, in the navigation and on the overview.
import type { Health, OverviewServer } from "../../../contract/overview-parts.ts";
import type { Tone } from "../../ui/feedback/tone.ts";

const looks: Record<Health, { tone: Tone; text: string }> = {
  failing: { tone: "bad", text: "Has problems" },
  unreachable: { tone: "idle", text: "Unreachable" },
  attention: { tone: "warn", text: "Needs attention" },
  unprotected: { tone: "idle", text: "Backups missing" },
  good: { tone: "good", text: "No problems" },
  empty: { tone: "idle", text: "Nothing to check" },
};

/** A map, because a service may send states that this dashboard lacks. */
const known = new Map<string, { tone: Tone; text: string }>(Object.entries(looks));

export const healthLook = (health: OverviewServer["health"]): { tone: Tone; text: string } =>
  known.get(health) ?? { tone: "idle", text: health };
