import { extraQuery } from "../api/query.ts";

export const serverStatusQuery = (id: number) => extraQuery("showServerStatus", { id });
