import { type ComponentType, type FunctionComponent, lazy } from "react";
import { whenReachable } from "./outage.ts";

/**
 * A part that is loaded after its page. If it can't be loaded the page stays, with what was typed and selected; an error would
 * replace both. While the service is away, it is loaded later.
 * @param Missing stands in its place where it does not come; nothing by default
 */
export const optionalPart = <Props>(
  load: () => Promise<ComponentType<Props>>,
  Missing: FunctionComponent = () => null,
) =>
  lazy(async (): Promise<{ default: ComponentType<Props> | FunctionComponent }> => {
    const part = await load()
      .catch(async (error: unknown) => {
        if (await whenReachable()) return load();
        throw error;
      })
      .catch(() => Missing);
    return { default: part };
  });
