import { CopyButton } from "../button/CopyButton.tsx";

/** The request id of an unexplained error, to search for in the service's log. */
export function RequestId({ id }: { id: string }) {
  return (
    <span className="flex items-center gap-1 font-mono text-xs text-muted">
      Request {id}
      <CopyButton label="Copy request id" text={() => id} />
    </span>
  );
}
