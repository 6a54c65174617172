import type { FieldErrors } from "react-hook-form";
import { bringIntoView } from "../ui/bring-into-view.ts";
import { Notice } from "../ui/Notice.tsx";
import { RequestId } from "../ui/RequestId.tsx";

/** What the service said that belongs to no field; `setServerErrors` puts it there, with the request's id as its type. */
export function FormError({ errors }: { errors: FieldErrors }) {
  const { message, type: requestId } = errors.root?.["service"] ?? {};
  if (message === undefined) return null;
  return (
    <div ref={bringIntoView} className="scroll-my-24">
      <Notice tone="bad" isAlert>
        {message}
        {typeof requestId === "string" && requestId !== "" && <RequestId id={requestId} />}
      </Notice>
    </div>
  );
}
