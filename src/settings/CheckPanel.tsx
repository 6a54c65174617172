// Runs the checks of `quarterdeck doctor`, and shows what to do about each result.
import { useState } from "react";
import { countOf } from "../../contract/count-text.ts";
import type { Diagnosis } from "../../contract/doctor.ts";
import { call } from "../api/client.ts";
import { toast } from "../app/toasts.ts";
import { Button } from "../ui/button/Button.tsx";
import { Panel } from "../ui/page/Panel.tsx";
import { StatusDot } from "../ui/feedback/StatusDot.tsx";
import type { Tone } from "../ui/feedback/tone.ts";

const tones: Record<Diagnosis["state"], Tone> = { ok: "good", warning: "warn", failed: "bad" };

const summaryOf = (results: readonly Diagnosis[]): string =>
  (["failed", "warning", "ok"] as const)
    .map((wanted) => [results.filter(({ state }) => state === wanted).length, wanted] as const)
    .filter(([count]) => count > 0)
    .map(([count, state]) => countOf(count, state, state === "warning" ? "warnings" : state))
    .join(", ");

/** Problems first. */
const order = { failed: 0, warning: 1, ok: 2 } as const;

/** @param isAllowed whether the current token may run the checks */
export function CheckPanel({ isAllowed }: { isAllowed: boolean }) {
  const [results, setResults] = useState<readonly Diagnosis[] | null>(null);
  const [isChecking, setIsChecking] = useState(false);
  if (!isAllowed) return null;
  const check = async () => {
    setIsChecking(true);
    try {
      const { results: found } = await call("checkInstallation", {});
      setResults(found.toSorted((a, b) => order[a.state] - order[b.state]));
    } catch (error) {
      toast.failure("Couldn't check the installation.", error);
    }
    setIsChecking(false);
  };
  return (
    <Panel
      title="Checks"
      actions={
        <Button
          size="sm"
          isChange
          isPending={isChecking}
          command={{ label: "Check installation" }}
          onClick={() => void check()}
        >
          Check installation
        </Button>
      }
    >
      <output className="sr-only">
        {isChecking ? "Checking…" : results !== null && summaryOf(results)}
      </output>
      {results === null ? (
        <p className="px-4 py-3 text-sm text-muted max-sm:px-3">
          Checks tools, disk, clock, database, inventory, storage and mail, as{" "}
          <code>quarterdeck doctor</code> does.
        </p>
      ) : (
        <ul aria-label="Results">
          {results.map(({ name, state, message, cure }) => (
            <li
              key={`${name} ${message}`}
              className="flex gap-3 border-b border-line px-4 py-2 text-sm last:border-b-0 max-sm:px-3"
            >
              <span className="mt-1.5">
                <StatusDot tone={tones[state]} />
              </span>
              <div className="min-w-0 flex-1">
                <p className="font-medium">
                  {name}
                  {state !== "ok" && <span className="font-normal text-muted"> · {state}</span>}
                </p>
                <p className="wrap-anywhere whitespace-pre-line">{message}</p>
                {cure !== null && <p className="wrap-anywhere text-muted">{cure}</p>}
              </div>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
