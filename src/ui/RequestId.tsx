import { CopyButton } from "./CopyButton.tsx";

/** What the service's log can be searched for, of an error that the service could not explain itself. */
export function RequestId({ id }: { id: string }) {
  return (
    <span className="flex items-center gap-1 font-mono text-xs text-muted">
      Request {id}
      <CopyButton label="Copy request id" text={() => id} />
    </span>
  );
}
