import { useStore } from "../store.ts";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { Progress } from "../ui/Progress.tsx";
import { ConfirmFields, useAnswer } from "../app/ConfirmFields.tsx";
import {
  answeredOf,
  type BulkRun,
  hasBroken,
  hasFailed,
  hasWaiting,
  type RunState,
  spokenOf,
  summaryOf,
} from "./bulk-run.ts";
import { type BulkTask, bulkTask } from "./bulk-task.ts";
import { ResultRow, Row } from "./BulkRows.tsx";

/** Now, or with the dialog when it was over before that could open. */
const focus = (button: HTMLButtonElement | null) => {
  if (button === null) return;
  button.autofocus = true;
  button.focus();
};
const close = () => bulkTask.set(null);

/** How far it is, in the place where the question was. */
function Outcome({
  state,
  total,
  show,
}: {
  state: RunState;
  total: number;
  show: BulkTask["show"];
}) {
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

type ActionsProps = {
  title: string;
  run: BulkRun;
  choice: string;
  /** Something stops or is lost. */
  isGrave: boolean;
  disabledReason: string | undefined;
};

/** What was pressed keeps its place and the focus while it runs; at the end "Close" takes both. */
function Actions({ title, run, choice, isGrave, disabledReason }: ActionsProps) {
  const state = useStore(run.state);
  const start = () => void run.start(choice);
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

/** Asks once for all rows, runs the action, and reports the outcome row by row. */
export function BulkDialog({ title, done, rows, leftOut, question, run, show }: BulkTask) {
  const state = useStore(run.state);
  const [answer, setAnswer] = useAnswer(question);
  const isAsking = state.phase === "asking";
  return (
    <Dialog
      role="alertdialog"
      isLong
      title={isAsking ? `${title}?` : title}
      onClose={() => {
        if (state.phase !== "running") close();
      }}
      actions={
        <Actions
          title={title}
          run={run}
          choice={answer.choice}
          isGrave={question !== null}
          disabledReason={isAsking ? answer.refusal : undefined}
        />
      }
    >
      <output className="sr-only">{spokenOf(state)}</output>
      {isAsking ? question?.body : <Outcome state={state} total={rows.length} show={show} />}
      <ul aria-label={title} className="border-y border-line">
        {rows.map(({ id, ...row }) => (
          <ResultRow key={id} {...row} result={state.results.get(id)} done={done} />
        ))}
      </ul>
      {leftOut.length > 0 && (
        <>
          <h3 className="mt-1 font-medium text-ink">Excluded</h3>
          <ul aria-label="Excluded" className="border-y border-line">
            {leftOut.map(({ id, ...row }) => (
              <Row key={id} {...row} />
            ))}
          </ul>
        </>
      )}
      {isAsking && question !== null && (
        <ConfirmFields
          {...question}
          answer={answer}
          onAnswer={setAnswer}
          onSubmit={() => void run.start(answer.choice)}
        />
      )}
    </Dialog>
  );
}
