// Mutations outside of components, or many at a time.
import {
  MutationObserver,
  type MutationOptions,
  useMutation as useQueryMutation,
} from "@tanstack/react-query";
import { queryClient } from "./query.ts";

/** Exported from this module so that it is in the first bundle: nearly every list needs it. */
export const useMutation = useQueryMutation;

/** Like `useMutation`, for callers that send many requests and report each error themselves. */
export const mutate = <Data, Variables, Before>(
  options: MutationOptions<Data, Error, Variables, Before>,
  variables: Variables,
): Promise<Data> => new MutationObserver(queryClient, options).mutate(variables);

/** For `onSettled`: whether no other mutation of this key is running, so that a batch invalidates only once. */
export const isLast = (mutationKey: readonly string[]): boolean =>
  queryClient.isMutating({ mutationKey }) <= 1;
