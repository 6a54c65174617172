import { useStore } from "../store.ts";
import { Dialog } from "../ui/dialog/Dialog.tsx";
import { ConfirmFields, useAnswer } from "../app/ConfirmFields.tsx";
import { spokenOf } from "./bulk-run.ts";
import { type BulkTask, bulkTask } from "./current-task.ts";
import { ResultRow, Row } from "./BulkRows.tsx";
import { RunActions, RunOutcome } from "./RunParts.tsx";

const close = () => bulkTask.set(null);

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
        <RunActions
          title={title}
          run={run}
          start={() => void run.start(answer.choice)}
          close={close}
          isGrave={question !== null}
          disabledReason={isAsking ? answer.refusal : undefined}
        />
      }
    >
      <output className="sr-only">{spokenOf(state)}</output>
      {isAsking ? (
        question?.body
      ) : (
        <RunOutcome state={state} total={rows.length} show={show} close={close} />
      )}
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
