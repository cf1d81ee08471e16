"""Puts jobs into a DynamoDB table that Rota uses, without Rota: the standard library and signed requests.

    AWS_REGION=eu-west-1 python3 put_jobs.py TABLE TYPE '{"user": "ada"}' [KEY]

With a KEY the job is put once: a deduplication record refers to it. "-" as the payload reads lines of the
form PAYLOAD<tab>KEY from the standard input. Each line of the output is "put UUID" or "duplicate KEY".
AWS_ENDPOINT_URL names another endpoint.
"""
import datetime, hashlib, hmac, http.client, json, os, sys, urllib.parse, uuid

REGION = os.environ.get("AWS_REGION", "us-east-1")
ENDPOINT = urllib.parse.urlsplit(os.environ.get("AWS_ENDPOINT_URL", f"https://dynamodb.{REGION}.amazonaws.com"))
CONNECT = http.client.HTTPSConnection if ENDPOINT.scheme == "https" else http.client.HTTPConnection
connection = CONNECT(ENDPOINT.netloc, timeout=10)


class Failed(Exception):
    """A request that DynamoDB has refused; its first argument is the name of the error."""


def new_id(time):
    """Returns a UUID of version 7, which sorts by time. One of version 4 works too, but lists of Rota sort by id."""
    bits = int(time.timestamp() * 1000) << 80 | uuid.uuid4().int & ~(-1 << 76) | 7 << 76
    return str(uuid.UUID(int=bits & ~(3 << 62) | 2 << 62))


def mac(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def request(operation, body):
    """Sends a request with a signature of version 4."""
    body = json.dumps(body)
    time = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    headers = {
        "content-type": "application/x-amz-json-1.0", "host": ENDPOINT.netloc,
        "x-amz-date": time, "x-amz-target": "DynamoDB_20120810." + operation,
    }
    if os.environ.get("AWS_SESSION_TOKEN"):
        headers["x-amz-security-token"] = os.environ["AWS_SESSION_TOKEN"]
    signed = ";".join(sorted(headers))
    lines = "".join(f"{name}:{headers[name]}\n" for name in sorted(headers))
    canonical = f"POST\n/\n\n{lines}\n{signed}\n{hashlib.sha256(body.encode()).hexdigest()}"
    scope = f"{time[:8]}/{REGION}/dynamodb/aws4_request"
    to_sign = f"AWS4-HMAC-SHA256\n{time}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
    key = ("AWS4" + os.environ.get("AWS_SECRET_ACCESS_KEY", "local")).encode()
    for part in scope.split("/"):
        key = mac(key, part)
    headers["authorization"] = (
        f"AWS4-HMAC-SHA256 Credential={os.environ.get('AWS_ACCESS_KEY_ID', 'local')}/{scope}, "
        f"SignedHeaders={signed}, Signature={mac(key, to_sign).hex()}")
    connection.request("POST", "/", body, headers)
    response = connection.getresponse()
    answer = json.loads(response.read() or "{}")
    if response.status != 200:
        raise Failed(answer.get("__type", "").rpartition("#")[2], answer)
    return answer


def take_key(table, record, place):
    """Has the deduplication record refer to a new job. Returns False if another job holds the key."""
    new = {**record, "job_pk": {"S": "job"}, "job_sk": {"S": place}}
    try:
        request("PutItem", {"TableName": table, "Item": new, "ConditionExpression": "attribute_not_exists(PK)"})
        return True
    except Failed as failed:
        if failed.args[0] != "ConditionalCheckFailedException":
            raise
    there = request("GetItem", {"TableName": table, "Key": record, "ConsistentRead": True}).get("Item")
    if there is None:
        return take_key(table, record, place)
    target = {"PK": there["job_pk"], "SK": there["job_sk"]}
    job = request("GetItem", {"TableName": table, "Key": target, "ConsistentRead": True}).get("Item")
    if job and job["status"]["S"] not in ("dead_letter", "cancelled"):
        return False
    try:  # its job is gone, or has died
        request("PutItem", {
            "TableName": table, "Item": new, "ConditionExpression": "job_sk = :seen",
            "ExpressionAttributeValues": {":seen": there["job_sk"]}})
        return True
    except Failed as failed:
        if failed.args[0] != "ConditionalCheckFailedException":
            raise
        return False


def put(table, job_type, payload, key=""):
    """Puts one job that is due now."""
    time = datetime.datetime.now(datetime.timezone.utc)
    now, name = time.isoformat(timespec="microseconds"), new_id(time)
    place = f"scheduled#{now}#{name}"
    if key:
        prefix, _, rest = key.rpartition("#")
        if not prefix or not rest:
            prefix, rest = key, "-"
        record = {"PK": {"S": f"scheduled-job#{job_type}#{prefix}"}, "SK": {"S": rest}}
        if not take_key(table, record, place):
            return f"duplicate {key}"
    request("PutItem", {"TableName": table, "Item": {
        "PK": {"S": "job"}, "SK": {"S": place}, "job_type": {"S": job_type}, "payload": {"S": payload},
        "scheduled_for": {"S": now}, "status": {"S": "pending"}, "attempts": {"N": "0"}, "created_at": {"S": now}}})
    return f"put {name}"


if __name__ == "__main__":
    if not 4 <= len(sys.argv) <= 5:
        sys.exit(__doc__)
    table, job_type, payload = sys.argv[1:4]
    jobs = [line.rstrip("\n").split("\t") for line in sys.stdin] if payload == "-" else [sys.argv[3:]]
    for job in jobs:
        print(put(table, job_type, *job), flush=True)
