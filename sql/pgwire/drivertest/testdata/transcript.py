"""What psycopg makes of the SQL port, printed to be compared."""

import datetime
import decimal
import threading
import time
import uuid

import psycopg
from psycopg import errors, rows
from psycopg.types import TypeInfo
from psycopg.types.json import Json, Jsonb

AN_HOUR = " SCHEDULE EVERY 1 HOUR AS 'SELECT 1'"
ENDLESS = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000000000) SELECT count(*) FROM n"


def say(*words):
    print(*words, flush=True)


def fails(what, act):
    try:
        act()
        say(what + ": it was done")
    except psycopg.Error as e:
        d = e.diag
        say(f"{what}: {type(e).__name__} {e.sqlstate} {d.message_primary} at {d.statement_position}, hint {d.message_hint}")


def values(conn, binary):
    with conn.cursor(binary=binary) as cur:
        cur.execute(
            """SELECT job_uuid, job_name, description, priority, state = 'ENABLED' AS enabled, created_at_ts, params, ARRAY['a', NULL] AS list,
                ARRAY[1, 2] AS numbers, 2.5::numeric AS exact, 0.5::float8 AS real, date '2026-02-03' AS day, interval '1 day 2 hours' AS span,
                '\\x01ff'::bytea AS bytes, time '12:30' AS clock, 1::smallint AS small, 'sys.jobs'::regclass::oid > 0 AS oid, NULL::uuid AS nothing
                FROM sys.jobs WHERE job_name = %s AND priority = %s""",
            ("tick", 7),
        )
        one = cur.fetchone()
        for column, value in zip(cur.description, one):
            if isinstance(value, datetime.datetime):
                value = (value.tzinfo is not None, abs(time.time() - value.timestamp()) < 300)
            say(column.name, column.type_code, repr(value))


def parameters(conn, binary):
    tick = conn.execute("SELECT job_uuid FROM sys.jobs WHERE job_name = 'tick'").fetchone()[0]
    hour = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(hours=1)
    for where, args in [
        ("sys.jobs WHERE job_uuid = %s", [tick]),
        ("sys.jobs WHERE job_uuid = %s::uuid", [str(tick)]),
        ("sys.jobs WHERE job_name = %s", ["tick"]),
        ("sys.jobs WHERE priority = %s", [7]),
        ("sys.jobs WHERE priority = %s", [decimal.Decimal("7")]),
        ("sys.jobs WHERE priority > %s", [6.5]),
        ("sys.nodes WHERE is_leader = %s", [True]),
        ("sys.job_runs WHERE started_at_ts > %s", [hour]),
        ("sys.job_runs WHERE started_at_ts < %s", [hour]),
        ("sys.job_runs WHERE started_at_ts > now() - %s", [datetime.timedelta(hours=1)]),
        ("sys.jobs WHERE next_run_time_ts::date > %s", [datetime.date(2020, 1, 1)]),
        ("sys.job_runs WHERE state = ANY(%s)", [["COMPLETED", "FAILED"]]),
        ("sys.jobs WHERE priority = ANY(%s)", [[7, 8]]),
        ("sys.jobs WHERE job_uuid = ANY(%s)", [[tick]]),
        ("sys.jobs WHERE params = %s", [Jsonb({})]),
        ("sys.jobs WHERE params ->> 'for' = %s", ["1h"]),
        ("sys.jobs WHERE description IS NOT DISTINCT FROM %s", [None]),
        ("(SELECT 1 FROM sys.jobs LIMIT %s OFFSET %s) j", [2, 1]),
        ("sys.jobs WHERE job_name ILIKE %s", ["T%"]),
        ("sys.jobs WHERE job_name IN (%(a)s, %(b)s)", {"a": "tick", "b": "once"}),
    ]:
        cur = conn.cursor(binary=binary)
        try:
            say(where, cur.execute("SELECT count(*) FROM " + where, args, binary=binary, prepare=binary).fetchone()[0])
        except psycopg.Error as e:
            say(where, type(e).__name__, e.sqlstate, e)
            conn.rollback()


def transactions(conn):
    def jobs():
        return [r[0] for r in conn.execute("SELECT job_name FROM sys.jobs WHERE job_name LIKE 't_' ORDER BY 1")]

    with conn.transaction():
        conn.execute("CREATE JOB t1" + AN_HOUR)
        try:
            with conn.transaction("inner"):
                conn.execute("CREATE JOB t2" + AN_HOUR)
                raise ValueError("no")
        except ValueError:
            pass
        with conn.transaction():
            conn.execute("CREATE JOB t3" + AN_HOUR)
        with conn.transaction():
            conn.execute("CREATE JOB t4" + AN_HOUR)
            raise psycopg.Rollback()
    say(jobs())
    conn.execute("DROP JOB t1")
    conn.rollback()
    say(jobs())
    conn.execute("DROP JOB t1")
    conn.execute("DROP JOB t3")
    conn.commit()
    say(jobs())
    fails("within", lambda: conn.execute("DROP JOB nothing"))
    fails("after an error", lambda: conn.execute("SELECT 1"))
    say(conn.info.transaction_status.name)
    conn.rollback()
    say(conn.info.transaction_status.name)
    conn.read_only, conn.isolation_level = True, psycopg.IsolationLevel.SERIALIZABLE
    say(conn.execute("SHOW transaction_isolation").fetchone(), conn.execute("SHOW transaction_read_only").fetchone())
    fails("read-only", lambda: conn.execute("DROP JOB tick"))
    conn.rollback()
    conn.read_only = conn.isolation_level = None


def many(conn):
    with conn.cursor() as cur:
        cur.executemany("SELECT %s::bigint * 2", [(1,), (2,), (3,)], returning=True)
        results = []
        while True:
            results += cur.fetchall()
            if not cur.nextset():
                break
        say(results)
        cur.execute("SELECT 1 AS a; SELECT 'x' AS b")
        say(cur.fetchall(), cur.nextset(), cur.fetchall())
    if psycopg.Pipeline.is_supported():
        with conn.pipeline() as p:
            cur = conn.execute("SELECT %s::text", ["piped"])
            conn.execute("CREATE JOB p1" + AN_HOUR)
            p.sync()
            say(cur.fetchone())
        conn.commit()
        try:
            with conn.pipeline():
                conn.execute("DROP JOB p1")
                conn.execute("DROP JOB nothing")
                conn.execute("SELECT 1")
        except psycopg.Error as e:
            say("pipeline", type(e).__name__, e.sqlstate)
        conn.rollback()
        say(conn.execute("SELECT count(*) FROM sys.jobs WHERE job_name = 'p1'").fetchone())
        conn.execute("DROP JOB p1")
        conn.commit()
    with conn.cursor() as cur:
        say(sum(r[0] for r in cur.stream("SELECT * FROM generate_series(1, 100)")))
    with conn.cursor(row_factory=rows.dict_row) as cur:
        say(cur.execute("SELECT job_name, priority FROM sys.jobs WHERE job_name = 'tick'").fetchone())
    with conn.cursor(row_factory=rows.namedtuple_row) as cur:
        say(cur.execute("SELECT job_name, priority FROM sys.jobs WHERE job_name = 'tick'").fetchone())
    say(psycopg.ClientCursor(conn).execute("SELECT %s, %s, %s", ["it's", 1, None]).fetchone())
    for _ in range(8):
        conn.execute("SELECT job_name FROM sys.jobs WHERE priority = %s", [7])
    say(conn.execute("SELECT job_name FROM sys.jobs WHERE priority = %s", [7], prepare=True).fetchone())
    conn.commit()

    def server_side():
        with conn.cursor("server") as cur:
            cur.execute("SELECT 1")
            cur.fetchone()

    fails("a cursor of the server", server_side)
    conn.rollback()


def refused(conn):
    for text in [
        "SELECT job_name, stat FROM sys.jobs", "SELECT * FROM sys.jbos", "SELEC 1", "SELECT nothing(1)", "SELECT 'x'::int", "SELECT 1 / (SELECT 0)",
        "DROP JOB nothing", "CREATE JOB tick" + AN_HOUR, "INSERT INTO sys.jobs VALUES (1)", "LISTEN a",
    ]:
        fails(text, lambda: conn.execute(text))
    for text in ["COPY sys.jobs TO STDOUT", "COPY sys.jobs FROM STDIN"]:
        def copy():
            with conn.cursor().copy(text) as c:
                c.read()
        fails(text, copy)
    try:
        conn.execute("DROP JOB nothing")
    except errors.UndefinedObject as e:
        say("caught by its class", e.diag.severity)
    say(conn.execute("SELECT 'still here'").fetchone())


def cancelling(conn):
    timer = threading.Timer(0.3, conn.cancel)
    timer.start()
    fails("cancelled", lambda: conn.execute(ENDLESS))
    timer.join()
    conn.execute("SET statement_timeout = '200ms'")
    fails("too slow", lambda: conn.execute(ENDLESS))
    conn.execute("RESET statement_timeout")
    say(conn.execute("SELECT 1").fetchone())


with psycopg.connect(autocommit=True, application_name="the transcript") as conn:
    notices = []
    conn.add_notice_handler(lambda d: notices.append((d.severity, d.sqlstate, d.message_primary)))
    info = conn.info
    say(info.vendor, info.server_version, info.dbname, info.user, info.encoding, info.timezone, info.status.name, info.transaction_status.name)
    for name in ["server_version", "client_encoding", "DateStyle", "TimeZone", "integer_datetimes", "standard_conforming_strings", "is_superuser", "application_name", "nothing"]:
        say(name, info.parameter_status(name))
    conn.execute("DROP JOB IF EXISTS nothing")
    say(notices)
    for name in ["uuid", "jsonb", "timestamptz", "bigint", "int8", "text", "nothing"]:
        t = TypeInfo.fetch(conn, name)
        say("type", name, t and (t.name, t.oid, t.array_oid))
    say("== values as texts")
    values(conn, False)
    say("== values in binary")
    values(conn, True)
    conn.execute("SET TIME ZONE 'Europe/Berlin'")
    say(info.timezone, conn.execute("SELECT '2099-07-01T12:00:00Z'::timestamptz").fetchone()[0].isoformat())
    conn.execute("SET TIME ZONE 'UTC'")
    say("== parameters as texts")
    parameters(conn, False)
    say("== parameters in binary, prepared")
    parameters(conn, True)
    say("== errors")
    refused(conn)
    say("== cancelling")
    cancelling(conn)
with psycopg.connect() as conn:
    say("== many")
    many(conn)
    say("== transactions")
    transactions(conn)
fails("a wrong password", lambda: psycopg.connect(password="wrong"))
