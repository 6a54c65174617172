import type { WholeOverview } from "../app/inventory.ts";
import { LinkButton } from "../app/LinkButton.tsx";
import { useStore } from "../store.ts";
import { Button } from "../ui/button/Button.tsx";
import { DocsLink } from "../ui/text/DocsLink.tsx";
import { Icon } from "../ui/Icon.tsx";
import { Panel } from "../ui/page/Panel.tsx";
import { firstSteps, firstStepsDismissed } from "./first-steps.ts";

/** Shown until all steps are done or the user dismisses it. */
export function FirstSteps({ overview }: { overview: WholeOverview }) {
  const isDismissed = useStore(firstStepsDismissed);
  const steps = firstSteps(overview);
  if (isDismissed || steps.every(({ isDone }) => isDone)) return null;
  const sample = overview.servers.flatMap(({ sites }) => sites).find((site) => site.is_sample);
  return (
    <Panel
      title="First steps"
      actions={
        <Button variant="ghost" onClick={() => firstStepsDismissed.dismiss()}>
          Dismiss
        </Button>
      }
    >
      <ol>
        {steps.map(({ title, isDone, action }) => (
          <li
            key={title}
            className="flex min-h-11 items-center gap-3 border-b border-line px-4 py-1.5 text-sm last:border-b-0 max-sm:px-3"
          >
            <span
              className={`flex size-4 shrink-0 items-center justify-center rounded-full ${isDone ? "text-good" : "border border-edge"}`}
            >
              {isDone && <Icon name="check" />}
            </span>
            <span className={isDone ? "text-muted" : "font-medium"}>
              {title}
              <span className="sr-only">{isDone ? ", done" : ", to do"}</span>
            </span>
            {!isDone && (
              <span className="ms-auto">
                {action === null ? (
                  <DocsLink page="inventory">Inventory reference</DocsLink>
                ) : (
                  <LinkButton to={action.to}>{action.label}</LinkButton>
                )}
              </span>
            )}
          </li>
        ))}
      </ol>
      {sample !== undefined && (
        <p className="border-t border-line px-4 py-2 text-sm text-muted max-sm:px-3">
          The site “{sample.name}” is a sample to try things with. Remove it from the inventory when
          you no longer need it.
        </p>
      )}
    </Panel>
  );
}
