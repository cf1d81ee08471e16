"""A worker for Rota. Copy it, add your own handlers, and run it: ROTA_URL=... ROTA_TOKEN=... python3 worker.py"""
import calendar, concurrent.futures, http.client, io, json, os, random, signal, socket, sys, threading, time, traceback
import urllib.request, uuid

URL, TOKEN = os.environ.get("ROTA_URL", "http://127.0.0.1:7420").rstrip("/"), os.environ.get("ROTA_TOKEN", "")
NAME, SLOTS = f"{socket.gethostname()}-{os.getpid()}", 4  # the name of this worker on the server; concurrent jobs
LEASE = os.environ.get("ROTA_LEASE", "30")  # seconds without a heartbeat after which other workers get the jobs
running, outage, stopping = {}, {}, threading.Event()
class Permanent(Exception): """A handler raises it for an error that a retry cannot fix."""

def wordcount(params, stop):
    """A handler receives the params and returns the result. An exception fails the run."""
    if not params["text"].strip(): raise Permanent("text contains no words")
    print("counting the words of", params["text"])  # printed text is the log of the run: rota job logs
    return {"words": len(params["text"].split())}

def nap(params, stop):
    """A long handler checks stop, which is set when the job is cancelled, times out, or loses its lease."""
    for percent in range(100):
        stop.progress = {"percent": percent}  # any JSON of at most 1 KiB: rota job show
        if stop.wait(params["seconds"] / 100): raise InterruptedError(stop.why)

TYPES = {  # the handler of each type, and the JSON Schema that the server checks the params with
    "wordcount": (wordcount, {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}),
    "nap": (nap, {"type": "object", "properties": {"seconds": {"type": "number"}}, "required": ["seconds"]}),
}

class Stdout:
    """Collects what a handler prints as the log of its run, and prints everything else."""
    of = threading.local()  # of.run: the log of the run of this thread
    def __getattr__(self, name): return getattr(getattr(self.of, "run", sys.__stdout__), name)

def call(method, path, body, key="", give_up=lambda: False):
    """Sends a request. While the server does not answer, it retries until give_up() is true."""
    headers = {"Authorization": "Bearer " + TOKEN, "Content-Type": "application/json", "Idempotency-Key": key}
    request = urllib.request.Request(URL + "/api/v1" + path, body and json.dumps(body).encode(), headers, method=method)
    while True:
        sent = time.monotonic()  # the answer to a request from before an outage does not end the outage
        try:
            with urllib.request.urlopen(request, timeout=20) as answer: read = json.load(answer)
            if sent > outage.get("since", sent) and outage.pop("since", None): print(f"{URL} answers again", flush=True)
            return read
        except (OSError, http.client.HTTPException) as e:  # no connection, a lost answer, or an HTTP error
            if getattr(e, "code", 500) < 500 and e.code != 429:  # refused: ends the worker or, in run, the job
                raise SystemExit(f"{method} {path}: {e.code} {e.read().decode()}") from None
            now = time.monotonic()
            if outage.setdefault("since", now) is now: print(f"{URL} does not answer, retrying: {e}", flush=True)
        if give_up(): return {"items": []}
        time.sleep(random.uniform(0.1, 1))  # a random pause, so that workers do not all reconnect at once

def declare(name, schema):
    """Declares a type. A token of scope worker may not; it suffices that an administrator has declared the type."""
    try: call("PUT", f"/types/{name}", {"schema": schema}, give_up=stopping.is_set)
    except SystemExit as refused:
        if ": 403 " not in str(refused): raise
        try: call("GET", f"/types/{name}", None, give_up=stopping.is_set)
        except SystemExit as e: raise SystemExit(f"{e}\nan administrator declares it first: rota type put {name}, or PUT /types/{name}") from None

def work():
    """Claims and runs jobs until a signal; a running job ends first. A retried claim returns the same job."""
    claim = {"worker": NAME, "types": list(TYPES), "lease": f"{LEASE}s", "wait": "5s"}
    while not stopping.is_set():
        key = uuid.UUID(f"{time.time_ns() // 10**6:012x}7{uuid.uuid4().hex[13:]}")  # UUIDv7: cheapest to store
        for item in call("POST", "/claim", claim, str(key), give_up=stopping.is_set)["items"]: run(item)

def seconds(text):
    """Converts a time of the server, such as 2026-11-15T07:00:00.25Z."""
    whole, _, part = text.rstrip("Z").partition(".")
    return calendar.timegm(time.strptime(whole, "%Y-%m-%dT%H:%M:%S")) + float("0." + part)

def halt(stop, why):
    stop.why = why
    stop.set()

def run(item):
    """Runs a job and reports the outcome. A repeated report counts once; one after the lease ended is ignored."""
    job, stop, printed, left = item["job"], threading.Event(), io.StringIO(), threading.TIMEOUT_MAX
    lease = {"job_id": job["id"], "run_id": item["run_id"], "lease_token": item["lease_token"]}
    if "deadline" in item:  # relative to the end of the lease, so that the clock here does not matter
        left = int(LEASE) + seconds(item["deadline"]) - seconds(item["stale_after"])
    timer = threading.Timer(left, halt, (stop, "timeout"))
    timer.daemon, stop.why, stop.progress, running[lease["run_id"]] = True, None, None, (lease, stop)
    timer.start()
    try:
        Stdout.of.run = printed
        try: end = {"outcome": "completed", "result": TYPES[job["type"]][0](job["params"], stop)}
        finally: del Stdout.of.run
        call("POST", "/finish", {"items": [{**lease, **end, "log": printed.getvalue()[-100_000:]}]})
    except BaseException as e:  # from the handler, or for a result that is too long or not JSON
        end = {"outcome": "failed", "error": f"{e!r}\n{traceback.format_exc()}", "permanent": isinstance(e, Permanent)}
        end["log"] = (printed.getvalue() + traceback.format_exc())[-100_000:]
        if stop.why == "timeout": end.update(outcome="cancelled", error_code="timeout")
        call("POST", "/finish", {"items": [{**lease, **end}]})
    timer.cancel()
    del running[lease["run_id"]]

def heartbeat():
    """Extends the leases, sends progress, and stops cancelled jobs, for which the server waits 10 s (cancel_grace)."""
    while not time.sleep(min(int(LEASE) / 3, 3)):
        current = dict(running)
        if not current: continue
        beat = {"lease": f"{LEASE}s", "items": [{**lease, "progress": stop.progress} for lease, stop in current.values()]}
        try: answer = call("POST", "/extend", beat, give_up=lambda: True)
        except BaseException as e:  # a progress that is too long or not JSON must not end the heartbeat
            print(f"progress is not sent: {e}", flush=True)
            beat["items"] = [lease for lease, _ in current.values()]
            answer = call("POST", "/extend", beat, give_up=lambda: True)
        for item in answer["items"]:
            if item["code"] != "ok": halt(current[item["run_id"]][1], item["code"])
            elif item["cancel"]: halt(current[item["run_id"]][1], item["reason"] or "cancelled")

if __name__ == "__main__":
    if not URL.startswith(("http://", "https://")): raise SystemExit(f"ROTA_URL={URL}: write http://HOST:PORT")
    if not LEASE.isdecimal(): raise SystemExit(f"ROTA_LEASE={LEASE}: write a number of seconds, without a unit")
    for end in (signal.SIGTERM, signal.SIGINT): signal.signal(end, lambda *_: stopping.set())
    for name, (_, schema) in TYPES.items(): declare(name, schema)
    sys.stdout = Stdout()
    print(f"worker {NAME} runs {', '.join(TYPES)} of {URL} in {SLOTS} slots", flush=True)
    threading.Thread(target=heartbeat, daemon=True).start()
    with concurrent.futures.ThreadPoolExecutor(SLOTS) as pool: list(pool.map(lambda _: work(), range(SLOTS)))
