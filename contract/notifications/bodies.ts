import * as z from "zod/mini";
import { subscribableEvents } from "../events.ts";
import { ownId } from "../inputs.ts";

/** Replaces the whole selection; an empty list clears it. */
export const updateNotificationsBody = z
  .object({ channels: z.array(ownId).check(z.maxLength(100)) })
  .register(z.globalRegistry, { id: "UpdateNotifications" });

/** Which events of a site or server a channel is notified about; `problems` = `problemEvents`. */
const eventChoice = z.union([
  z.enum(["all", "problems"]),
  z.array(z.enum(subscribableEvents)).check(z.minLength(1)),
]);
export type EventChoice = z.infer<typeof eventChoice>;

/** Replaces the choices of all channels; a channel that is not listed is notified about all events. */
export const updateNotificationEventsBody = z
  .object({
    channels: z.array(z.object({ id: ownId, events: eventChoice })).check(z.maxLength(100)),
  })
  .register(z.globalRegistry, { id: "UpdateNotificationEvents" });
export type UpdateNotificationEventsBody = z.infer<typeof updateNotificationEventsBody>;
