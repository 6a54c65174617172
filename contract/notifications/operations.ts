// The notifications' operations: their rows of the table `contract/operations.ts`.
import {
  channelMessage,
  notification,
  notificationChannel,
  notificationEvents,
} from "./notification.ts";
import { operation } from "../operation.ts";
import { filteredListOf, listOf, pageOf } from "../paging.ts";

/** The operations of the interface. */
export const notificationOperations = {
  listNotifications: operation({
    tag: "notifications",
    path: "/api/site/{id}/notifications",
    ...listOf(notification),
  }),
  updateNotifications: operation({
    tag: "notifications",
    method: "PUT",
    path: "/api/site/{id}/notifications",
    responses: { 200: pageOf(notification) },
    isBodyOpen: true,
  }),
};

export const notificationExtras = {
  showNotificationEvents: operation({
    tag: "notifications",
    method: "GET",
    path: "/api/site/{id}/notification-events",
    responses: { 200: notificationEvents },
  }),
  updateNotificationEvents: operation({
    tag: "notifications",
    method: "PUT",
    path: "/api/site/{id}/notification-events",
    responses: { 200: notificationEvents },
  }),
  listServerNotifications: operation({
    tag: "notifications",
    path: "/api/server/{id}/notifications",
    ...listOf(notification),
  }),
  updateServerNotifications: operation({
    tag: "notifications",
    method: "PUT",
    path: "/api/server/{id}/notifications",
    responses: { 200: pageOf(notification) },
  }),
  showServerNotificationEvents: operation({
    tag: "notifications",
    method: "GET",
    path: "/api/server/{id}/notification-events",
    responses: { 200: notificationEvents },
  }),
  updateServerNotificationEvents: operation({
    tag: "notifications",
    method: "PUT",
    path: "/api/server/{id}/notification-events",
    responses: { 200: notificationEvents },
  }),
  listNotificationChannels: operation({
    tag: "notifications",
    path: "/api/notification-channels",
    ...filteredListOf(notificationChannel),
  }),
  testNotificationChannel: operation({
    tag: "notifications",
    method: "POST",
    path: "/api/notification-channel/{id}/test",
    responses: { 202: channelMessage },
  }),
};
