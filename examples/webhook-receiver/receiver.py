#!/usr/bin/env python3
"""Receives the webhooks of Rota: ROTA_WEBHOOK_SECRET=whsec_... python3 receiver.py [PORT]

It takes what is signed with the secret, was sent in the last five minutes, and was not taken before.
"""
import collections, hashlib, hmac, json, os, sys, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ.get("ROTA_WEBHOOK_SECRET", "").encode() or sys.exit("set ROTA_WEBHOOK_SECRET to the secret of the webhook")
WINDOW, BODY_MAX = 5 * 60, 16 << 20  # seconds that a signature is good for, as Rota signs each retry anew; bytes
taken, lock = collections.deque(maxlen=10_000), threading.Lock()  # in earnest, a table with a unique key, written with what is done


def take(notice):
    """Does what is to be done, once. What it raises is answered with 500, and comes again."""
    with lock:  # the same delivery comes again if its answer was lost; its id is signed, its headers are not
        if notice["id"] not in taken:
            print(json.dumps({"event": notice["event"], "job": notice["job_id"]}), flush=True)
            taken.append(notice["id"])


def refusal(header, body, now):
    """Says what is wrong with a signature: t=SECONDS,v1=HEX, the HMAC-SHA256 of SECONDS.BODY."""
    parts = [part.strip().partition("=")[::2] for part in header.split(",")]
    times = [value for name, value in parts if name == "t"]
    if len(times) != 1 or not (times[0].isascii() and times[0].isdecimal()):
        return "it has no time"
    want = hmac.new(SECRET, times[0].encode() + b"." + body, hashlib.sha256).hexdigest().encode()
    if not any([hmac.compare_digest(value.encode(), want) for name, value in parts if name == "v1"]):
        return "it is not that of this body"
    if abs(now - int(times[0])) > WINDOW:
        return "it is too old, or a clock is wrong"


class Receiver(BaseHTTPRequestHandler):
    timeout = 10  # seconds that somebody may be silent

    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > BODY_MAX:
            return self.answer(413, "too long")
        body = self.rfile.read(int(length))  # the bytes as they came: JSON that is written anew has another signature
        if why := refusal(self.headers.get("Rota-Signature", ""), body, time.time()):
            return self.answer(401, "the signature is refused: " + why)
        try:
            take(json.loads(body))
        except Exception as why:
            return self.answer(500, "it is to come again: %r" % why)
        self.answer(200, "taken")

    def answer(self, status, text):
        self.send_response(status)
        self.end_headers()
        self.wfile.write(text.encode())


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 8000), Receiver)
print("listening on http://127.0.0.1:%d" % server.server_port, flush=True)
server.serve_forever()
