import { Button } from "../button/Button.tsx";
import { Icon } from "../Icon.tsx";
import { RequestId } from "../text/RequestId.tsx";
import { StatusDot } from "./StatusDot.tsx";
import { toneText } from "./tone.ts";

type ToastProps = {
  tone: "good" | "bad" | "busy";
  text: string;
  /** A second, quieter line. */
  detail?: string | undefined;
  requestId?: string | null | undefined;
  action?: { label: string; run: () => void } | undefined;
  onDismiss: () => void;
};

export function Toast({ tone, text, detail, requestId, action, onDismiss }: ToastProps) {
  return (
    <div className="flex w-full items-start gap-2.5 rounded-lg border border-line bg-raised py-2.5 pe-2 ps-3.5 shadow-pop motion-safe:animate-arrive">
      <span className={`mt-1.5 flex size-4 items-center justify-center ${toneText[tone]}`}>
        {tone === "busy" ? (
          <StatusDot tone="busy" isMoving />
        ) : (
          <Icon name={tone === "good" ? "success" : "alert"} />
        )}
      </span>
      <div className="min-w-0 flex-1 py-1 wrap-anywhere">
        <p className="font-medium">{text}</p>
        {detail !== undefined && <p className="text-sm text-muted">{detail}</p>}
        {requestId && <RequestId id={requestId} />}
      </div>
      {action !== undefined && (
        <Button size="sm" onClick={action.run}>
          {action.label}
        </Button>
      )}
      <Button variant="ghost" size="sm" aria-label="Dismiss" onClick={onDismiss}>
        <Icon name="close" />
      </Button>
    </div>
  );
}
