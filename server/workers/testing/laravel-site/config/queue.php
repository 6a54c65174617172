<?php

return [
    'default' => 'database',
    'connections' => [
        // SQLite answers "no such table: server has gone away", which Laravel takes for a lost connection.
        'lost' => ['driver' => 'database', 'table' => 'server has gone away', 'queue' => 'default', 'retry_after' => 90],
        'database' => ['driver' => 'database', 'table' => 'jobs', 'queue' => 'default', 'retry_after' => 90],
    ],
    'failed' => ['driver' => 'database-uuids', 'database' => 'sqlite', 'table' => 'failed_jobs'],
];
