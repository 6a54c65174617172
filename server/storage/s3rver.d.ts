// The types of s3rver that the tests need; it has none of its own.
declare module "s3rver" {
  import type { Server } from "node:http";

  export default class S3rver {
    constructor(options: {
      port: number;
      address: string;
      silent: boolean;
      directory: string;
      configureBuckets: { name: string }[];
    });
    run(): Promise<{ address: string; port: number }>;
    readonly httpServer?: Server;
    close(): Promise<void>;
  }
}
