// The account that runs the tests, as an inventory names it: root's own folders are no site's unless it says so.
import { userInfo } from "node:os";

export const ownUser = userInfo().username;
