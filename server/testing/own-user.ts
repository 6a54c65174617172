// The account that runs the tests, for inventories: a folder of root is a site's only if the inventory names root as its user.
import { userInfo } from "node:os";

export const ownUser = userInfo().username;
