/** What people are told of an event. When and on which server is added where it is sent. */
export type NotificationPayload = {
  /** What it is about, e.g. the name of a configuration. */
  subject: string;
  facts: [label: string, value: string][];
  /** Timestamps, which are told in UTC and in the server's own time. */
  moments: [label: string, at: string][];
  /** Why, in a tool's or the service's own words. */
  reason: string | null;
  /** Page of the dashboard, from its root. */
  path: string;
};
