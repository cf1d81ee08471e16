"""A worker for Rota. Copy it, add your own handlers, and run it: ROTA_URL=... ROTA_TOKEN=... python3 worker.py"""
import concurrent.futures, http.client, json, os, random, signal, socket, threading, time, traceback, urllib.request, uuid

URL, TOKEN = os.environ.get("ROTA_URL", "http://127.0.0.1:7420").rstrip("/"), os.environ.get("ROTA_TOKEN", "")
NAME, SLOTS = f"{socket.gethostname()}-{os.getpid()}", 4  # the name of this worker on the server; concurrent jobs
LEASE = os.environ.get("ROTA_LEASE", "30")  # seconds without a heartbeat after which other workers get the jobs
running, outage, stopping = {}, {}, threading.Event()
class Permanent(Exception): """A handler raises it for an error that a retry cannot fix."""

def wordcount(params, stop):
    """A handler receives the params and returns the result. An exception fails the run."""
    if not params["text"].strip(): raise Permanent("text contains no words")
    return {"words": len(params["text"].split())}

def nap(params, stop):
    """A long handler checks stop, which is set when the job is cancelled, times out, or loses its lease."""
    if stop.wait(params["seconds"]): raise InterruptedError(stop.why)

TYPES = {  # the handler of each type, and the JSON Schema that the server checks the params with
    "wordcount": (wordcount, {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}),
    "nap": (nap, {"type": "object", "properties": {"seconds": {"type": "number"}}, "required": ["seconds"]}),
}

def call(method, path, body, key="", give_up=lambda: False):
    """Sends a request. While the server does not answer, it retries until give_up() is true."""
    headers = {"Authorization": "Bearer " + TOKEN, "Content-Type": "application/json", "Idempotency-Key": key}
    request = urllib.request.Request(URL + "/api/v1" + path, json.dumps(body).encode(), headers, method=method)
    while True:
        try:
            with urllib.request.urlopen(request, timeout=20) as answer: read = json.load(answer)
            if outage.pop("error", None): print(f"{URL} answers again", flush=True)
            return read
        except (OSError, http.client.HTTPException) as e:  # no connection, a lost answer, or an HTTP error
            if getattr(e, "code", 500) < 500 and e.code != 429:  # refused: ends the worker or, in run, the job
                raise SystemExit(f"{method} {path}: {e.code} {e.read().decode()}") from None
            if outage.setdefault("error", e) is e: print(f"{URL} does not answer, retrying: {e}", flush=True)
        if give_up(): return {"items": []}
        time.sleep(random.uniform(0.1, 1))  # a random pause, so that workers do not all reconnect at once

def work():
    """Claims and runs jobs until a signal; a running job ends first. A retried claim returns the same job."""
    claim = {"worker": NAME, "types": list(TYPES), "lease": f"{LEASE}s", "wait": "5s"}
    while not stopping.is_set():
        key = uuid.UUID(f"{time.time_ns() // 10**6:012x}7{uuid.uuid4().hex[13:]}")  # UUIDv7: cheapest to store
        for item in call("POST", "/claim", claim, str(key), give_up=stopping.is_set)["items"]:
            run(item["job"], {"job_id": item["job"]["id"], **{name: item[name] for name in ("run_id", "lease_token")}})

def run(job, lease):
    """Runs a job and reports the outcome. A repeated report counts once; one after the lease ended is ignored."""
    stop = threading.Event()
    stop.why, running[lease["run_id"]] = None, (lease, stop)
    try:
        end = {"outcome": "completed", "result": TYPES[job["type"]][0](job["params"], stop)}
        call("POST", "/finish", {"items": [{**lease, **end}]})
    except BaseException as e:  # from the handler, or for a result that is too long or not JSON
        end = {"outcome": "failed", "error": f"{e!r}\n{traceback.format_exc()}", "permanent": isinstance(e, Permanent)}
        end["log"] = traceback.format_exc()  # shown by rota job logs
        if stop.why == "timeout": end.update(outcome="cancelled", error_code="timeout")
        call("POST", "/finish", {"items": [{**lease, **end}]})
    del running[lease["run_id"]]

def heartbeat():
    """Extends the leases of running jobs three times per lease, and stops jobs that the server cancelled."""
    while not time.sleep(int(LEASE) / 3):
        current = dict(running)
        beat = {"lease": f"{LEASE}s", "items": [lease for lease, _ in current.values()]}
        for item in call("POST", "/extend", beat, give_up=lambda: True)["items"] if current else []:
            if item["cancel"] or item["code"] != "ok":
                current[item["run_id"]][1].why = item["code"] if item["code"] != "ok" else item["reason"] or "cancelled"
                current[item["run_id"]][1].set()

if __name__ == "__main__":
    if not URL.startswith(("http://", "https://")): raise SystemExit(f"ROTA_URL={URL}: write http://HOST:PORT")
    if not LEASE.isdecimal(): raise SystemExit(f"ROTA_LEASE={LEASE}: write a number of seconds, without a unit")
    for end in (signal.SIGTERM, signal.SIGINT): signal.signal(end, lambda *_: stopping.set())
    for name, (_, schema) in TYPES.items(): call("PUT", f"/types/{name}", {"schema": schema}, give_up=stopping.is_set)
    print(f"worker {NAME} runs {', '.join(TYPES)} of {URL} in {SLOTS} slots", flush=True)
    threading.Thread(target=heartbeat, daemon=True).start()
    with concurrent.futures.ThreadPoolExecutor(SLOTS) as pool: list(pool.map(lambda _: work(), range(SLOTS)))
