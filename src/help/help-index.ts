/** All pages by file name, in the order of the index. */
export const helpIndex = [
  {
    title: "Use",
    pages: {
      backups: "Backups",
      workers: "Workers",
      webhooks: "Webhooks",
      inventory: "The inventory",
    },
  },
  {
    title: "Operate",
    pages: {
      install: "Install and upgrade",
      "self-backup": "Back up Quarterdeck itself",
      security: "Security",
      "embedded-database": "The embedded database",
      scaling: "Scaling",
      benchmarks: "Benchmarks",
      glossary: "Glossary",
    },
  },
  {
    title: "Develop",
    pages: {
      architecture: "Architecture",
      dependencies: "Dependencies",
    },
  },
  {
    title: "Decisions",
    pages: {
      "0001-job-engine": "1. pg-boss carries all work that outlives a request",
      "0002-embedded-postgresql": "2. PostgreSQL everywhere, embedded by default",
      "0003-one-contract-for-both-ends": "3. One contract for both ends",
      "0004-account-of-a-site-as-boundary": "4. The account of a site is the boundary",
      "0005-workers-outlive-the-service": "5. Worker processes outlive the service",
      "0006-outcome-first-outbox": "6. Store the outcome first, then deliver",
      "0007-the-databases-own-tools": "7. The databases' own tools and formats",
      "0008-real-parts-in-tests": "8. Real parts in tests",
      "0009-no-build-step-pinned-node": "9. No build step for the service, and a pinned Node.js",
      "0010-sign-in-codes-and-hashed-tokens":
        "10. Sign-in links with one-use codes, and tokens as hashes",
      "0011-servers-over-openssh": "11. Servers are reached by the system's OpenSSH client",
      "0012-supervisord-by-one-program-a-process":
        "12. supervisord keeps workers by one program a process",
      "0013-moving-the-database-by-copy": "13. The database is moved by COPY, in one transaction",
      "0014-servers-leased-to-instances": "14. Each server is leased to one instance",
      "0015-sftp-over-openssh": "15. SFTP goes through OpenSSH, and its client is our own",
      "0016-incremental-backups-as-patches":
        "16. Incremental backups are patches of the content against a full one",
      "0017-copies-are-backups": "17. A copy in a second storage is a backup of its own",
      "0018-object-lock-after-verification": "18. A backup is locked once it is verified",
      "0019-no-parallel-dumps": "19. PostgreSQL is dumped in one stream",
      "0020-whole-servers-as-one-backup": "20. All databases of a server are one backup",
      "0021-network-mounts-by-commands": "21. Commands work in network mounts",
      "0022-encryption-by-openssl": "22. OpenSSL encrypts the payload of age's files",
    },
  },
] as const;
