import { describeError } from "../api/api-error.ts";
import { RequestId } from "../ui/text/RequestId.tsx";

/** Shows an error's message, and the request id to search for in the service's log. */
export function ErrorText({ error }: { error: unknown }) {
  const { message, requestId } = describeError(error);
  return (
    <>
      {message}
      {requestId !== null && <RequestId id={requestId} />}
    </>
  );
}
