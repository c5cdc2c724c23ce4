import java.io.StringReader;
import java.io.StringWriter;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.ParameterMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.StringJoiner;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.postgresql.PGConnection;
import org.postgresql.PGStatement;

/** pgjdbc: one line on the standard output for each item of the checklist. */
public final class PgjdbcSession {
    private static final String ID = "SELECT id FROM app.orders WHERE tenant_id = ? AND id = ?";
    private static final String NOTE = "INSERT INTO app.notes (tenant_id, body) VALUES ('acme', 'pgjdbc')";
    private static final String NOTES = "SELECT count(*) FROM app.notes WHERE tenant_id = 'acme' AND body = 'pgjdbc'";
    private static final String FORGET = "DELETE FROM app.notes WHERE tenant_id = 'acme' AND body = 'pgjdbc'";
    private static final String ZERO = "SELECT id / 0 FROM app.orders WHERE tenant_id = 'acme' AND id = 2";
    private static final String LONG = "SELECT count(*) FROM generate_series(1, 2000000000)";
    private static final String HOUR = "SELECT to_char(timestamptz '2026-01-31 00:00Z', 'HH24:MI')";
    private static final String MANY = "SELECT id FROM app.orders WHERE tenant_id = 'acme' ORDER BY id LIMIT 5000";
    private static final String TYPES =
            "SELECT true, 7::int2, (-2147483648)::int4, 9007199254740993::int8, 1.5::float8, 12.50::numeric(10,2), 'Grüße'::text,"
                    + " date '2026-01-31', time '12:30:00', '00000000-0000-0000-0000-000000000042'::uuid";

    private static Connection main;

    public static void main(String[] none) throws Exception {
        main = connected("PGMOAT_DSN", "");
        item("connect", () -> briefly("PGMOAT_DSN", "", connection -> one(connection, "SELECT 1")));
        item("tls", () -> briefly("PGMOAT_TLS_DSN", "", connection -> one(connection, "SELECT 1")));
        item("types", PgjdbcSession::types);
        item("nulls", PgjdbcSession::nulls);
        item("arrays", PgjdbcSession::arrays);
        item("json", () -> one(main, "SELECT '{\"a\": [1, 2]}'::jsonb -> 'a' -> 1"));
        item("bytea", PgjdbcSession::bytea);
        item("prepared", () -> prepared(main, 5));
        item("transaction", PgjdbcSession::transaction);
        item("savepoint", PgjdbcSession::savepoint);
        item("error", () -> code(main, ZERO));
        item("syntax", () -> code(main, "SELEC 1"));
        item("failed transaction", PgjdbcSession::failedTransaction);
        item("denied", () -> code(main, "SELECT secret FROM internal.api_keys"));
        item("refused", () -> code(main, "SELECT id FROM app.orders WHERE id = 4242"));
        item("cancel", PgjdbcSession::cancel);
        item("timeout", PgjdbcSession::timeout);
        item("setting", PgjdbcSession::setting);
        item("notice", PgjdbcSession::notice);
        item("rows", () -> rows(MANY, 0));
        item("copy out", PgjdbcSession::copyOut);
        item("copy in", () -> briefly("PGMOAT_OPS_DSN", "", PgjdbcSession::copyIn));
        item("pool", PgjdbcSession::pool);
        item("fetch size", () -> rows(MANY.replace("5000", "20"), 3).split(" ")[0]);
        item("batch", PgjdbcSession::batch);
        item("prepareThreshold", PgjdbcSession::thresholds);
        item("metadata", PgjdbcSession::metadata);
        item("parameter metadata", PgjdbcSession::parameters);
        item("generated keys", PgjdbcSession::keys);
        item("savepoint always", () -> briefly("PGMOAT_DSN", "&autosave=always", PgjdbcSession::autosave));
        item("simple", () -> briefly("PGMOAT_DSN", "&preferQueryMode=simple", connection -> prepared(connection, 5)));
        main.close();
    }

    private interface Work {
        Object with(Connection connection) throws Exception;
    }

    private static void item(String name, Callable<Object> what) {
        Object result;
        try {
            result = what.call();
        } catch (Exception error) {
            error.printStackTrace();
            result = "surprise: " + error;
        }
        // Its own encoding is the platform's.
        byte[] line = (name + "\t" + result + "\n").getBytes(StandardCharsets.UTF_8);
        System.out.write(line, 0, line.length);
        System.out.flush();
    }

    private static Connection connected(String variable, String more) throws Exception {
        URI dsn = URI.create(System.getenv(variable));
        String[] user = dsn.getUserInfo().split(":");
        String place = dsn.getHost() + ":" + dsn.getPort() + dsn.getPath() + "?" + dsn.getQuery();
        return DriverManager.getConnection("jdbc:postgresql://" + place + more, user[0], user[1]);
    }

    private static Object briefly(String variable, String more, Work work) throws Exception {
        try (Connection connection = connected(variable, more)) {
            return work.with(connection);
        }
    }

    private static String one(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement(); ResultSet rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getString(1);
        }
    }

    private static int run(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            return statement.execute(sql) ? 0 : statement.getUpdateCount();
        }
    }

    private static String code(Connection connection, String sql) {
        try {
            return one(connection, sql);
        } catch (SQLException error) {
            return error.getSQLState();
        }
    }

    private static String types() throws SQLException {
        try (PreparedStatement statement = main.prepareStatement(TYPES); ResultSet row = statement.executeQuery()) {
            row.next();
            Object[] all = {row.getBoolean(1), row.getShort(2), row.getInt(3), row.getLong(4), row.getDouble(5),
                row.getBigDecimal(6), row.getString(7), row.getDate(8), row.getTime(9), row.getObject(10)};
            StringJoiner line = new StringJoiner(" ");
            Arrays.stream(all).forEach(value -> line.add(value.toString()));
            return line.toString();
        }
    }

    private static String nulls() throws SQLException {
        try (PreparedStatement statement = main.prepareStatement("SELECT NULL::int, NULL::text, ?::text")) {
            statement.setString(1, null);
            ResultSet row = statement.executeQuery();
            row.next();
            return row.getObject(1) + " " + row.getObject(2) + " " + row.getObject(3);
        }
    }

    private static String arrays() throws SQLException {
        try (PreparedStatement statement = main.prepareStatement("SELECT ?::int[], ?::text[]")) {
            statement.setArray(1, main.createArrayOf("int4", new Integer[] {1, 2, null}));
            statement.setArray(2, main.createArrayOf("text", new String[] {"a", "b c"}));
            ResultSet row = statement.executeQuery();
            row.next();
            StringJoiner numbers = new StringJoiner(",");
            for (Object number : (Object[]) row.getArray(1).getArray()) {
                numbers.add(String.valueOf(number));
            }
            return numbers + " " + String.join(",", (String[]) row.getArray(2).getArray());
        }
    }

    private static String bytea() throws SQLException {
        byte[] bytes = new byte[1 << 20];
        for (int at = 0; at < bytes.length; at++) {
            bytes[at] = (byte) at;
        }
        try (PreparedStatement statement = main.prepareStatement("SELECT ?::bytea")) {
            statement.setBytes(1, bytes);
            ResultSet row = statement.executeQuery();
            row.next();
            byte[] back = row.getBytes(1);
            return back.length + " " + (Arrays.equals(back, bytes) ? "same" : "other");
        }
    }

    /** From the threshold on a statement has a name; without, it is the unnamed one each time. */
    private static long prepared(Connection connection, int threshold) throws SQLException {
        long sum = 0;
        try (PreparedStatement statement = connection.prepareStatement(ID)) {
            statement.unwrap(PGStatement.class).setPrepareThreshold(threshold);
            for (long id = 2; id < 42; id += 2) {
                statement.setString(1, "acme");
                statement.setLong(2, id);
                ResultSet row = statement.executeQuery();
                row.next();
                sum += row.getLong(1);
            }
        }
        return sum;
    }

    private static String thresholds() throws SQLException {
        return prepared(main, 0) + " " + prepared(main, 1) + " " + prepared(main, 3);
    }

    private static String transaction() throws SQLException {
        main.setAutoCommit(false);
        run(main, NOTE);
        main.rollback();
        String rolledBack = one(main, NOTES);
        run(main, NOTE);
        main.commit();
        main.setAutoCommit(true);
        return rolledBack + " " + run(main, FORGET);
    }

    private static int savepoint() throws SQLException {
        main.setAutoCommit(false);
        run(main, NOTE);
        Savepoint savepoint = main.setSavepoint();
        run(main, NOTE);
        main.rollback(savepoint);
        main.commit();
        main.setAutoCommit(true);
        return run(main, FORGET);
    }

    private static String failedTransaction() throws SQLException {
        main.setAutoCommit(false);
        String codes = code(main, ZERO) + " " + code(main, "SELECT 1");
        main.rollback();
        main.setAutoCommit(true);
        return codes + " " + one(main, "SELECT 1");
    }

    private static String cancel() throws Exception {
        try (Statement statement = main.createStatement()) {
            Thread canceller = new Thread(() -> {
                try {
                    Thread.sleep(200);
                    statement.cancel();
                } catch (InterruptedException | SQLException error) {
                    error.printStackTrace();
                }
            });
            canceller.start();
            String code = "none";
            try {
                statement.executeQuery(LONG);
            } catch (SQLException error) {
                code = error.getSQLState();
            }
            canceller.join();
            return code + " " + one(main, "SELECT 1");
        }
    }

    /** The driver's own: it cancels. */
    private static String timeout() throws SQLException {
        try (Statement statement = main.createStatement()) {
            statement.setQueryTimeout(1);
            statement.executeQuery(LONG);
            return "none";
        } catch (SQLException error) {
            return error.getSQLState() + " " + one(main, "SELECT 1");
        }
    }

    private static String setting() throws SQLException {
        run(main, "SET TimeZone = 'Asia/Tokyo'");
        String hours = one(main, HOUR) + " " + one(main, HOUR);
        run(main, "RESET TimeZone");
        return hours + " " + one(main, HOUR);
    }

    private static String notice() throws SQLException {
        try (Statement statement = main.createStatement()) {
            statement.execute("ROLLBACK");
            return statement.getWarnings().getSQLState();
        }
    }

    /** All rows, so many at a time. */
    private static String rows(String sql, int fetchSize) throws SQLException {
        main.setAutoCommit(false);
        try (Statement statement = main.createStatement()) {
            statement.setFetchSize(fetchSize);
            ResultSet rows = statement.executeQuery(sql);
            long count = 0;
            long sum = 0;
            while (rows.next()) {
                count++;
                sum += rows.getLong(1);
            }
            return count + " " + sum;
        } finally {
            main.commit();
            main.setAutoCommit(true);
        }
    }

    private static long copyOut() throws Exception {
        StringWriter lines = new StringWriter();
        String copy = "COPY (SELECT id FROM app.orders WHERE tenant_id = 'acme' AND id < 8) TO STDOUT";
        main.unwrap(PGConnection.class).getCopyAPI().copyOut(copy, lines);
        return lines.toString().lines().count();
    }

    private static long copyIn(Connection connection) throws Exception {
        String copy = "COPY app.notes (tenant_id, body) FROM STDIN";
        connection.unwrap(PGConnection.class).getCopyAPI().copyIn(copy, new StringReader("acme\tpgjdbc\nacme\tpgjdbc\n"));
        return run(connection, FORGET);
    }

    private static int pool() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(20);
        List<Future<Integer>> clients = new ArrayList<>();
        for (int number = 1; number <= 20; number++) {
            String sql = "SELECT id FROM app.orders WHERE tenant_id = 'acme' AND id = " + 2 * number;
            String wanted = String.valueOf(2 * number);
            clients.add(threads.submit(() -> {
                try (Connection connection = connected("PGMOAT_DSN", "")) {
                    int right = 0;
                    for (int turn = 0; turn < 10; turn++) {
                        right += one(connection, sql).equals(wanted) ? 1 : 0;
                    }
                    return right;
                }
            }));
        }
        int right = 0;
        for (Future<Integer> client : clients) {
            right += client.get();
        }
        threads.shutdown();
        return right;
    }

    private static int batch() throws SQLException {
        try (PreparedStatement statement = main.prepareStatement("INSERT INTO app.notes (tenant_id, body) VALUES ('acme', ?)")) {
            for (int number = 0; number < 3; number++) {
                statement.setString(1, "pgjdbc");
                statement.addBatch();
            }
            statement.executeBatch();
        }
        return run(main, FORGET);
    }

    private static String metadata() throws SQLException {
        DatabaseMetaData metadata = main.getMetaData();
        StringJoiner columns = new StringJoiner(",");
        try (ResultSet rows = metadata.getColumns(null, "app", "orders", null)) {
            while (rows.next()) {
                columns.add(rows.getString("COLUMN_NAME"));
            }
        }
        return columns.toString();
    }

    private static String parameters() throws SQLException {
        try (PreparedStatement statement = main.prepareStatement(ID)) {
            ParameterMetaData metadata = statement.getParameterMetaData();
            return metadata.getParameterTypeName(1) + "," + metadata.getParameterTypeName(2);
        }
    }

    private static boolean keys() throws SQLException {
        try (PreparedStatement statement = main.prepareStatement(NOTE, new String[] {"id"})) {
            statement.executeUpdate();
            ResultSet keys = statement.getGeneratedKeys();
            return keys.next() && keys.getLong(1) > 0 && run(main, FORGET) == 1;
        }
    }

    private static String autosave(Connection connection) throws SQLException {
        connection.setAutoCommit(false);
        one(connection, "SELECT 1");
        String codes = code(connection, ZERO) + " " + one(connection, "SELECT 1");
        connection.commit();
        return codes;
    }
}
