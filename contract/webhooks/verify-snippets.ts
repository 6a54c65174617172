// Complete programs with which a receiver verifies the sender of a request: Standard Webhooks without a package,
// https://github.com/standard-webhooks/standard-webhooks. The tests in `server/webhooks/verify-snippets.test.ts` run
// them against signed requests.

export type VerifySnippet = { language: "node" | "php" | "python"; label: string; code: string };

// The same in all three, because each line prevents an attack or a failure: with an empty secret anybody could sign;
// the signature covers the received bytes, not the parsed body; a rotation sends two signatures; a comparison that
// stops at the first difference leaks by its duration how much of a guess was right.

const node = String.raw`// WEBHOOK_SECRET=whsec_… PORT=3000 node receiver.mjs
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const toleranceSeconds = 5 * 60;

// rawBody: the bytes as they came. Throws unless the request is genuine and recent.
export function verify(headers, rawBody, secret) {
  const id = headers["webhook-id"];
  const timestamp = headers["webhook-timestamp"];
  const signatures = headers["webhook-signature"];
  if (!id || !timestamp || !signatures) throw new Error("a header is missing");
  const ageSeconds = Math.abs(Date.now() / 1000 - Number(timestamp));
  if (!(ageSeconds <= toleranceSeconds)) throw new Error("too old or too new");

  const key = Buffer.from((secret ?? "").replace("whsec_", ""), "base64");
  if (key.length === 0) throw new Error("WEBHOOK_SECRET is not set");
  const signed = [id, timestamp, ""].join(".");
  const expected = createHmac("sha256", key).update(signed).update(rawBody).digest();
  const isGenuine = signatures.split(" ").some((signature) => {
    const [version, value = ""] = signature.split(",");
    const given = Buffer.from(value, "base64");
    return version === "v1" && given.length === expected.length && timingSafeEqual(given, expected);
  });
  if (!isGenuine) throw new Error("no signature fits");
  return JSON.parse(rawBody.toString("utf8"));
}

createServer(async (request, response) => {
  try {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const event = verify(request.headers, Buffer.concat(chunks), process.env.WEBHOOK_SECRET);
    console.log(event.type, event.data); // The same webhook-id may come again: act on each once.
    response.writeHead(204).end();
  } catch (error) {
    response.writeHead(400).end(error.message);
  }
}).listen(Number(process.env.PORT ?? 3000), "127.0.0.1");
`;

const php = String.raw`<?php
// WEBHOOK_SECRET=whsec_… php -S 127.0.0.1:3000 receiver.php
declare(strict_types=1);

const TOLERANCE_SECONDS = 5 * 60;

// $rawBody: the bytes as they came. Throws unless the request is genuine and recent.
function verify(array $headers, string $rawBody, string $secret): array
{
    $id = $headers['webhook-id'] ?? '';
    $timestamp = $headers['webhook-timestamp'] ?? '';
    $signatures = $headers['webhook-signature'] ?? '';
    if ($id === '' || $timestamp === '' || $signatures === '') {
        throw new RuntimeException('a header is missing');
    }
    if (!is_numeric($timestamp) || abs(time() - (int) $timestamp) > TOLERANCE_SECONDS) {
        throw new RuntimeException('too old or too new');
    }

    $key = (string) base64_decode(str_replace('whsec_', '', $secret));
    if ($key === '') {
        throw new RuntimeException('WEBHOOK_SECRET is not set');
    }
    $expected = base64_encode(hash_hmac('sha256', "$id.$timestamp.$rawBody", $key, true));
    $isGenuine = false;
    foreach (explode(' ', $signatures) as $signature) {
        [$version, $value] = explode(',', $signature, 2) + ['', ''];
        $isGenuine = ($version === 'v1' && hash_equals($expected, $value)) || $isGenuine;
    }
    if (!$isGenuine) {
        throw new RuntimeException('no signature fits');
    }
    return json_decode($rawBody, true, 512, JSON_THROW_ON_ERROR);
}

try {
    $headers = [
        'webhook-id' => $_SERVER['HTTP_WEBHOOK_ID'] ?? '',
        'webhook-timestamp' => $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '',
        'webhook-signature' => $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '',
    ];
    $rawBody = (string) file_get_contents('php://input');
    $event = verify($headers, $rawBody, (string) getenv('WEBHOOK_SECRET'));
    error_log($event['type']); // The same webhook-id may come again: act on each once.
    http_response_code(204);
} catch (Throwable $error) {
    http_response_code(400);
    echo $error->getMessage();
}
`;

const python = String.raw`# WEBHOOK_SECRET=whsec_… PORT=3000 python3 receiver.py
import base64
import hashlib
import hmac
import json
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOLERANCE_SECONDS = 5 * 60


def verify(headers, raw_body, secret):
    """raw_body: the bytes as they came. Raises unless the request is genuine and recent."""
    message_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    signatures = headers.get("webhook-signature", "")
    if not message_id or not timestamp or not signatures:
        raise ValueError("a header is missing")
    if abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        raise ValueError("too old or too new")

    key = base64.b64decode(secret.removeprefix("whsec_"))
    if not key:
        raise ValueError("WEBHOOK_SECRET is not set")
    signed = f"{message_id}.{timestamp}.".encode() + raw_body
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    given = [one.partition(",") for one in signatures.split(" ")]
    if not any(v == "v1" and hmac.compare_digest(s.encode(), expected) for v, _, s in given):
        raise ValueError("no signature fits")
    return json.loads(raw_body)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        raw_body = self.rfile.read(int(self.headers.get("content-length", 0)))
        try:
            event = verify(self.headers, raw_body, os.environ.get("WEBHOOK_SECRET", ""))
            print(event["type"], event["data"])  # The same webhook-id may come again: act on each once.
            self.send_response(204)
            self.end_headers()
        except ValueError as error:
            self.send_response(400)
            self.end_headers()
            self.wfile.write(str(error).encode())


ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", 3000))), Receiver).serve_forever()
`;

/**
 * Returns a small receiver in each language that accepts requests signed with `WEBHOOK_SECRET`, and rejects all others.
 */
export const verifySnippets = (): VerifySnippet[] => [
  { language: "node", label: "Node.js", code: node },
  { language: "php", label: "PHP", code: php },
  { language: "python", label: "Python", code: python },
];
