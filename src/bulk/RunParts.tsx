// Progress, outcome and buttons of a dialog about many rows.
import { useStore } from "../store.ts";
import { Button } from "../ui/button/Button.tsx";
import { Progress } from "../ui/feedback/Progress.tsx";
import {
  answeredOf,
  type BulkRun,
  hasBroken,
  hasFailed,
  hasWaiting,
  type RunState,
  summaryOf,
} from "./bulk-run.ts";

/** Focuses a button now or, where the run was over before the dialog opened, with the dialog. */
const focus = (button: HTMLButtonElement | null) => {
  if (button === null) return;
  button.autofocus = true;
  button.focus();
};

type RunOutcomeProps = {
  state: RunState;
  total: number;
  /** Shows the failed rows; null = the list cannot show them. */
  show: (() => void) | null;
  close: () => void;
};

/** The progress and outcome, in the place of the question. */
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
  /** Label of the button, e.g. "Stop 3 workers". */
  title: string;
  run: BulkRun;
  start: () => void;
  close: () => void;
  /** Whether something stops or is lost. */
  isGrave: boolean;
  disabledReason: string | undefined;
};

/** The pressed button keeps its place and the focus while the action runs; "Close" then takes both. */
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
