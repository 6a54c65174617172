// Parts that open over a page on request, and are loaded only then.
import { type ComponentType, createElement, type ReactNode, useEffect, useState } from "react";
import { toast } from "../toasts.ts";

/** What to do where loading fails. */
export const loadAgain =
  "Try again in a moment. If it doesn't load then, reload the page: a newer version may be installed.";

type Render<Props> = (props: Props) => ReactNode;

type AskedPart<Props> = {
  /** Human-readable, e.g. "the keyboard shortcuts". */
  name: string;
  load: () => Promise<ComponentType<Props>>;
  /** Called after a failure was reported, so that the next request tries again. */
  onMissing: () => void;
};

/** @returns null until it is loaded */
export function useAskedPart<Props extends object>({
  name,
  load,
  onMissing,
}: AskedPart<Props>): Render<Props> | null {
  const [render, setRender] = useState<Render<Props> | null>(null);
  useEffect(() => {
    let isAsked = true;
    const fill = async () => {
      try {
        const part = await load();
        setRender(() => (props: Props) => createElement(part, props));
      } catch {
        if (!isAsked) return;
        toast.failure(`Couldn't load ${name}.`, loadAgain);
        onMissing();
      }
    };
    void fill();
    return () => {
      isAsked = false;
    };
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- once for each opening
  }, []);
  return render;
}
