// What a dialog about many rows says of its run, and its buttons from the question to the end.
import { useStore } from "../store.ts";
import { Button } from "../ui/Button.tsx";
import { Progress } from "../ui/Progress.tsx";
import {
  answeredOf,
  type BulkRun,
  hasBroken,
  hasFailed,
  hasWaiting,
  type RunState,
  summaryOf,
} from "./bulk-run.ts";

/** Now, or with the dialog when it was over before that could open. */
const focus = (button: HTMLButtonElement | null) => {
  if (button === null) return;
  button.autofocus = true;
  button.focus();
};

type RunOutcomeProps = {
  state: RunState;
  total: number;
  /** Leads to those that failed; null = there is no such place. */
  show: (() => void) | null;
  close: () => void;
};

/** How far it is, in the place where the question was. */
export function RunOutcome({ state, total, show, close }: RunOutcomeProps) {
  const answered = answeredOf(state);
  return (
    <div className="grid gap-2 pb-1">
      <p className="flex flex-wrap items-center gap-x-3 font-medium text-ink">
        <span>{state.phase === "over" ? summaryOf(state) : `${answered} of ${total} done`}</span>
        {show !== null && hasBroken(state) && (
          <Button
            size="sm"
            onClick={() => {
              close();
              show();
            }}
          >
            Show failed
          </Button>
        )}
      </p>
      {state.phase === "running" && <Progress label="Progress" share={answered / total} />}
    </div>
  );
}

type RunActionsProps = {
  /** What the button does, e.g. "Stop 3 workers". */
  title: string;
  run: BulkRun;
  start: () => void;
  close: () => void;
  /** Something stops or is lost. */
  isGrave: boolean;
  disabledReason: string | undefined;
};

/** What was pressed keeps its place and the focus while it runs; at the end "Close" takes both. */
export function RunActions({ title, run, start, close, isGrave, disabledReason }: RunActionsProps) {
  const state = useStore(run.state);
  if (state.phase === "over")
    return (
      <>
        {hasFailed(state) && (
          <Button isChange onClick={start}>
            Retry failed
          </Button>
        )}
        <Button key="close" ref={focus} variant="primary" onClick={close}>
          Close
        </Button>
      </>
    );
  return (
    <>
      {state.phase === "asking" ? (
        <Button onClick={close}>Cancel</Button>
      ) : (
        <Button isPending={!hasWaiting(state)} onClick={run.skipRest}>
          Skip remaining
        </Button>
      )}
      <Button
        variant={isGrave ? "danger" : "primary"}
        isChange
        isPending={state.phase === "running"}
        disabledReason={disabledReason}
        onClick={start}
      >
        {title}
      </Button>
    </>
  );
}
