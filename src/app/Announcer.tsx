import { useEffect } from "react";
import { queryClient } from "../api/query.ts";
import { useStore } from "../store.ts";
import { announceChanges, announcement } from "./announcements.ts";

/** Rendered once; see `announceChanges`. */
export function Announcer() {
  const text = useStore(announcement);
  useEffect(() => announceChanges(queryClient), []);
  return (
    <div role="log" aria-label="Changes" className="sr-only">
      {text}
    </div>
  );
}
