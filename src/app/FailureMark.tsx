import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { titleFailures } from "../ui/title-failures.ts";
import { failureCount, iconOf } from "./failures.ts";
import { overviewQuery } from "./inventory.ts";

/** Shows on the browser's tab how many things fail, on every page. */
export function FailureMark() {
  const { data: overview } = useQuery(overviewQuery());
  const count = overview == null ? 0 : failureCount(overview);
  useEffect(() => {
    titleFailures.set(count);
    // The page's head has one from the start.
    document.querySelector("link[rel=icon]")?.setAttribute("href", iconOf(count));
    return () => {
      titleFailures.set(0);
      document.querySelector("link[rel=icon]")?.setAttribute("href", iconOf(0));
    };
  }, [count]);
  return null;
}
