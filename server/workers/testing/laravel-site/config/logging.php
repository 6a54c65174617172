<?php

// To the error output, so that what goes wrong in a worker is in the worker's own log.
return ['default' => 'errorlog', 'channels' => ['errorlog' => ['driver' => 'errorlog']]];
