// What happens when an entry is chosen: the palette goes, the focus is where it was, and then it is done.
import { flushSync } from "react-dom";
import type { NavigateFunction } from "react-router";
import { sessions } from "../api/session.ts";
import { knownServers, knownSites } from "../app/known-places.ts";
import { toast } from "../app/toasts.ts";
import { press } from "./commands.ts";
import type { Entry } from "./entry.ts";
import { closePalette } from "./opening.ts";
import { recent } from "./recent.ts";

const known = { site: knownSites, server: knownServers };

export function choose(entry: Entry, isWhole: boolean, navigate: NavigateFunction): void {
  const { act, label, refusal } = entry;
  // It stays in place and says why; whoever presses Enter on it may go on looking.
  if (refusal !== undefined) return;
  // At once, for the focus must be back before a question that the press asks takes it.
  flushSync(closePalette);
  switch (act.kind) {
    case "press": {
      const reason = press(act.words);
      if (reason !== null) toast.failure(`Couldn't run “${label}”.`, reason);
      return;
    }
    case "go":
      if (act.opens && !isWhole)
        known[act.opens.kind].remember({
          address: sessions.current()?.address ?? "",
          id: act.opens.id,
        });
      recent.add(entry);
      void navigate(act.to);
      return;
    case "disconnect":
      sessions.end();
  }
}
