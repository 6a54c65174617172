<?php

namespace App\Jobs;

use Illuminate\Bus\Queueable;
use Illuminate\Contracts\Queue\ShouldQueue;
use Illuminate\Foundation\Bus\Dispatchable;
use Illuminate\Queue\InteractsWithQueue;

/** Takes a while, and leaves a line "name pid" in storage/begun.log and in storage/done.log. */
class TestJob implements ShouldQueue
{
    use Dispatchable, InteractsWithQueue, Queueable;

    public function __construct(public string $name, public float $seconds, public bool $inChild = false)
    {
    }

    public function handle(): void
    {
        $this->note('begun');
        if ($this->inChild) {
            $this->workInChild();
        }
        $end = microtime(true) + $this->seconds;
        // A signal ends a sleep early, so one sleep would hide whether a stop waits for the job.
        while (microtime(true) < $end) {
            usleep(20_000);
        }
        $this->note('done');
    }

    /** As a job that converts a picture does: another program has done the work once it wrote its line. */
    private function workInChild(): void
    {
        exec("sleep $this->seconds && echo $this->name >> ".escapeshellarg(storage_path('child.log')), $output, $status);
        if ($status !== 0) {
            throw new \RuntimeException("The child ended with $status.");
        }
        $this->seconds = 0;
    }

    private function note(string $event): void
    {
        file_put_contents(storage_path("$event.log"), "$this->name ".getmypid()."\n", FILE_APPEND);
    }
}
