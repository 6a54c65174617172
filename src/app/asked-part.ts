// What opens over a page when somebody asks for it, and is loaded then.
import { type ComponentType, createElement, type ReactNode, useEffect, useState } from "react";
import { toast } from "./toasts.ts";

/** What to do where it does not come. */
export const loadAgain =
  "Try again in a moment. If it doesn't load then, reload the page: a newer version may be installed.";

type Render<Props> = (props: Props) => ReactNode;

type AskedPart<Props> = {
  /** For people, e.g. "the keyboard shortcuts". */
  name: string;
  load: () => Promise<ComponentType<Props>>;
  /** It does not come, and was told: whoever asks again has another try. */
  onMissing: () => void;
};

/** @returns null until it is there */
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
