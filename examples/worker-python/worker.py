"""A worker for Rota. Copy it, put your own handlers in, and run it: ROTA_URL=... ROTA_TOKEN=... python3 worker.py"""
import concurrent.futures, http.client, json, os, random, signal, socket, threading, time, traceback, urllib.request, uuid

URL, TOKEN = os.environ.get("ROTA_URL", "http://127.0.0.1:7420").rstrip("/"), os.environ.get("ROTA_TOKEN", "")
NAME, SLOTS = f"{socket.gethostname()}-{os.getpid()}", 4  # what the server calls us; how many jobs we run at once
LEASE = os.environ.get("ROTA_LEASE", "30")  # seconds of silence after which others get our jobs
running, outage, stopping = {}, {}, threading.Event()
class Permanent(Exception): """Raised by a handler where trying again is of no use."""

def wordcount(params, stop):
    """A handler is given the params, returns the result, and raises what went wrong."""
    if not params["text"].strip(): raise Permanent("there are no words in it")
    return {"words": len(params["text"].split())}

def nap(params, stop):
    """A long one looks at stop: it is set when the job is cancelled, out of time, or given to another worker."""
    if stop.wait(params["seconds"]): raise InterruptedError(stop.why)

TYPES = {  # what we handle, and the JSON Schema that the server holds the params to
    "wordcount": (wordcount, {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}),
    "nap": (nap, {"type": "object", "properties": {"seconds": {"type": "number"}}, "required": ["seconds"]}),
}

def call(method, path, body, key="", enough=lambda: False):
    """Sends a request until the server, which may just be restarting, has answered it, or until it is enough."""
    headers = {"Authorization": "Bearer " + TOKEN, "Content-Type": "application/json", "Idempotency-Key": key}
    request = urllib.request.Request(URL + "/api/v1" + path, json.dumps(body).encode(), headers, method=method)
    while True:
        try:
            with urllib.request.urlopen(request, timeout=20) as answer: read = json.load(answer)
            if outage.pop("told", None): print(f"{URL} answers again", flush=True)
            return read
        except (OSError, http.client.HTTPException) as e:  # nobody is there, the answer was lost, or it is an error
            if getattr(e, "code", 500) < 500 and e.code != 429:  # it says no: the end of the worker or, in run, of a job
                raise SystemExit(f"{method} {path}: {e.code} {e.read().decode()}") from None
            if outage.setdefault("told", e) is e: print(f"{URL} does not answer, trying on: {e}", flush=True)
        if enough(): return {"items": []}
        time.sleep(random.uniform(0.1, 1))  # so that not all workers come back at once

def work():
    """Claims jobs and runs them, until a signal; what runs then ends first. A claim sent again brings the same job."""
    claim = {"worker": NAME, "types": list(TYPES), "lease": f"{LEASE}s", "wait": "5s"}
    while not stopping.is_set():
        key = uuid.UUID(f"{time.time_ns() // 10**6:012x}7{uuid.uuid4().hex[13:]}")  # a UUIDv7 costs the server least
        for item in call("POST", "/claim", claim, str(key), enough=stopping.is_set)["items"]:
            run(item["job"], {"job_id": item["job"]["id"], **{name: item[name] for name in ("run_id", "lease_token")}})

def run(job, lease):
    """Runs a job and tells how that ended. Told twice it counts once; told too late, not at all."""
    stop = threading.Event()
    stop.why, running[lease["run_id"]] = None, (lease, stop)
    try:
        end = {"outcome": "completed", "result": TYPES[job["type"]][0](job["params"], stop)}
        call("POST", "/finish", {"items": [{**lease, **end}]})
    except BaseException as e:  # of the handler, or of a result that is too long or no JSON
        end = {"outcome": "failed", "error": f"{e!r}\n{traceback.format_exc()}", "permanent": isinstance(e, Permanent)}
        end["log"] = traceback.format_exc()  # what rota job logs shows
        if stop.why == "timeout": end.update(outcome="cancelled", error_code="timeout")
        call("POST", "/finish", {"items": [{**lease, **end}]})
    del running[lease["run_id"]]

def heartbeat():
    """Keeps the leases of what runs, three times in each, and hears what is to stop."""
    while not time.sleep(int(LEASE) / 3):
        held = dict(running)
        beat = {"lease": f"{LEASE}s", "items": [lease for lease, _ in held.values()]}
        for item in call("POST", "/extend", beat, enough=lambda: True)["items"] if held else []:
            if item["cancel"] or item["code"] != "ok":
                held[item["run_id"]][1].why = item["code"] if item["code"] != "ok" else item["reason"] or "cancelled"
                held[item["run_id"]][1].set()

if __name__ == "__main__":
    if not URL.startswith(("http://", "https://")): raise SystemExit(f"ROTA_URL={URL}: write http://HOST:PORT")
    if not LEASE.isdecimal(): raise SystemExit(f"ROTA_LEASE={LEASE}: write a number of seconds, without a unit")
    for end in (signal.SIGTERM, signal.SIGINT): signal.signal(end, lambda *_: stopping.set())
    for name, (_, schema) in TYPES.items(): call("PUT", f"/types/{name}", {"schema": schema}, enough=stopping.is_set)
    print(f"working on {', '.join(TYPES)} for {URL}, {SLOTS} at once, as {NAME}", flush=True)
    threading.Thread(target=heartbeat, daemon=True).start()
    with concurrent.futures.ThreadPoolExecutor(SLOTS) as pool: list(pool.map(lambda _: work(), range(SLOTS)))
