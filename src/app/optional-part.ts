import { type ComponentType, type FunctionComponent, lazy } from "react";

/** A part that is loaded once its page stands, and that the page does without where it cannot be loaded. */
export const optionalPart = <Props>(load: () => Promise<ComponentType<Props>>) =>
  lazy(async (): Promise<{ default: ComponentType<Props> | FunctionComponent<Props> }> => ({
    default: await load().catch(() => () => null),
  }));
