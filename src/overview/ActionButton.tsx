import { useState } from "react";
import { workerLabel } from "../../contract/workers/worker-name.ts";
import { loadAgain } from "../app/routing/asked-part.ts";
import { toast } from "../app/toasts.ts";
import { Button } from "../ui/button/Button.tsx";
import type { ProblemAction } from "./problems.ts";

function wordsOf(action: ProblemAction): { label: string; name: string } {
  switch (action.kind) {
    case "run":
      return { label: `Run backup now: ${action.configuration.name}`, name: "Run backup now" };
    case "start":
      return { label: `Start ${workerLabel(action.worker)}`, name: "Start" };
    case "enable":
      return { label: `Enable webhook to ${action.webhook.host}`, name: "Enable" };
  }
}

// Loaded when an action is likely, because most visits run none.
const loadActions = () => import("./run-action.ts");
const preload = () => void loadActions().catch(() => undefined);

/** Runs an action that solves a problem in its line, which disappears or changes once the service reports that. */
export function ActionButton({ action }: { action: ProblemAction }) {
  const [isPending, setPending] = useState(false);
  const words = wordsOf(action);
  const press = async () => {
    setPending(true);
    try {
      const { runAction } = await loadActions();
      await runAction(action);
    } catch {
      toast.failure("Couldn't load what the action needs.", loadAgain);
    }
    setPending(false);
  };
  return (
    <Button
      command={words}
      isPending={isPending}
      onPointerEnter={preload}
      onFocus={preload}
      onClick={() => void press()}
    >
      {words.name}
    </Button>
  );
}
