#!/usr/bin/env python3
"""Receives webhooks of Rota: ROTA_WEBHOOK_SECRET=whsec_... python3 receiver.py [PORT]

It accepts deliveries that are signed with the secret and at most five minutes old, and processes each one once.
"""
import collections, hashlib, hmac, json, os, sys, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ.get("ROTA_WEBHOOK_SECRET", "").encode() or sys.exit("set ROTA_WEBHOOK_SECRET to the secret of the webhook")
WINDOW, BODY_MAX = 5 * 60, 16 << 20  # seconds: Rota signs each retry with its time; bytes
seen, lock = collections.deque(maxlen=10_000), threading.Lock()  # in production: a table with a unique key


def process(delivery):
    """Processes a delivery once. An exception is answered with 500, and Rota sends the delivery again."""
    with lock:  # Rota repeats a delivery whose answer was lost. The id in the body is signed, headers are not.
        if delivery["id"] not in seen:
            print(json.dumps({"event": delivery["event"], "job": delivery["job_id"]}), flush=True)
            seen.append(delivery["id"])


def signature_error(header, body, now):
    """Returns what is wrong with a signature, or None. It is t=SECONDS,v1=HEX: the HMAC-SHA256 of SECONDS.BODY."""
    parts = [part.strip().partition("=")[::2] for part in header.split(",")]
    times = [value for name, value in parts if name == "t"]
    if len(times) != 1 or not (times[0].isascii() and times[0].isdecimal()):
        return "the time is missing or invalid"
    want = hmac.new(SECRET, times[0].encode() + b"." + body, hashlib.sha256).hexdigest().encode()
    if not any([hmac.compare_digest(value.encode(), want) for name, value in parts if name == "v1"]):
        return "it does not match the body"
    if abs(now - int(times[0])) > WINDOW:
        return "it is older than five minutes, or a clock is wrong"


class Receiver(BaseHTTPRequestHandler):
    timeout = 10  # seconds without data from the client

    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > BODY_MAX:
            return self.answer(413, "Content-Length is missing or above %d bytes" % BODY_MAX)
        body = self.rfile.read(int(length))  # the original bytes: re-encoded JSON has another signature
        if error := signature_error(self.headers.get("Rota-Signature", ""), body, time.time()):
            return self.answer(401, "invalid signature: " + error)
        try:
            process(json.loads(body))
        except Exception as error:
            return self.answer(500, "cannot process the delivery: %r" % error)
        self.answer(200, "accepted")

    def answer(self, status, text):
        self.send_response(status)
        self.end_headers()
        self.wfile.write(text.encode())


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 8000), Receiver)
print("listening on http://127.0.0.1:%d" % server.server_port, flush=True)
server.serve_forever()
