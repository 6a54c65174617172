import { describeError } from "../api/api-error.ts";
import { RequestId } from "../ui/RequestId.tsx";

/** What was thrown, in the operator's words, and what the service's log can be searched for. */
export function ErrorText({ error }: { error: unknown }) {
  const { message, requestId } = describeError(error);
  return (
    <>
      {message}
      {requestId !== null && <RequestId id={requestId} />}
    </>
  );
}
