// Parts above the pages that no page needs: loaded after the first page.
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { queryClient } from "../../api/query.ts";
import { useStore } from "../../store.ts";
import { titleFailures } from "../../ui/page/title-failures.ts";
import { TooltipHost } from "../../ui/TooltipHost.tsx";
import { announceChanges, announcement } from "./announcements.ts";
import { BulkHost } from "../../bulk/BulkHost.tsx";
import { ConfirmHost } from "./ConfirmHost.tsx";
import { failureCount, iconOf } from "./failures.ts";
import { overviewQuery } from "../inventory.ts";
import { KeysHost } from "../../shortcuts/KeysHost.tsx";
import { singleKeys } from "../../shortcuts/keys.ts";
import { PaletteHost } from "../../palette/PaletteHost.tsx";
import { ServiceState } from "./ServiceState.tsx";
import { ToastHost } from "./ToastHost.tsx";
import { watchPermission } from "./watch-permission.ts";

/** Rendered once; see `announceChanges`. */
function Announcer() {
  const { number, text } = useStore(announcement);
  useEffect(() => announceChanges(queryClient), []);
  return (
    <div role="log" aria-label="Changes" className="sr-only">
      <p key={number}>{text}</p>
    </div>
  );
}

/** Shows the number of failures in the title and icon of the browser's tab. */
function FailureMark() {
  const { data: overview } = useQuery(overviewQuery());
  const count = overview == null ? 0 : failureCount(overview);
  useEffect(() => {
    titleFailures.set(count);
    // The HTML document has this element from the start.
    document.querySelector("link[rel=icon]")?.setAttribute("href", iconOf(count));
    return () => {
      titleFailures.set(0);
      document.querySelector("link[rel=icon]")?.setAttribute("href", iconOf(0));
    };
  }, [count]);
  return null;
}

export function Overlays() {
  useEffect(watchPermission, []);
  return (
    <>
      <ServiceState />
      <ToastHost />
      <ConfirmHost />
      <PaletteHost />
      <BulkHost />
      <KeysHost />
      <TooltipHost hasKeys={useStore(singleKeys)} />
      <Announcer />
      <FailureMark />
    </>
  );
}
