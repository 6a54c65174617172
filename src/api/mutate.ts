// Changes that are asked for outside of a component, or many at a time.
import {
  MutationObserver,
  type MutationOptions,
  useMutation as useQueryMutation,
} from "@tanstack/react-query";
import { queryClient } from "./query.ts";

/** A value of this module, so that it comes with the first file: nearly every list changes something. */
export const useMutation = useQueryMutation;

/** As `useMutation` does it, for callers that send many requests and report each error themselves. */
export const mutate = <Data, Variables, Before>(
  options: MutationOptions<Data, Error, Variables, Before>,
  variables: Variables,
): Promise<Data> => new MutationObserver(queryClient, options).mutate(variables);

/** Within `onSettled`: no other change of this kind is under way, so that many end in one asking anew. */
export const isLast = (mutationKey: readonly string[]): boolean =>
  queryClient.isMutating({ mutationKey }) <= 1;
