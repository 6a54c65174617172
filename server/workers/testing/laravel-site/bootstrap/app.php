<?php

// A site as small as Laravel lets it be: no Composer, the framework comes from PHP's include path,
// where Debian's php-laravel-framework puts it.

use App\Jobs\TestJob;
use Illuminate\Contracts\Console\Kernel as ConsoleKernelContract;
use Illuminate\Contracts\Debug\ExceptionHandler;
use Illuminate\Foundation\Application;
use Illuminate\Foundation\Console\Kernel;
use Illuminate\Foundation\Exceptions\Handler;
use Illuminate\Support\Facades\DB;
use Illuminate\Support\Str;

require_once 'Illuminate/autoload.php';

spl_autoload_register(function (string $class): void {
    if (str_starts_with($class, 'App\\')) {
        require dirname(__DIR__).'/app/'.strtr(substr($class, 4), '\\', '/').'.php';
    }
});

$app = new Application(dirname(__DIR__));
$app->singleton(ExceptionHandler::class, Handler::class);
$app->singleton(ConsoleKernelContract::class, Kernel::class);

$app->make(ConsoleKernelContract::class)->command('jobs:dispatch {count} {--seconds=0} {--child}', function () {
    $names = array_map(fn () => Str::random(8), range(1, (int) $this->argument('count')));
    // One transaction: a worker that reads meanwhile sees all of them or none.
    DB::transaction(fn () => array_map(
        fn (string $name) => TestJob::dispatch($name, (float) $this->option('seconds'), (bool) $this->option('child')),
        $names,
    ));
    $this->line($names);
})->describe('Queue jobs that take some seconds each, and print their names.');

return $app;
