import { useIsFetching } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Icon } from "../ui/Icon.tsx";

/**
 * Says in one place that the service is not responding, while the pages keep their old data and go on trying.
 * It stands where there is always something, so that it moves nothing.
 */
export function ConnectionState({ children }: { children?: ReactNode }) {
  const failing = useIsFetching({ predicate: ({ state }) => state.fetchFailureCount > 0 });
  return (
    <output className="flex min-w-0 flex-1 items-center gap-2">
      {failing === 0 ? (
        children
      ) : (
        <>
          <span className="text-warn">
            <Icon name="warning" />
          </span>
          <span className="truncate text-warn">Reconnecting…</span>
        </>
      )}
    </output>
  );
}
