import { troubleOf } from "../api/api-error.ts";
import { RequestId } from "../ui/RequestId.tsx";

/** What was thrown, in the operator's words, and what the service's log can be searched for. */
export function TroubleText({ error }: { error: unknown }) {
  const { message, requestId } = troubleOf(error);
  return (
    <>
      {message}
      {requestId !== null && <RequestId id={requestId} />}
    </>
  );
}
