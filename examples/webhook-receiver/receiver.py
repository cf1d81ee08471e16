#!/usr/bin/env python3
"""Receives the webhooks of Rota, with nothing but the standard library:

    ROTA_WEBHOOK_SECRET=whsec_... python3 receiver.py [PORT]

It takes what is signed with the secret, was sent in the last five minutes, and was not taken before.
"""
import hashlib, hmac, json, os, sys, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ["ROTA_WEBHOOK_SECRET"].encode()
WINDOW = 5 * 60  # seconds that a signature is good for; Rota signs each retry anew
BODY_MAX = 16 << 20
taken, lock = set(), threading.Lock()  # in earnest, a table with a unique key, written with what is done below


def act(notice):
    """Does what is to be done. What it raises is answered with 500, and comes again."""
    print(json.dumps({"event": notice["event"], "job": notice["job_id"]}), flush=True)


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
    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > BODY_MAX:
            return self.answer(413, "too long")
        body = self.rfile.read(int(length))  # the bytes as they came: JSON that is written anew has another signature
        if why := refusal(self.headers.get("Rota-Signature", ""), body, time.time()):
            return self.answer(401, "the signature is refused: " + why)
        delivery = self.headers.get("Rota-Delivery", "")
        with lock:  # the same delivery comes again if its answer was lost
            if delivery not in taken:
                act(json.loads(body))
                taken.add(delivery)
        self.answer(200, "taken")

    def answer(self, status, text):
        self.send_response(status)
        self.end_headers()
        self.wfile.write(text.encode())


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 8000), Receiver)
    print("listening on http://127.0.0.1:%d" % server.server_port, flush=True)
    server.serve_forever()
