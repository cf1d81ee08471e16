import java.math.BigDecimal;
import java.sql.*;
import java.time.*;
import java.util.*;
import org.postgresql.PGConnection;
import org.postgresql.PGProperty;
import org.postgresql.util.PGobject;
import org.postgresql.util.PSQLException;

/** What PostgreSQL's JDBC driver makes of the SQL port, printed to be compared. */
public class Transcript {
    static final String BASE = "jdbc:postgresql://" + System.getenv("PGHOST") + ":" + System.getenv("PGPORT") + "/rota";

    public static void main(String[] args) throws Exception {
        TimeZone.setDefault(TimeZone.getTimeZone("Europe/Berlin"));
        for (String mode : new String[] {"simple", "extended", "extendedForPrepared", "extendedCacheEverything"}) {
            try (Connection c = open("preferQueryMode", mode, "prepareThreshold", "1")) {
                say("== values, " + mode);
                values(c);
            }
        }
        try (Connection c = open("prepareThreshold", "-1")) {
            say("== values, binary from the first");
            values(c);
        }
        try (Connection c = open("binaryTransfer", "false")) {
            say("== values, never binary");
            values(c);
        }
        try (Connection c = open()) {
            say("== the connection");
            connection(c);
            say("== parameters");
            parameters(c);
            say("== errors");
            errors(c);
            say("== transactions");
            transactions(c);
            say("== many rows");
            portals(c);
            say("== batches");
            batches(c);
            say("== cancelling");
            cancelling(c);
            say("== what a query gives and takes");
            described(c);
            say("== metadata");
            metadata(c);
        }
        try (Connection c = open("currentSchema", "pg_catalog,sys", "ApplicationName", "the transcript", "readOnly", "true", "options", "-c statement_timeout=5000")) {
            say("== options");
            query(c, "SHOW search_path");
            query(c, "SHOW application_name");
            query(c, "SHOW timezone");
            query(c, "SHOW statement_timeout");
            say("schema " + c.getSchema() + ", read-only " + c.isReadOnly());
            c.setSchema("sys");
            query(c, "SHOW search_path");
            c.setAutoCommit(false);
            fails("write", () -> c.createStatement().execute("DROP JOB tick"));
            c.rollback();
        }
        Properties wrong = new Properties();
        wrong.setProperty("user", "admin");
        wrong.setProperty("password", "wrong");
        fails("a wrong password", () -> DriverManager.getConnection(BASE, wrong));
        fails("a wrong database", () -> DriverManager.getConnection(BASE.replace("/rota", "/other"), "admin", System.getenv("PGPASSWORD")));
    }

    interface Act { void run() throws Exception; }

    static void say(String text) { System.out.println(text); }

    static Connection open(String... options) throws SQLException {
        Properties p = new Properties();
        p.setProperty("user", "admin");
        p.setProperty("password", System.getenv("PGPASSWORD"));
        p.setProperty("sslmode", "disable");
        for (int i = 0; i < options.length; i += 2) p.setProperty(options[i], options[i + 1]);
        return DriverManager.getConnection(BASE, p);
    }

    static void fails(String what, Act act) {
        try {
            act.run();
            say(what + ": it was done");
        } catch (PSQLException e) {
            String more = "";
            if (e.getServerErrorMessage() != null) {
                more = " at " + e.getServerErrorMessage().getPosition() + ", hint " + e.getServerErrorMessage().getHint()
                    + ", severity " + e.getServerErrorMessage().getSeverity();
            }
            say(what + ": " + e.getSQLState() + " " + e.getMessage().split("\n")[0] + more);
        } catch (Exception e) {
            say(what + ": " + e);
        }
    }

    static void values(Connection c) throws Exception {
        String text = "SELECT job_uuid, job_name, description, priority, state = 'ENABLED' AS enabled, created_at_ts, next_run_time_ts::timestamp AS local,"
            + " params, ARRAY['a', NULL, 'b'] AS list, ARRAY[1, 2]::bigint[] AS numbers, 2.5::numeric AS exact, 0.1::float8 AS real, 1::smallint AS small, 2 AS int,"
            + " date '2026-02-03' AS day, interval '1 day 2 hours' AS span, '\\x01ff'::bytea AS bytes, 'x'::varchar AS word, 25::oid AS oid, NULL::bigint AS nothing,"
            + " '2099-07-01T12:00:00Z'::timestamptz AS summer FROM sys.jobs WHERE job_name = ? AND job_uuid IS NOT NULL";
        try (PreparedStatement s = c.prepareStatement(text)) {
            for (int i = 0; i < 3; i++) {
                s.setString(1, "tick");
                try (ResultSet r = s.executeQuery()) {
                    if (!r.next()) throw new Exception("there is no row");
                    if (i < 2) continue;
                    say("uuid " + r.getObject("job_uuid", UUID.class) + " " + r.getObject("job_uuid").getClass().getSimpleName() + " " + r.getString(1));
                    say("text " + r.getString("job_name") + ", null " + r.getString("description") + " " + r.wasNull());
                    say("long " + r.getLong("priority") + " " + r.getInt("priority") + " " + r.getObject("priority").getClass().getSimpleName() + " " + r.getString("priority"));
                    say("boolean " + r.getBoolean("enabled") + " " + r.getObject("enabled") + " " + r.getString("enabled"));
                    Duration age = Duration.between(r.getObject("created_at_ts", OffsetDateTime.class), OffsetDateTime.now());
                    say("a time of now " + (age.abs().toMinutes() < 5) + " " + (Math.abs(r.getTimestamp("created_at_ts").getTime() - System.currentTimeMillis()) < 300000));
                    say("local time in the future " + r.getObject("local", LocalDateTime.class).isAfter(LocalDateTime.now(ZoneOffset.UTC)) + " " + r.getObject("local").getClass().getSimpleName());
                    say("summer " + r.getObject("summer", OffsetDateTime.class) + " " + r.getTimestamp("summer") + " " + r.getString("summer"));
                    PGobject document = (PGobject) r.getObject("params");
                    say("json " + document.getType() + " " + document.getValue() + " " + r.getString("params"));
                    Array list = r.getArray("list");
                    say("array " + list.getBaseTypeName() + " " + Arrays.toString((Object[]) list.getArray()) + " " + Arrays.toString((Object[]) r.getArray("numbers").getArray()));
                    say("numbers " + r.getBigDecimal("exact") + " " + r.getDouble("real") + " " + r.getShort("small") + " " + r.getInt("int") + " " + r.getObject("small").getClass().getSimpleName());
                    say("date " + r.getObject("day", LocalDate.class) + " " + r.getDate("day") + ", interval " + r.getObject("span"));
                    say("bytes " + Arrays.toString(r.getBytes("bytes")) + ", varchar " + r.getString("word") + ", oid " + r.getLong("oid"));
                    say("nothing " + r.getLong("nothing") + " " + r.wasNull() + " " + r.getObject("nothing"));
                }
            }
        }
    }

    static void connection(Connection c) throws Exception {
        DatabaseMetaData m = c.getMetaData();
        say(m.getDatabaseProductName() + " " + m.getDatabaseProductVersion() + " " + m.getDatabaseMajorVersion() + "." + m.getDatabaseMinorVersion());
        say("user " + m.getUserName() + ", read-only " + m.isReadOnly() + ", names of " + m.getMaxColumnNameLength() + ", catalog " + c.getCatalog() + ", schema " + c.getSchema());
        say("valid " + c.isValid(5) + ", autocommit " + c.getAutoCommit() + ", isolation " + c.getTransactionIsolation() + ", holdability " + c.getHoldability());
        say("process " + (c.unwrap(PGConnection.class).getBackendPID() != 0) + ", zone " + c.unwrap(PGConnection.class).getParameterStatus("TimeZone"));
        for (int level : new int[] {Connection.TRANSACTION_SERIALIZABLE, Connection.TRANSACTION_REPEATABLE_READ, Connection.TRANSACTION_READ_COMMITTED}) {
            c.setTransactionIsolation(level);
            say("isolation " + level + " is " + c.getTransactionIsolation());
        }
        c.setReadOnly(true);
        c.setAutoCommit(false);
        fails("write", () -> c.createStatement().execute("DROP JOB tick"));
        c.rollback();
        c.setReadOnly(false);
        c.setAutoCommit(true);
        c.setClientInfo("ApplicationName", "renamed");
        query(c, "SHOW application_name");
        say("native " + c.nativeSQL("SELECT {fn now()}"));
        query(c, "SELECT {fn upper('a')} || {fn concat('b', 'c')} AS escaped");
        try (Statement s = c.createStatement()) {
            say("result " + s.execute("CREATE JOB w SCHEDULE EVERY 1 HOUR AS 'SELECT 1'; CREATE JOB IF NOT EXISTS w SCHEDULE EVERY 1 HOUR AS 'SELECT 1'; SELECT 1; DROP JOB w"));
            for (SQLWarning w = s.getWarnings(); w != null; w = w.getNextWarning()) say("warning " + w.getSQLState() + " " + w.getMessage());
            int n = 1;
            while (s.getMoreResults() || s.getUpdateCount() != -1) n++;
            say("results " + n);
        }
    }

    static void count(Connection c, String where, Object... args) {
        try (PreparedStatement s = c.prepareStatement("SELECT count(*) FROM " + where)) {
            for (int i = 0; i < args.length; i++) {
                if (args[i] == null) s.setNull(i + 1, Types.VARCHAR);
                else if (args[i] instanceof String[]) s.setArray(i + 1, c.createArrayOf("text", (String[]) args[i]));
                else if (args[i] instanceof Long[]) s.setArray(i + 1, c.createArrayOf("bigint", (Long[]) args[i]));
                else s.setObject(i + 1, args[i]);
            }
            try (ResultSet r = s.executeQuery()) {
                r.next();
                say(where + ": " + r.getLong(1));
            }
        } catch (SQLException e) {
            say(where + ": " + e.getSQLState() + " " + e.getMessage());
        }
    }

    static PGobject json(String text) throws SQLException {
        PGobject o = new PGobject();
        o.setType("jsonb");
        o.setValue(text);
        return o;
    }

    static void parameters(Connection c) throws Exception {
        UUID id = (UUID) value(c, "SELECT job_uuid FROM sys.jobs WHERE job_name = 'tick'");
        Instant hour = Instant.now().minusSeconds(3600);
        count(c, "sys.jobs WHERE job_uuid = ?", id);
        count(c, "sys.jobs WHERE job_uuid = ?::uuid", id.toString());
        count(c, "sys.jobs WHERE job_name = ?", "tick");
        count(c, "sys.jobs WHERE priority = ?", 7L);
        count(c, "sys.jobs WHERE priority > ?", 6);
        count(c, "sys.jobs WHERE priority < ?", (short) 7);
        count(c, "sys.jobs WHERE priority = ?", new BigDecimal("7"));
        count(c, "sys.jobs WHERE priority * 2 > ?", 13.5);
        count(c, "sys.nodes WHERE is_leader = ?", true);
        count(c, "sys.job_runs WHERE started_at_ts > ?", OffsetDateTime.ofInstant(hour, ZoneId.of("Asia/Tokyo")));
        count(c, "sys.job_runs WHERE started_at_ts > ?", Timestamp.from(hour));
        count(c, "sys.job_runs WHERE started_at_ts < ?", Timestamp.from(hour));
        count(c, "sys.jobs WHERE next_run_time_ts::date >= ?", LocalDate.of(2020, 1, 1));
        count(c, "sys.jobs WHERE created_at_ts > ?", java.sql.Date.valueOf("2020-01-01"));
        count(c, "sys.job_runs WHERE state = ANY (?)", (Object) new String[] {"COMPLETED", "FAILED"});
        count(c, "sys.jobs WHERE priority = ANY (?)", (Object) new Long[] {7L, 8L});
        count(c, "sys.jobs WHERE params = ?", json("{}"));
        count(c, "sys.jobs WHERE coalesce(?, job_name) = 'tick'", (Object) null);
        count(c, "(SELECT 1 FROM sys.jobs LIMIT ? OFFSET ?) j", 2, 1);
        count(c, "sys.job_runs WHERE started_at_ts > now() - ?::interval", "1 hour");
        count(c, "sys.job_runs WHERE started_at_ts > now() - CAST(? AS interval)", new org.postgresql.util.PGInterval("1 hour"));
        count(c, "sys.jobs WHERE job_name ILIKE ?", "T%");
    }

    static Object value(Connection c, String text) throws SQLException {
        try (Statement s = c.createStatement(); ResultSet r = s.executeQuery(text)) {
            r.next();
            return r.getObject(1);
        }
    }

    static void errors(Connection c) throws Exception {
        for (String text : new String[] {
            "SELECT job_name, stat FROM sys.jobs", "SELECT * FROM sys.jbos", "SELEC 1", "DROP JOB nothing", "CREATE JOB tick SCHEDULE EVERY 1 HOUR AS 'SELECT 1'",
            "SELECT 'x'::int", "SELECT 1 / (SELECT 0)", "INSERT INTO sys.jobs VALUES (1)", "COPY sys.jobs TO STDOUT", "LISTEN a", "SELECT nothing(1)",
        }) fails(text, () -> c.createStatement().execute(text));
        fails("a parameter", () -> {
            PreparedStatement s = c.prepareStatement("SELECT 1 FROM sys.jobs WHERE priority = ?");
            s.setString(1, "x");
            s.executeQuery();
        });
        fails("a copy", () -> c.unwrap(PGConnection.class).getCopyAPI().copyIn("COPY sys.jobs FROM STDIN"));
        say("valid " + c.isValid(5));
    }

    static void transactions(Connection c) throws Exception {
        c.setAutoCommit(false);
        c.createStatement().execute("CREATE JOB one SCHEDULE EVERY 1 HOUR AS 'SELECT 1'");
        Savepoint p = c.setSavepoint("p");
        c.createStatement().execute("CREATE JOB two SCHEDULE EVERY 1 HOUR AS 'SELECT 1'");
        c.rollback(p);
        Savepoint q = c.setSavepoint();
        fails("within", () -> c.createStatement().execute("DROP JOB nothing"));
        fails("after an error", () -> c.createStatement().execute("SELECT 1"));
        c.rollback(q);
        c.releaseSavepoint(p);
        c.commit();
        query(c, "SELECT job_name FROM sys.jobs WHERE job_name IN ('one', 'two')");
        c.createStatement().execute("DROP JOB one");
        c.rollback();
        query(c, "SELECT job_name FROM sys.jobs WHERE job_name IN ('one', 'two')");
        c.rollback();
        c.setAutoCommit(true);
        say("dropped " + c.createStatement().executeUpdate("DROP JOB one"));
    }

    static void portals(Connection c) throws Exception {
        c.setAutoCommit(false);
        try (PreparedStatement s = c.prepareStatement("SELECT n, job_name FROM generate_series(1, 250) n, sys.jobs WHERE job_name = 'tick' ORDER BY n")) {
            s.setFetchSize(20);
            try (ResultSet r = s.executeQuery()) {
                int rows = 0, sum = 0;
                while (r.next()) {
                    rows++;
                    sum += r.getInt(1);
                }
                say("rows " + rows + ", sum " + sum);
            }
            s.setMaxRows(7);
            int rows = 0;
            try (ResultSet r = s.executeQuery()) {
                while (r.next()) rows++;
            }
            say("at most " + rows);
        }
        c.rollback();
        c.setAutoCommit(true);
        try (Statement s = c.createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_READ_ONLY); ResultSet r = s.executeQuery("SELECT * FROM (VALUES (1), (2), (3)) v (n)")) {
            r.last();
            say("the last is " + r.getInt("n") + " of " + r.getRow());
            r.absolute(2);
            say("the second is " + r.getInt(1));
        }
    }

    static void batches(Connection c) throws Exception {
        try (Statement s = c.createStatement()) {
            for (String name : new String[] {"b1", "b2", "b3"}) s.addBatch("CREATE JOB " + name + " SCHEDULE EVERY 1 HOUR AS 'SELECT 1'");
            say("batch " + Arrays.toString(s.executeBatch()));
            s.addBatch("DROP JOB b1");
            s.addBatch("DROP JOB nothing");
            s.addBatch("DROP JOB b2");
            try {
                s.executeBatch();
            } catch (BatchUpdateException e) {
                say("batch " + e.getSQLState() + " " + Arrays.toString(e.getUpdateCounts()));
            }
        }
        query(c, "SELECT job_name FROM sys.jobs WHERE job_name LIKE 'b_' ORDER BY 1");
        c.createStatement().execute("DROP JOB IF EXISTS b1; DROP JOB IF EXISTS b2; DROP JOB IF EXISTS b3");
    }

    static void cancelling(Connection c) throws Exception {
        String endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000000000) SELECT count(*) FROM n";
        try (Statement s = c.createStatement()) {
            Thread other = new Thread(() -> {
                try {
                    Thread.sleep(300);
                    s.cancel();
                } catch (Exception e) {
                    say("" + e);
                }
            });
            other.start();
            fails("cancelled", () -> s.executeQuery(endless));
            other.join();
        }
        try (Statement s = c.createStatement()) {
            s.setQueryTimeout(1);
            fails("too slow", () -> s.executeQuery(endless));
        }
        say("valid " + c.isValid(5));
    }

    static void described(Connection c) throws Exception {
        try (PreparedStatement s = c.prepareStatement("SELECT j.job_uuid, j.job_name AS name, priority, next_run_time_ts, params, count(*) OVER () AS n, 1.5 AS exact FROM sys.jobs j WHERE job_uuid = ? AND created_at_ts > ? AND priority = ?")) {
            ResultSetMetaData m = s.getMetaData();
            for (int i = 1; i <= m.getColumnCount(); i++) {
                say(String.join(" | ", m.getColumnName(i), m.getColumnLabel(i), m.getColumnTypeName(i), "" + m.getColumnType(i), m.getColumnClassName(i), "nullable " + m.isNullable(i),
                    "table " + m.getTableName(i), "schema " + m.getSchemaName(i), "signed " + m.isSigned(i), "auto " + m.isAutoIncrement(i), "size " + m.getPrecision(i)));
            }
            ParameterMetaData p = s.getParameterMetaData();
            for (int i = 1; i <= p.getParameterCount(); i++) say("parameter " + p.getParameterTypeName(i) + " " + p.getParameterType(i) + " " + p.getParameterClassName(i));
        }
    }

    static void metadata(Connection c) throws Exception {
        DatabaseMetaData m = c.getMetaData();
        table("catalogs", m.getCatalogs());
        table("schemas", m.getSchemas());
        table("schemas like s%", m.getSchemas("rota", "s%"));
        table("table types", m.getTableTypes());
        table("tables", m.getTables(null, "sys", "%", new String[] {"TABLE"}));
        table("tables like job_", m.getTables("rota", null, "job_", null));
        table("views", m.getTables(null, "pg_catalog", "pg\\_t%", new String[] {"SYSTEM VIEW", "VIEW"}));
        table("columns of nodes", m.getColumns(null, "sys", "nodes", "%"));
        table("columns like next%", m.getColumns(null, "sys", "%", "next%"), "TABLE_NAME", "COLUMN_NAME", "TYPE_NAME", "DATA_TYPE", "ORDINAL_POSITION");
        table("primary key of jobs", m.getPrimaryKeys(null, "sys", "jobs"));
        table("primary key of dependencies", m.getPrimaryKeys(null, "sys", "job_dependencies"));
        table("index of jobs", m.getIndexInfo(null, "sys", "jobs", false, true));
        table("imported keys", m.getImportedKeys(null, "sys", "job_runs"));
        table("exported keys", m.getExportedKeys(null, "sys", "jobs"));
        table("cross reference", m.getCrossReference(null, "sys", "jobs", null, "sys", "job_runs"));
        table("best row of jobs", m.getBestRowIdentifier(null, "sys", "jobs", DatabaseMetaData.bestRowSession, true));
        table("version columns", m.getVersionColumns(null, "sys", "jobs"));
        table("functions", m.getFunctions(null, "pg_catalog", "format%"));
        table("function columns", m.getFunctionColumns(null, "pg_catalog", "format_type", "%"));
        table("procedures", m.getProcedures(null, "sys", "%"));
        table("procedure columns", m.getProcedureColumns(null, "sys", "%", "%"));
        table("privileges on nodes", m.getTablePrivileges(null, "sys", "nodes"));
        table("privileges on columns", m.getColumnPrivileges(null, "sys", "nodes", "is_leader"));
        table("UDTs", m.getUDTs(null, "sys", "%", null));
        table("client info", m.getClientInfoProperties());
        Set<String> types = new TreeSet<>();
        try (ResultSet r = m.getTypeInfo()) {
            while (r.next()) types.add(r.getString("TYPE_NAME") + ":" + r.getInt("DATA_TYPE"));
        }
        for (String name : new String[] {"bool:-7", "int8:-5", "uuid:1111", "timestamptz:93", "jsonb:1111", "text:12", "_text:2003", "numeric:2"}) say("type " + name + " " + types.contains(name));
        say("keywords " + !m.getSQLKeywords().isEmpty() + ", functions " + !m.getStringFunctions().isEmpty());
    }

    static void query(Connection c, String text) throws SQLException {
        try (Statement s = c.createStatement(); ResultSet r = s.executeQuery(text)) {
            table(text, r);
        }
    }

    static void table(String title, ResultSet r, String... only) throws SQLException {
        say("-- " + title);
        ResultSetMetaData m = r.getMetaData();
        List<String> names = new ArrayList<>(Arrays.asList(only));
        if (names.isEmpty()) for (int i = 1; i <= m.getColumnCount(); i++) names.add(m.getColumnLabel(i));
        say(String.join("|", names));
        while (r.next()) {
            List<String> cells = new ArrayList<>();
            for (String name : names) {
                String v = r.getString(name);
                cells.add(v == null ? "" : v);
            }
            say(String.join("|", cells));
        }
        r.close();
    }
}
