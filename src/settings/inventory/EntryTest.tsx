// Tests an entry with the values in the form, before it is saved.
import { useEffect, useRef } from "react";
import { useFormContext } from "react-hook-form";
import type { InventoryKind } from "../../../contract/inventory/entries.ts";
import type { InventoryTest } from "../../../contract/inventory/inventory.ts";
import { messageOf } from "../../api/api-error.ts";
import { Button } from "../../ui/button/Button.tsx";
import { handFocusOn } from "../../ui/focus/hand-focus-on.ts";
import { Notice } from "../../ui/feedback/Notice.tsx";
import { testEntry } from "./actions.ts";
import { type EntryValues, schemaOf } from "./entry-form.ts";
import { kinds } from "./kinds.ts";

export type TestProgress =
  | { state: "idle" }
  | { state: "running"; cancel: () => void }
  | { state: "ended"; result: InventoryTest };

const failed = (message: string): InventoryTest => ({
  ok: false,
  message,
  details: [],
  host_keys: [],
});

type EntryTestProps = {
  kind: InventoryKind;
  progress: TestProgress;
  onProgress: (progress: TestProgress) => void;
};

export function TestButton({ kind, progress, onProgress }: EntryTestProps) {
  const { getValues, trigger } = useFormContext<EntryValues>();
  const running = useRef<AbortController | null>(null);
  // Leaving the page aborts the test.
  useEffect(() => () => running.current?.abort(), []);
  const { test } = kinds[kind];
  if (test === null) return null;
  const start = async () => {
    const parsed = schemaOf(kind).safeParse(getValues());
    if (!parsed.success) {
      await trigger(undefined, { shouldFocus: true });
      return;
    }
    const controller = new AbortController();
    running.current = controller;
    onProgress({
      state: "running",
      cancel() {
        controller.abort();
        onProgress({ state: "idle" });
      },
    });
    try {
      const result = await testEntry(kind, parsed.data, controller.signal);
      if (!controller.signal.aborted) onProgress({ state: "ended", result });
    } catch (error) {
      if (!controller.signal.aborted)
        onProgress({ state: "ended", result: failed(messageOf(error)) });
    }
  };
  const isRunning = progress.state === "running";
  return (
    <>
      <Button
        isChange
        isPending={isRunning}
        // Like the submit button: an error that disappears on blur would move this from under the pointer.
        onMouseDown={(event) => event.preventDefault()}
        onClick={() => void start()}
      >
        {isRunning ? test.busy : test.label}
      </Button>
      {isRunning && (
        <span ref={handFocusOn} className="contents">
          <Button onClick={progress.cancel}>Cancel test</Button>
        </span>
      )}
    </>
  );
}

/** The result of a test, announced to screen readers. */
export function TestResult({ progress }: { progress: TestProgress }) {
  const { setValue } = useFormContext();
  const result = progress.state === "ended" ? progress.result : null;
  return (
    // Takes no space while it is empty.
    <div aria-live="polite" className="empty:-mt-5">
      {result !== null && (
        <Notice tone={result.ok ? "good" : "bad"}>
          <p>{result.message}</p>
          {result.details.length > 0 && (
            <ul className="mt-1 grid gap-0.5 text-sm text-muted">
              {result.details.map((line) => (
                <li key={line}>{line}</li>
              ))}
            </ul>
          )}
          {result.host_keys.length > 0 && (
            <ul className="mt-2 grid gap-2">
              {result.host_keys.map(({ type, fingerprint }) => (
                <li key={fingerprint} className="flex flex-wrap items-center gap-x-3 gap-y-1">
                  <code className="min-w-0 font-mono text-xs wrap-anywhere">
                    {fingerprint} ({type})
                  </code>
                  <Button
                    size="sm"
                    aria-label={`Use host key ${fingerprint}`}
                    onClick={() =>
                      setValue("connection.ssh.host_key", fingerprint, {
                        shouldDirty: true,
                        shouldValidate: true,
                      })
                    }
                  >
                    Use this key
                  </Button>
                </li>
              ))}
            </ul>
          )}
        </Notice>
      )}
    </div>
  );
}
